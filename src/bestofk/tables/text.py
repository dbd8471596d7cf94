"""Bytes to text: compression, byte order marks, encodings, and what is no text at all."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from bestofk.errors import TableError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x0b\x0c\x1a\x1b\x1c\x1d\x1e\x1f")) + b"\x7f"

_PIECE = 1 << 20


class Text(NamedTuple):
    """The content of a file and the encoding that it was in."""

    content: str
    encoding: str


def decompress(data: bytes, source: str) -> bytes:
    """`data`, unpacked where it is gzip."""
    if data[:2] != b"\x1f\x8b":
        return data
    import gzip
    import zlib
    from io import BytesIO

    from bestofk.tables.memory_limit import UNPACKED, allowed_bytes, too_large

    most = allowed_bytes(len(data), UNPACKED)
    pieces: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            while piece := file.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    raise too_large(
                        source, file_size=len(data), needed=size, what="unpacks to far more"
                    )
    except (OSError, EOFError, zlib.error):
        raise TableError(f"{source}: the gzip data are damaged or cut off.") from None
    return b"".join(pieces)


def decode(data: bytes, source: str, *, encoding: str | None = None) -> Text:
    """`data` as text, in the encoding given or the one that it shows."""
    if encoding is not None:
        return _decode_as(data, source, encoding)
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _decode_as(data[len(mark) :], source, name)
    if b"\0" in data:
        guess = _unmarked_utf16(data)
        if guess is None:
            raise _binary(source)
        return _decode_as(data, source, guess)
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError:
        content = None
    sample = data[:65536]
    most = 0.005 if content is None else 0.3  # rubbish is hardly ever valid UTF-8
    if sum(sample.count(byte) for byte in _CONTROLS) > most * len(sample):
        raise _binary(source)
    if content is not None:
        return Text(content, "utf-8")
    _refuse_mixture(data, source)
    western = "cp1252" if any(0x80 <= byte < 0xA0 for byte in set(data)) else "latin-1"
    try:
        return Text(data.decode(western), western)
    except UnicodeDecodeError:
        raise _binary(source) from None


def _decode_as(data: bytes, source: str, encoding: str) -> Text:
    try:
        content = data.decode(encoding)
    except LookupError:
        raise TableError(
            f"{source}: encoding must be the name of a text encoding such as 'utf-8' or "
            f"'latin-1'; got {encoding!r}."
        ) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].decode(encoding, errors="replace").count("\n") + 1
        raise TableError(
            f"{source}: line {line} is not {encoding} text (byte {data[error.start]:#04x})."
        ) from None
    return Text(content.removeprefix("\ufeff"), encoding)


def _unmarked_utf16(data: bytes) -> str | None:
    """UTF-16 without its mark shows as zeros in every other byte."""
    sample = data[: 4096 - 4096 % 2]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) / 2
    if odd > 0.6 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.6 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


def _refuse_mixture(data: bytes, source: str) -> None:
    """Raise where some lines are UTF-8 beyond ASCII and others are not UTF-8."""
    good = bad = None
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            bad = bad or number
        else:
            good = good or number
        if good and bad:
            raise TableError(
                f"{source}: two encodings in one file: line {good} is utf-8, line {bad} is not; "
                "save it in one encoding."
            )


def _binary(source: str) -> TableError:
    return TableError(
        f"{source}: not a table: the file holds binary data, not text, Parquet or gzip."
    )
