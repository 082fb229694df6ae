"""
What a settings model says about one key: its type, its bounds, the keys below it.

Rule: a place is a tuple of keys; under a table whose keys are free (`dict[str, T]`) every key is known.
"""

import tomllib
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True)
class KeyType:
    """The type of one key, optional or not, and its bounds (of annotated-types)."""

    annotation: Any
    bounds: tuple[Any, ...]
    optional: bool


def at(model: type[BaseModel], place: tuple[str, ...]) -> KeyType | None:
    """The type at *place*, or None if the model knows no such key."""
    current = KeyType(model, (), optional=False)
    for key in place:
        below = _below(current, key)
        if below is None:
            return None
        current = below
    return current


def keys(model: type[BaseModel], place: tuple[str, ...]) -> list[str]:
    """The named keys below *place*; none for a value or a table with free keys."""
    known = at(model, place)
    return list(known.annotation.model_fields) if known is not None and _is_model(known.annotation) else []


def required_sections(model: type[BaseModel]) -> list[str]:
    """The sections without a default, because a key in them has none."""
    return [name for name, field in model.model_fields.items() if field.is_required() and _is_model(field.annotation)]


def tolerant(model: type[BaseModel], place: tuple[str, ...]) -> bool:
    """Whether the section at *place* lets keys pass that it does not know."""
    known = at(model, place)
    return known is not None and _is_model(known.annotation) and known.annotation.model_config.get("extra") == "ignore"


def from_text(known: KeyType, text: str) -> object:
    """
    The value that a variable's *text* stands for.

    Where a string or a path is wanted the text itself; else it is read as a TOML value. A text that is none is passed
    on as it is, for validation to refuse.
    """
    if known.annotation in {str, Path}:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError, RecursionError):
        return text


def range_of(model: type[BaseModel], place: tuple[str, ...]) -> str | None:
    """What the value at *place* must be, in words such as "greater than 0 and at most 1"; None if nothing is known."""
    known = at(model, place)
    if known is None:
        return None
    words = " and ".join(_bounds(known.bounds))
    if known.annotation is int:
        return f"a whole number, {words}" if words else "a whole number"
    if known.annotation is float:
        return words or "a finite number"
    if get_origin(known.annotation) is Literal:
        return "one of " + ", ".join(repr(choice).replace("'", '"') for choice in get_args(known.annotation))
    named = {str: "a string", Path: "a path", bool: "true or false"}
    if known.annotation in named:
        return f"{named[known.annotation]}, {words}" if words else named[known.annotation]
    if _is_model(known.annotation) or get_origin(known.annotation) is dict:
        return "a table"
    return None


def _below(known: KeyType, key: str) -> KeyType | None:
    if _is_model(known.annotation):
        field = known.annotation.model_fields.get(key)
        return None if field is None else _key_type(field)
    if get_origin(known.annotation) is dict:
        return _key_type(FieldInfo.from_annotation(get_args(known.annotation)[1]))
    return None


def _key_type(field: FieldInfo) -> KeyType:
    annotation, bounds, optional = field.annotation, tuple(field.metadata), False
    if get_origin(annotation) in {Union, types.UnionType}:
        branches = [branch for branch in get_args(annotation) if branch is not type(None)]
        optional = len(branches) < len(get_args(annotation))
        if len(branches) == 1:
            annotation = branches[0]
    if get_origin(annotation) is Annotated:
        inner = FieldInfo.from_annotation(cast("Any", annotation))
        annotation, bounds = inner.annotation, (*bounds, *inner.metadata)
    return KeyType(annotation, bounds, optional)


def _is_model(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _bounds(bounds: tuple[Any, ...]) -> Iterator[str]:
    for bound in bounds:
        match bound:
            case annotated_types.Gt(gt=limit):
                yield f"greater than {limit}"
            case annotated_types.Ge(ge=limit):
                yield f"at least {limit}"
            case annotated_types.Lt(lt=limit):
                yield f"less than {limit}"
            case annotated_types.Le(le=limit):
                yield f"at most {limit}"
            case annotated_types.MinLen(min_length=limit):
                yield f"at least {limit} long"
            case annotated_types.MaxLen(max_length=limit):
                yield f"at most {limit} long"
            case _:
                pass
