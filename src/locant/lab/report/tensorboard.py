"""Write a study as TensorBoard's event files, one folder per run: its validations and final scores.

A file is a sequence of records. A record is length, checksum, bytes, checksum (TensorFlow,
`tensorflow/core/lib/io`), and its bytes are a protocol buffer, of which five fields are needed
(`event.proto`, `summary.proto` of TensorBoard):

    Event = {1: wall_time (double), 2: step (varint), 3: file_version (text), 5: Summary}
    Summary = {1: Value, 1: Value, …}      Value = {1: tag (text), 2: simple_value (float)}
"""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path

from locant.lab.store.record import StudyRecord

FILE = "events.out.tfevents.0.locant"  # always the same: a second export replaces the first


def write_events(record: StudyRecord, folder: Path) -> None:
    """Write folder/entrant/seed_n/ for every run that finished."""
    for entrant in record.entrants:
        runs = zip(entrant.seeds, entrant.histories, strict=True)
        for run, (seed, history) in enumerate(runs):
            final = {}
            for metric, values in entrant.metrics.items():
                final[f"final/{metric}"] = values[run]
            path = folder / _folder_name(entrant.name) / f"seed_{seed}" / FILE
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_events(history, final, record.finished))


def _folder_name(name: str) -> str:
    """Write an entrant's name as a folder's; different names stay different.

    >>> _folder_name("rotary (base 100)"), _folder_name("../a/b")
    ('rotary (base 100)', '%2e.%2fa%2fb')
    """
    forbidden = r'^\.|[/\\:*?"<>|%\x00-\x1f]'
    return re.sub(forbidden, lambda found: f"%{ord(found[0]):02x}", name) or "%"


def _events(history: list[dict[str, float]], final: dict[str, float], time: float) -> bytes:
    """Write a file: its version, an event for every entry of the history, one for the end."""
    records = [_double(1, time) + _bytes(3, b"brain.Event:2")]
    step = 0
    for index, entry in enumerate(history):
        step = int(entry.get("step", index))
        scalars = {f"history/{name}": entry[name] for name in entry if name != "step"}
        records.append(_event(step, scalars, time))
    records.append(_event(step, final, time))
    return b"".join(_framed(record) for record in records)


def _event(step: int, scalars: dict[str, float], time: float) -> bytes:
    values = b""
    for tag, value in scalars.items():
        values += _bytes(1, _bytes(1, tag.encode()) + _float(2, value))
    return _double(1, time) + _varint(2 << 3) + _varint(step) + _bytes(5, values)


def _framed(record: bytes) -> bytes:
    length = struct.pack("<Q", len(record))
    return length + _checksum(length) + record + _checksum(record)


def _checksum(data: bytes) -> bytes:
    """Compute the masked CRC-32C: rotated right by 15 bits, then shifted by a constant."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def crc32c(data: bytes) -> int:
    """Compute Castagnoli's checksum, RFC 3720, appendix B.4.

    >>> f"{crc32c(b'123456789'):08x}"
    'e3069283'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _remainder(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


TABLE = [_remainder(byte) for byte in range(256)]


def _varint(number: int) -> bytes:
    """Write seven bits per byte, lowest first; the eighth bit says that more follow.

    >>> _varint(300).hex()
    'ac02'
    """
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def _float(field: int, value: float) -> bytes:
    try:
        return _varint(field << 3 | 5) + struct.pack("<f", value)
    except OverflowError:  # beyond what four bytes hold
        return _varint(field << 3 | 5) + struct.pack("<f", math.copysign(math.inf, value))
