"""docs/configuration.md tells every key of every service, with its default and its range, as the models have them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel
from telha_gateway.config import GatewayConfig
from telha_planner.config import PlannerConfig
from telha_runtime import setting_types
from telha_trace_writer.config import WriterConfig

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
MODELS: tuple[type[BaseModel], ...] = (PlannerConfig, WriterConfig, GatewayConfig)
_FREE = "*"
_SECTION = re.compile(r"^## `\[(.+?)\]`.*?\n(.*?)(?=^## |\Z)", flags=re.MULTILINE | re.DOTALL)


def _sections(model: type[BaseModel], place: tuple[str, ...] = ()) -> Iterator[tuple[str, dict[str, tuple[str, str]]]]:
    """Each section with its leaves: key → (default, range)."""
    here = model if not place else _model_at(model, place)
    leaves: dict[str, tuple[str, str]] = {}
    for key, field in here.model_fields.items():
        inner = (*place, key)
        known = setting_types.at(model, inner)
        assert known is not None
        if setting_types.keys(model, inner):
            yield from _sections(model, inner)
        elif get_origin(known.annotation) is dict and setting_types.keys(model, (*inner, _FREE)):
            yield from _sections(model, (*inner, _FREE))
        else:
            leaves[key] = (_default(field), _range(model, inner, known))
    if leaves and place:
        yield ".".join(place), leaves


def _model_at(model: type[BaseModel], place: tuple[str, ...]) -> type[BaseModel]:
    known = setting_types.at(model, place)
    assert known is not None
    annotation: type[BaseModel] = known.annotation
    return annotation


def _default(field: Any) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {inner}" for key, inner in value.items()) + " }" if value else "{}"
    return f'"{value}"' if isinstance(value, str | Path) else str(value)


def _range(model: type[BaseModel], place: tuple[str, ...], known: setting_types.KeyType) -> str:
    if get_origin(known.annotation) is Literal:
        return "one of " + ", ".join(str(choice) for choice in get_args(known.annotation))
    if get_origin(known.annotation) is dict:
        return f"a table of names; each {setting_types.range_of(model, (*place, _FREE))}"
    return str(setting_types.range_of(model, place))


def _told() -> dict[str, dict[str, tuple[str, str]]]:
    told: dict[str, dict[str, tuple[str, str]]] = {}
    for section, body in re.findall(
        r"^## `\[(.+?)\]`.*?\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        rows = re.findall(r"^\| `(.+?)` \| `(.+?)` \| (.+?) \| (.+?) \|$", body, flags=re.MULTILINE)
        assert all(meaning.strip() for *_, meaning in rows)
        told[section.replace('"NAME"', _FREE)] = {key: (default, allowed) for key, default, allowed, _ in rows}
    return told


EXPECTED: dict[str, dict[str, tuple[str, str]]] = {}
for owner in MODELS:
    for name, leaves in _sections(owner):
        EXPECTED.setdefault(name, leaves)  # a guest of a section reads what its owner, who comes first, defines


@pytest.mark.parametrize("section", sorted(EXPECTED))
def test_a_section_is_told_as_it_is(section: str) -> None:
    """G1: key, default and range stand in the page exactly as the settings model has them."""
    lines = "\n".join(
        f"| `{key}` | `{default}` | {allowed} | |" for key, (default, allowed) in EXPECTED[section].items()
    )
    assert _told().get(section) == EXPECTED[section], f"the page should have\n{lines}"


def test_no_other_section_is_told() -> None:
    """G1: a section that no service reads is refused at load, so the page must not promise it."""
    assert set(_told()) == set(EXPECTED)
