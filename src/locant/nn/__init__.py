"""Layers and models around attention: a transformer, dropout."""
