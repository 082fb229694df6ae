"""
Mutation of inputs: of their bytes, and of the structure that they hold (JSON, msgpack, text).

Rule: a function of the input and the random generator alone, so that a seed gives the same inputs again.
"""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import msgpack
from fuzz.messages import mutated_message
from fuzz.target import Target

MOST_BYTES = 16_384

SCALARS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 255, 2**31 - 1, 2**31, 2**32, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)),
    *(
        10**40,
        10**400,
        0.0,
        -0.0,
        0.5,
        1.0,
        2.0,
        1e308,
        -1e308,
        5e-324,
        1e16,
        float("inf"),
        float("-inf"),
        float("nan"),
    ),
    *(True, False, None, "", " ", "\0", "a", "0", "-1", "*", "..", "1e999", "null", "\ud800", "\udfff\ud800", "\ufeff"),
    *("ﷺ" * 9, "e\u0301" * 40, "👩‍👩‍👧‍👦", "\u202eabc\u202c", "电车六点", "שלום", "\U000e0001", "\U0010ffff", "ß", "İ"),
    *("2026-06-30T12:00:00Z", "2026-06-30T12:00:60+23:59", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59.9999999Z"),
    *("0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", "0197A3F2-7C1E-7D7B-9A53-2F0C3B7F9E10", "x" * 130, "y" * 1100),
    *([], {}, [[]], [{}], {"": {}}, [None], {"a": [1, "b", None]}),
)
"""Values at the edges of what types, stores and encodings hold."""

_DEEP = (3, 20, 40, 110, 480, 1100)


def mutated(target: Target, data: bytes, other: bytes, rng: random.Random) -> bytes:
    """A neighbour of *data*; *other* is another input of the corpus, to cross it with."""
    head, body = (data[:1], data[1:]) if target.choices else (b"", data)
    if target.choices and rng.random() < 0.05:
        head = bytes([rng.randrange(target.choices)])
    change = _FORMS[target.form] if rng.random() < 0.8 else _bytes
    for _ in range(1 + rng.randrange(3)):
        body = change(target, head, body, other[len(head) :], rng)
    return (head + body)[:MOST_BYTES]


def _bytes(target: Target, _: bytes, data: bytes, other: bytes, rng: random.Random) -> bytes:
    at, size = rng.randrange(len(data) + 1), 1 + rng.randrange(8)
    piece = data[at : at + size]
    match rng.randrange(8):
        case 0:
            return data[:at] + rng.randbytes(size) + data[at:]
        case 1:
            return data[:at] + rng.randbytes(len(piece)) + data[at + len(piece) :]
        case 2:
            return data[:at] + data[at + size :]
        case 3:
            return data[:at] + piece * (2 + rng.randrange(60)) + data[at + size :]
        case 4:
            flipped = bytes(byte ^ (1 << rng.randrange(8)) for byte in piece)
            return data[:at] + flipped + data[at + size :]
        case 5:
            return data[:at]
        case 6:
            begin = rng.randrange(len(other) + 1)
            return data[:at] + other[begin : begin + 1 + rng.randrange(64)] + data[at:]
        case _:
            chosen = rng.choice(target.words or ("\xff",))
            word = chosen.encode("latin-1") if target.form == "bytes" else chosen.encode("utf-8", "surrogatepass")
            return data[:at] + word + data[at:]


def _text(target: Target, head: bytes, data: bytes, other: bytes, rng: random.Random) -> bytes:
    try:
        text, second = data.decode(), other.decode(errors="replace")
    except UnicodeDecodeError:
        return _bytes(target, head, data, other, rng)
    at, size = rng.randrange(len(text) + 1), 1 + rng.randrange(12)
    words = [*target.words, *(value for value in SCALARS if isinstance(value, str) and _encodable(value))]
    match rng.randrange(6):
        case 0:
            text = text[:at] + rng.choice(words) + text[at:]
        case 1:
            text = text[:at] + rng.choice(words) * rng.choice((2, 7, 40, 300)) + text[at:]
        case 2:
            text = text[:at] + text[at + size :]
        case 3:
            begin = rng.randrange(len(second) + 1)
            text = text[:at] + second[begin : begin + 1 + rng.randrange(80)] + text[at:]
        case 4:
            text = text[:at] + text[at : at + size] * rng.choice((2, 5, 60)) + text[at + size :]
        case _:
            text = (
                text[:at]
                + chr(rng.choice((rng.randrange(128), rng.randrange(0x3000), rng.randrange(0xE000, 0x110000))))
                + text[at:]
            )
    return text.encode()


