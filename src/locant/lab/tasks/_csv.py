"""Rows of tokens as a CSV file that a spreadsheet opens, and back."""

from __future__ import annotations

import csv
from pathlib import Path

import torch

from locant.lab.tasks.base import Batch

LABEL = "label"


def write_rows(path: Path, rows: Batch) -> None:
    """One line a row: a column for each place, then the label."""
    places = [f"place_{place}" for place in range(rows.inputs.shape[1])]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*places, LABEL])
        for tokens, label in zip(rows.inputs.tolist(), rows.target.tolist(), strict=True):
            writer.writerow([*tokens, label])


def read_rows(path: Path) -> Batch:
    """What `write_rows` wrote; wrong lines are told by their number."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    if len(lines) < 2 or lines[0][-1:] != [LABEL]:
        raise ValueError(
            f"{path} needs a first line place_0, …, {LABEL} and at least one row below it."
        )
    numbers = []
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(lines[0]) or not all(cell.strip().isdecimal() for cell in line):
            raise ValueError(
                f"{path}, line {number}: {len(lines[0])} whole numbers from 0 up are needed. Got {','.join(line)!r}."
            )
        numbers.append([int(cell) for cell in line])
    table = torch.tensor(numbers)
    return Batch(table[:, :-1], table[:, -1])
