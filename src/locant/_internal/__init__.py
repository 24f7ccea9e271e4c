"""Small things that every room uses: checks, seeds, worker processes, the guard around a user's code."""
