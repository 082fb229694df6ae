"""Random properties and random conditions on them, close enough to each other that both outcomes are common."""

from typing import Any

from hypothesis import strategies as st

WORDS = (
    "tram",
    "Tram 4",
    "the tram depot",
    "你好",
    "你好世界",
    "café",
    "cafe\u0301",
    "🧑\u200d🚀",
    "שלום עולם",
    "",
    "a.b",
    "10",
)
NAMES = ("a", "b", "a.b", "@id", "and", "名", "é", 'q"', "\\")
numbers = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0, 1e20, 1e21, 5e-324, 1e308, 2**53 - 1, 0.1, 0.30000000000000004]),
)
texts = st.one_of(
    st.sampled_from(WORDS), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3)
)
scalars = st.one_of(numbers, texts, st.booleans(), st.none())
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
properties = st.dictionaries(st.sampled_from(NAMES), values, max_size=5)
BUILT_INS = ("@id", "@type", "@space", "@validFrom", "@validTo")


def escaped(name: str) -> str:
    """*name* as one step of a path."""
    written = name.replace("\\", "\\\\").replace(".", "\\.")
    return f"\\{written}" if name in {"and", "or", "not"} or name.startswith("@") else written


@st.composite
def fields(draw: st.DrawFn) -> str:
    """A path of one to three steps, or a built-in."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(BUILT_INS))
    return ".".join(escaped(draw(st.sampled_from(NAMES))) for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))))


matchable = st.sampled_from(["tram", "TRAM depot", "你好", "café", "עולם", "🧑\u200d🚀", "10"])
operators = st.fixed_dictionaries(
    {},
    optional={
        "eq": scalars,
        "ne": scalars,
        "lt": numbers | texts,
        "lte": numbers | texts,
        "gt": numbers | texts,
        "gte": numbers | texts,
        "in": st.lists(scalars, min_size=1, max_size=4),
        "contains": scalars,
        "startsWith": texts,
        "exists": st.booleans(),
        "match": matchable,
    },
).map(lambda found: dict(list(found.items())[:2]) or {"exists": True})


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda parts: {"and": parts}, lists),
        st.builds(lambda parts: {"or": parts}, lists),
        st.builds(lambda part: {"not": part}, inner),
        st.builds(lambda one, other: {**one, **other}, inner, inner),
    )


conditions = st.dictionaries(fields(), operators, min_size=1, max_size=2)
wheres = st.recursive(conditions, _objects, max_leaves=5)
