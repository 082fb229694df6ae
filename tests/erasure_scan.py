"""Looks for a secret wherever it could be: bytes of files, rows of tables, entries of a stream, objects in memory."""

import gc
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from redis import Redis

_OPAQUE = (types.ModuleType, types.FrameType, type, types.CodeType)


def in_files(folder: Path, secrets: Iterable[bytes]) -> Iterator[str]:
    """Files below *folder* that hold a secret, and which."""
    wanted = list(secrets)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            yield from (f"{path.name}: {secret!r}" for secret in wanted if secret in content)


def in_rows(url: str, secrets: Iterable[bytes]) -> Iterator[str]:
    """Tables of the PostgreSQL database at *url* of which a row holds a secret, read as a superuser."""
    wanted = list(secrets)
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        for table in sa.inspect(connection).get_table_names():
            rows = connection.exec_driver_sql(f'SELECT to_jsonb(t)::text, t.* FROM "{table}" t').all()
            held = "".join(row[0] for row in rows).encode()
            held += b"".join(bytes(v) for row in rows for v in row[1:] if isinstance(v, bytes | memoryview))
            yield from (f"{table}: {secret!r}" for secret in wanted if secret in held)
    engine.dispose()


def in_stream(redis: Redis, secrets: Iterable[bytes]) -> Iterator[str]:
    """Keys of streams that hold a secret in an entry."""
    wanted = list(secrets)
    for key in redis.scan_iter():
        if redis.type(key) == b"stream":
            held = b"".join(value for _, fields in redis.xrange(key) for pair in fields.items() for value in pair)
            yield from (f"{key!r}: {secret!r}" for secret in wanted if secret in held)


def in_objects(roots: Iterable[Any], secrets: Iterable[bytes]) -> Iterator[str]:
    """Types of the objects that can be reached from *roots* and hold a secret."""
    wanted = list(secrets)
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, _OPAQUE):
            continue
        seen.add(id(one))
        held = _bytes_of(one)
        yield from (f"{type(one).__name__}: {secret!r}" for secret in wanted if secret in held)
        waiting += gc.get_referents(one)
        base = getattr(one, "base", None) if isinstance(one, np.ndarray) else None
        if base is not None:
            waiting.append(base)


def _bytes_of(one: Any) -> bytes:
    if isinstance(one, str):
        return one.encode("utf-8", "surrogatepass")
    if isinstance(one, bytes | bytearray):
        return bytes(one)
    if isinstance(one, np.ndarray) and one.dtype != object:
        return one.tobytes()
    return b""
