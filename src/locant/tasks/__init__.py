"""One file, one question put to a model."""
