"""
Field paths of the gRPC contract as places in the REST request.

`budget.max_tokens` is `/budget/maxTokens`, `pool[3].score` is `/pool/3/score`, `window.tx_time_us` is `/window/txTime`,
`where.and[1]["unit price"].gte` is `/where/and/1/unit price/gte`.
Rule: names follow one law (camelCase, units of time dropped); the few that do not stand in the operation's renames.
"""

import json
import re
from collections.abc import Mapping

from telha_gateway.faults import child

_STEP = re.compile(r'([^.\[\]]+)|\[([0-9]+)\]|\[("(?:[^"\\]|\\.)*")\]')
_INDEX = r"(?:\[[0-9]+\])"
_FIELD_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_RULES = {"or query or vector is required": "or find or vector is required"}
"""Rules that name a field which REST calls something else."""
_FREE = frozenset({"properties", "where"})
"""Below these fields the names are the caller's own."""


def camel(name: str) -> str:
    """`max_frac_per_source` as `maxFracPerSource`; a unit of time is dropped."""
    first, *rest = name.removesuffix("_us").split("_")
    return first + "".join(word.capitalize() for word in rest)


def in_rest_words(rule: str) -> str:
    """*rule* with the fields that it names spelled as REST spells them."""
    return _FIELD_NAME.sub(lambda name: camel(name[0]), _RULES.get(rule, rule))


def pointer_of(path: str, renames: Mapping[str, str]) -> str:
    """
    The pointer for the gRPC field *path*.

    Args:
        path: As in `BadRequest.FieldViolation.field`.
        renames: From dotted paths without indices to what stands in their place (`query.find` → `find`); the longest
            that begins *path* is used, and an index inside it stays.
    """
    for old in sorted(renames, key=len, reverse=True):
        named = re.match(re.escape(old).replace(r"\.", rf"({_INDEX}?)\.") + r"(?=$|[.\[])", path)
        if named is not None:
            path = renames[old] + "".join(named.groups()) + path[named.end() :]
            break
    pointer, free = "", False
    for step in _STEP.finditer(path):
        if step[2] is not None:
            pointer = child(pointer, int(step[2]))
            continue
        if step[3] is not None:
            pointer = child(pointer, json.loads(step[3]))
            continue
        pointer = child(pointer, step[1] if free else camel("class" if step[1] == "span_class" else step[1]))
        free = free or step[1] in _FREE
    return pointer
