"""Open checkpoints, and build models small with random weights."""
