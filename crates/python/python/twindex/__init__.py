"""Near-duplicate documents in one file: an embedded, crash-safe similarity index."""
