"""Fixtures that every test may use."""

pytest_plugins = ["fixtures.postgres", "fixtures.stores", "fixtures.traces", "fixtures.valkey"]
