"""Fixtures that every test may use."""

pytest_plugins = ["fixtures.valkey"]
