"""Training: one loop, and nothing beside it."""
