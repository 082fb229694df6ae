"""Requests in, statuses out: the only layer that speaks gRPC and protobuf."""
