"""Fixtures that every test may use."""

pytest_plugins = ["fixtures.clients", "fixtures.postgres", "fixtures.stores", "fixtures.traces", "fixtures.valkey"]
