"""The gateway: REST on one side, gRPC on the other, no logic between."""
