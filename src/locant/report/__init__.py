"""What was measured, written for people to read. Takes plain values; needs no torch."""