def _json(target: Target, head: bytes, data: bytes, other: bytes, rng: random.Random) -> bytes:
    try:
        tree, second = json.loads(data), _loaded(json.loads, other)
        tree = _changed(target, tree, second, rng)
        text = json.dumps(tree, ensure_ascii=rng.random() < 0.5, allow_nan=True)
    except (ValueError, RecursionError):
        return _bytes(target, head, data, other, rng)
    if rng.random() < 0.1:
        text = _respelled(text, rng)
    return text.encode("utf-8", "surrogatepass")


def _respelled(text: str, rng: random.Random) -> str:
    """The same or nearly the same JSON, as no writer would spell it."""
    match rng.randrange(5):
        case 0:  # a member given twice
            at = text.find(",", rng.randrange(len(text) + 1))
            start = text.rfind("{", 0, at)
            return text if min(at, start) < 0 else f"{text[:at]},{text[start + 1 : at]}{text[at:]}"
        case 1:
            return text.replace(":", " : ").replace(",", "\t,\n")
        case 2:
            return text.replace("1", "1" * rng.choice((2, 30, 400, 5000)), 1)
        case 3:
            return text.replace('"', rng.choice(('"\\ud83d', '"\\u0000', '"\\ud83d\\ude00')), 1)
        case _:
            depth = rng.choice(_DEEP)
            return text.replace("null", "[" * depth + "]" * depth, 1)


def _msgpack(target: Target, head: bytes, data: bytes, other: bytes, rng: random.Random) -> bytes:
    try:
        tree = msgpack.unpackb(data, strict_map_key=False)
        second = _loaded(msgpack.unpackb, other)
        return bytes(msgpack.packb(_changed(target, tree, second, rng)))
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException):
        return _bytes(target, head, data, other, rng)


def _message(target: Target, head: bytes, data: bytes, other: bytes, rng: random.Random) -> bytes:
    changed = mutated_message(head, data, other, SCALARS, target.words, rng)
    return _bytes(target, head, data, other, rng) if changed is None else changed


def _loaded(read: Callable[[bytes], Any], data: bytes) -> Any:
    try:
        return read(data)
    except (ValueError, RecursionError, msgpack.UnpackException):
        return None


def _places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if len(path) > 60:
        return
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _places(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree[:50]):
            yield from _places(value, (*path, index))


def _changed(target: Target, tree: Any, second: Any, rng: random.Random) -> Any:
    path = rng.choice(list(_places(tree)))
    if not path:
        return _replaced(tree, second, rng)
    holder = tree
    for step in path[:-1]:
        holder = holder[step]
    last = path[-1]
    match rng.randrange(7):
        case 0 | 1 | 2:
            holder[last] = _replaced(holder[last], second, rng)
        case 3:
            del holder[last]
        case 4 if isinstance(holder, list):
            holder[last:last] = [holder[last]] * rng.choice((1, 2, 30, 300))
        case 4:
            holder[rng.choice([*target.words, "unknown", "", "\ud800", "a.b", "@id", str(last) + "s"])] = holder[last]
        case 5 if isinstance(holder, dict):
            holder[rng.choice(target.words or ("x",))] = holder.pop(last)
        case _:
            chosen = rng.choice(list(_places(tree)))
            value = tree
            for step in chosen:
                value = value[step]
            holder[last] = json.loads(json.dumps(value, default=str)) if len(path) < 12 else None
    return tree


def _replaced(value: Any, second: Any, rng: random.Random) -> Any:
    match rng.randrange(8):
        case 0:
            return [value]
        case 1:
            for _ in range(rng.choice(_DEEP)):
                value = [value] if rng.random() < 0.5 else {"a": value}
            return value
        case 2 if isinstance(value, str):
            return value + rng.choice(("\0", "\ud800", " ", "x" * 300, "ﷺ" * 300, "\u202e", "\n"))
        case 2 if isinstance(value, int | float):
            return value * rng.choice((-1, 2, 0.5, 2**40)) if abs(value) < 1e200 else 0
        case 3 if second is not None:
            places = list(_places(second))
            for step in rng.choice(places):
                second = second[step]
            return second
        case _:
            return rng.choice(SCALARS)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_FORMS = {"bytes": _bytes, "text": _text, "json": _json, "msgpack": _msgpack, "message": _message}
