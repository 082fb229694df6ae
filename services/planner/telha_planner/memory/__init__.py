"""The system of record: bitemporal tables, writes, reads, keys and the tenant's clock."""
