"""A Markdown table, so that it can be pasted as it is."""

from __future__ import annotations


def table(title: str, heads: list[str], rows: list[list[str]]) -> None:
    print(f"\n### {title}\n")
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
