"""One file, one formula, one name. A file that defines a subclass of `Encoding` is found by itself."""
