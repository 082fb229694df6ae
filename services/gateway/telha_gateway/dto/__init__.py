"""The JSON shapes: one module per area, each with its structs and the mapping to and from the wire messages."""
