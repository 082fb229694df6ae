"""The `telha` command line."""
