"""One file, one question put to a model."""

UNSEEN = "unseen data"  # what decides, unless a published protocol has it otherwise
