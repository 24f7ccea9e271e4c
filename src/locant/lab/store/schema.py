"""The tables of a store: made in an empty database, never in that of another program."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from locant.lab.store.store_errors import foreign_database

SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    digest TEXT NOT NULL, code TEXT NOT NULL, config TEXT NOT NULL, status TEXT NOT NULL,
    metrics TEXT NOT NULL, history TEXT NOT NULL, cost TEXT NOT NULL, error TEXT NOT NULL,
    finished REAL NOT NULL, notes TEXT NOT NULL DEFAULT '{}', PRIMARY KEY (digest, code)
);
CREATE TABLE IF NOT EXISTS studies (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, study TEXT NOT NULL, choices TEXT NOT NULL,
    runs TEXT NOT NULL, command TEXT NOT NULL, finished REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS claims (
    digest TEXT, code TEXT, owner TEXT, seen REAL, PRIMARY KEY (digest, code)
);
"""  # `claims` holds the leases; stores of every version call them so
ADDED = {"runs": {"notes": "TEXT NOT NULL DEFAULT '{}'"}}  # columns that older stores lack


def prepare(base: sqlite3.Connection, path: Path) -> None:
    """Make the tables and columns that are missing; refuse a database that is not locant's."""
    found = columns(base)
    mine = {table: found[table] for table in OURS if table in found}
    foreign = any(_missing(table, there) is None for table, there in mine.items())
    if found and (foreign or not mine):
        raise foreign_database(path, sorted(found))
    if mine.keys() != OURS.keys():
        base.executescript(SCHEMA)
    for table, there in mine.items():
        for column in _missing(table, there) or ():
            base.execute(f"ALTER TABLE {table} ADD COLUMN {column} {ADDED[table][column]}")


def _missing(table: str, there: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the columns that a table of ours lacks; None when the table is not ours."""
    rest = OURS[table][len(there) :]
    ours = there + rest == OURS[table] and set(rest) <= set(ADDED.get(table, ()))
    return rest if ours else None


def columns(base: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """List the tables and views of a database, each with its columns."""
    query = """
        SELECT listed.name, part.name
        FROM sqlite_master AS listed, pragma_table_info(listed.name) AS part
        WHERE listed.type IN ('table', 'view') AND substr(listed.name, 1, 7) != 'sqlite_'
        ORDER BY listed.name, part.cid
    """
    listed: dict[str, tuple[str, ...]] = {}
    for table, column in base.execute(query):
        listed[table] = (*listed.get(table, ()), column)
    return listed


def _ours() -> dict[str, tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as base:
        base.executescript(SCHEMA)
        return columns(base)


OURS = _ours()
