"""How well flags and scores agree with labels: pure functions of arrays, one a file. No torch."""
