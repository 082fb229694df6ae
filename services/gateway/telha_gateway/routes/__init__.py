"""The operations of the REST surface, one module per area."""
