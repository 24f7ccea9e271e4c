"""A study as TensorBoard's event files, one folder a run: what was measured on the way, and at the end. No torch.

A file is a row of records, a record is length, checksum, bytes, checksum (TensorFlow, `tensorflow/core/lib/io`), and its
bytes are a protocol buffer, of which five fields are needed (`event.proto`, `summary.proto` of TensorBoard):

    Event = {1: wall_time (double), 2: step (varint), 3: file_version (text), 5: Summary}
    Summary = {1: Value, 1: Value, …}      Value = {1: tag (text), 2: simple_value (float)}
"""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path

from locant.lab.store.record import StudyRecord

FILE = "events.out.tfevents.0.locant"  # the same name each time, so that a second export replaces the first


def write_events(record: StudyRecord, folder: Path) -> None:
    """Write folder/row/seed_n/ for every run that ended well."""
    for row in record.rows:
        for place, (seed, history) in enumerate(zip(row.seeds, row.histories, strict=True)):
            final = {f"final/{metric}": values[place] for metric, values in row.metrics.items()}
            path = folder / _folder_name(row.name) / f"seed_{seed}" / FILE
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_events(history, final, record.finished))


def _folder_name(row: str) -> str:
    """A row's name as a folder's, different for different names.

    >>> _folder_name("rotary (base 100)"), _folder_name("../a/b")
    ('rotary (base 100)', '%2e.%2fa%2fb')
    """
    return re.sub(r'^\.|[/\\:*?"<>|%\x00-\x1f]', lambda found: f"%{ord(found[0]):02x}", row) or "%"


def _events(history: list[dict[str, float]], final: dict[str, float], time: float) -> bytes:
    """A whole file: its version, an event for every entry of the history, one for the end."""
    records = [_double(1, time) + _bytes(3, b"brain.Event:2")]
    step = 0
    for place, entry in enumerate(history):
        step = int(entry.get("step", place))
        records.append(
            _event(step, {f"history/{name}": entry[name] for name in entry if name != "step"}, time)
        )
    records.append(_event(step, final, time))
    return b"".join(_framed(record) for record in records)


def _event(step: int, scalars: dict[str, float], time: float) -> bytes:
    values = (
        _bytes(1, _bytes(1, tag.encode()) + _float(2, value)) for tag, value in scalars.items()
    )
    return _double(1, time) + _varint(2 << 3) + _varint(step) + _bytes(5, b"".join(values))


def _framed(record: bytes) -> bytes:
    length = struct.pack("<Q", len(record))
    return length + _checksum(length) + record + _checksum(record)


def _checksum(data: bytes) -> bytes:
    """CRC-32C, masked: turned right by 15 bits and moved by a constant."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def crc32c(data: bytes) -> int:
    """Castagnoli's checksum, RFC 3720, appendix B.4.

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
    """Seven bits a byte, lowest first; the eighth bit says that more follow.

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
