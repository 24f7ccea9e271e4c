"""What the shell offers after Tab: names of encodings and of studies.

`locant --install-completion` sets it up for bash, zsh, fish and PowerShell. Nothing here
imports torch.
"""

from __future__ import annotations


def complete_encoding(incomplete: str) -> list[str]:
    """List the encodings whose names begin so; in a list with commas, the last name counts.

    >>> complete_encoding("rot")
    ['rotary']
    >>> complete_encoding("rotary,al")
    ['rotary,alibi']
    """
    from locant.encodings.registry import names

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]


def complete_study(incomplete: str) -> list[str]:
    """List the shipped studies whose names begin so.

    >>> complete_study("ord")
    ['order']
    """
    from locant.lab import study_files

    return [name for name in study_files.study_names() if name.startswith(incomplete)]
