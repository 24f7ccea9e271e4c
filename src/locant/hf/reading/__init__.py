"""Read the encodings of a config or a loaded model, and prove that they were read rightly."""
