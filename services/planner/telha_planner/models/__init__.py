"""Tokenizers and text analysis behind their seams."""
