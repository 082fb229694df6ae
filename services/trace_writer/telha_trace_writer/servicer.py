"""Answers planners over gRPC from the trace store."""
