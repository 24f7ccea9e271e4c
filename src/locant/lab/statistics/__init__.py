"""From runs to claims: pure functions of numbers, paired by seed. No torch."""
