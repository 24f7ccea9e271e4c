"""Train and test one run: settings, model, training loop, checkpoints, and the identity of its
code."""
