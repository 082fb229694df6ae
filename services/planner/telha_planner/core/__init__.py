"""Phase B and its types: pure, without clock, I/O, randomness or logging."""
