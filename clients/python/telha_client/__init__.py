"""The Python client: sync and async, over gRPC."""
