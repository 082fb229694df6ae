"""
Properties of node versions, read by their numbers: columns do not hold them, since few requests ask for any.

Rule: the properties of a version never change, so it does not matter when they are read; only an erasure takes them
away, and then the caller's columns are out of date.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from .store import Store, chunks
from .tables import node_version

Properties = dict[str, Any]

decode_properties = msgspec.json.Decoder(dict[str, Any]).decode
"""From the stored text; numbers become int or float as they are spelled, and mean the float64 nearest to that."""


class PropertiesErased(LookupError):
    """A version that columns show was erased after they were read; the answer has to be made anew."""


def read_properties(store: Store, tenant: int, version_nos: Sequence[int]) -> list[str]:
    """
    The properties of each version as JSON text, in the order asked.

    Raises:
        PropertiesErased: A version is not in the store any more.
        Unavailable: The store cannot be read at this moment.
    """
    found: dict[int, str] = {}
    with store.reading(tenant) as connection:
        for chunk in chunks(sorted(version_nos)):
            found.update(_read(connection, tenant, chunk))
    try:
        return [found[number] for number in version_nos]
    except KeyError as missing:
        raise PropertiesErased(*missing.args) from None


def _read(connection: sa.Connection, tenant: int, numbers: Sequence[int]) -> Sequence[Any]:
    # Past the statement compiler, which would cost more per thousand numbers than the read itself.
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    number = node_version.c.version_no.name
    marks = ", ".join([mark] * len(numbers))
    statement = f"SELECT {number}, properties FROM {node_version.name} WHERE tenant = {mark} AND {number} IN ({marks})"  # noqa: S608 - our names
    cursor = connection.exec_driver_sql(statement, (tenant, *numbers)).cursor
    return () if cursor is None else cursor.fetchall()
