"""Embedders behind one seam: texts in, vectors of one model out."""
