"""What the way of a trace record must know of its inside: the tenant, read without unpacking the rest."""

import msgpack


def tenant_of(record: bytes) -> str:
    """
    The name of the tenant that *record* belongs to.

    Raises:
        ValueError: It is no msgpack map with a string under `tenant`; only a fault of ours makes such a record.
    """
    reader = msgpack.Unpacker(max_buffer_size=len(record))
    reader.feed(record)
    for _ in range(reader.read_map_header()):
        if reader.unpack() == "tenant":
            tenant = reader.unpack()
            if isinstance(tenant, str):
                return tenant
            break
        reader.skip()
    raise ValueError("a trace record must name its tenant")
