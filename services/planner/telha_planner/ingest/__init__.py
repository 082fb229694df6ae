"""Documents in, canonical text, spans, nodes and edges out; runs in its own process."""
