"""Small tools that every package uses; nothing here knows about encodings."""
