"""Compare ways to extend a model's context, without training, on a user's own text."""
