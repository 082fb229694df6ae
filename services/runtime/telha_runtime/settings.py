"""
Settings: one TOML file plus `TELHA_SECTION__KEY` variables, checked against a pydantic model, all faults at once.

Rule 1: the environment wins over the file; the file wins over the defaults. An empty variable counts as not set.
Rule 2: nothing is clamped, converted or guessed. A key that nobody knows is refused, with the nearest known one.
A section may be a guest's view of another service's section (`extra="ignore"`): its owner refuses unknown keys.
Rule 3: `TELHA_` variables without `__` (`TELHA_ADDRESS`, `TELHA_KEY`) belong to clients and pass.
Rule 4: values of keys that may hold a credential are never shown.
"""

import difflib
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from telha_runtime import setting_types

PREFIX: Final = "TELHA_"
NESTED: Final = "__"
_HIDDEN: Final = ("token", "secret", "password", "api_key", "url")

ModelT = TypeVar("ModelT", bound=BaseModel)
Location = tuple[str, ...]


class SettingsInvalid(Exception):
    """
    The configuration cannot be used.

    Attributes:
        faults: One sentence each, with key, value and what is allowed; also the lines of the message.
    """

    def __init__(self, faults: list[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(faults))


def load(
    model: type[ModelT],
    path: Path | None,
    environ: Mapping[str, str],
    *,
    foreign_sections: frozenset[str] = frozenset(),
) -> ModelT:
    """
    Read the settings of one service.

    Args:
        model: One field per section, each a model of its own.
        path: The TOML file; None reads the environment alone.
        environ: Usually `os.environ`.
        foreign_sections: Sections of other services, which pass unread.

    Raises:
        SettingsInvalid: Names every fault, not only the first.
    """
    faults: list[str] = []
    tree = {} if path is None else _read(path)
    tree = {section: value for section, value in tree.items() if section not in foreign_sections}
    for section in setting_types.required_sections(model):
        tree.setdefault(section, {})  # so that what is missing is named key by key
    _drop_unknown(model, tree, (), foreign_sections, faults)
    variables = _overlay(model, tree, environ, foreign_sections, faults)
    try:
        # JSON mode is strict about types and still lets a string be a path, as the file's types demand.
        settings = model.model_validate_json(json.dumps(tree, default=str), strict=True)
    except ValidationError as error:
        faults.extend(_sentence(model, fault, variables) for fault in error.errors(include_url=False))
    if faults:
        raise SettingsInvalid(faults)
    return settings


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsInvalid([f"{path} is not valid TOML: {error}"]) from error
    except RecursionError:
        raise SettingsInvalid([f"{path} is not valid TOML: it is nested too deeply"]) from None
    except UnicodeDecodeError as error:
        raise SettingsInvalid([f"{path} is not valid TOML: byte {error.start} is not UTF-8"]) from error
    except OSError as error:
        raise SettingsInvalid([f"{path} cannot be read: {error.strerror}"]) from error


def _drop_unknown(
    model: type[BaseModel], tree: dict[str, Any], place: Location, foreign: frozenset[str], faults: list[str]
) -> None:
    """Remove and report what *model* does not know, so that validation speaks of the rest alone."""
    for key in list(tree):
        here = (*place, key)
        inner = setting_types.at(model, here)
        if inner is None and setting_types.tolerant(model, place):
            del tree[key]
        elif inner is None:
            known = [".".join((*place, name)) for name in setting_types.keys(model, place)]
            noun = "section" if not place else "key"
            faults.append(f"{'.'.join(here)}: unknown {noun}{_nearest('.'.join(here), [*known, *foreign])}")
            del tree[key]
        elif isinstance(tree[key], dict):
            _drop_unknown(model, tree[key], here, frozenset(), faults)


def _overlay(
    model: type[BaseModel], tree: dict[str, Any], environ: Mapping[str, str], foreign: frozenset[str], faults: list[str]
) -> dict[Location, str]:
    """Write the environment over *tree*; returns which variable set which key."""
    variables: dict[Location, str] = {}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or NESTED not in name or not environ[name]:
            continue
        place = tuple(name.removeprefix(PREFIX).lower().split(NESTED))
        if place[0] in foreign:
            continue
        known = setting_types.at(model, place)
        if known is None and setting_types.tolerant(model, place[:-1]):
            continue
        if known is None:
            names = [_variable(key) for key in _leaves(model, ())] + [f"{PREFIX}{s.upper()}{NESTED}" for s in foreign]
            faults.append(f"{name}: unknown key{_nearest(name, names)}")
        elif not _set(tree, place, setting_types.from_text(known, environ[name])):
            faults.append(f"{name}: {'.'.join(place[:-1])} is not a table in the configuration file")
        else:
            variables[place] = name
    return variables


def _leaves(model: type[BaseModel], place: Location) -> Iterator[Location]:
    for key in setting_types.keys(model, place):
        here = (*place, key)
        if setting_types.keys(model, here):
            yield from _leaves(model, here)
        else:
            yield here


def _variable(place: Location) -> str:
    return PREFIX + NESTED.join(place).upper()


def _set(tree: dict[str, Any], place: Location, value: object) -> bool:
    for key in place[:-1]:
        tree = tree.setdefault(key, {})
        if not isinstance(tree, dict):
            return False
    tree[place[-1]] = value
    return True


def _nearest(name: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {nearest[0]}?" if nearest else ""


def _sentence(model: type[BaseModel], fault: ErrorDetails, variables: Mapping[Location, str]) -> str:
    place = tuple(str(part) for part in fault["loc"])
    # A union adds the name of its branch to the place; the key ends before it.
    while place and setting_types.at(model, place) is None:
        place = place[:-1]
    key = ".".join(place)
    source = f" (from {variables[place]})" if place in variables else ""
    if fault["type"] == "missing":
        return f"{key}: is required"
    if fault["type"] in {"value_error", "assertion_error"}:
        return f"{key}{source}: {fault['ctx']['error']}"
    hidden = bool(place) and place[-1].endswith(_HIDDEN)
    value = "(hidden)" if hidden else _shown(fault["input"])
    return f"{key} = {value}{source}: must be {setting_types.range_of(model, place) or fault['msg']}"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}…"
