"""The trace writer: takes trace records off the stream, persists them and serves them to planners."""
