"""Members of a zip archive, also those that zstandard packed (method 93).

The standard library reads method 93 from Python 3.14 on; here pyarrow unpacks it. Nothing is
extracted: a member's name is a key and never a path.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

from bestofk.errors import TableError
from bestofk.tables.memory_limit import EXPANDED, allowed_bytes, too_large

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
MOST_MEMBERS = 5_000_000
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")


class ZipMembers:
    """The members of an archive by name; each is unpacked when it is asked for, within limits."""

    def __init__(self, path: Path) -> None:
        self.source = path.name
        self._file_size = path.stat().st_size
        try:
            self._archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError):
            raise TableError(
                f"{self.source}: the zip archive is damaged or cut off: its table of contents, at "
                "its end, cannot be read."
            ) from None
        self._members = {info.filename: info for info in self._archive.infolist()}
        self._unpacked = 0

    def __enter__(self) -> ZipMembers:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of the archive."""
        return tuple(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def text(self, name: str) -> str:
        """A member as text."""
        try:
            return self.read(name).decode("utf-8")
        except UnicodeDecodeError:
            raise TableError(f"{self.source}: {name!r} is not UTF-8 text.") from None

    def read(self, name: str) -> bytes:
        """A member, unpacked and checked against its sum."""
        info = self._members[name]
        where = f"{self.source}: {name!r:.120}"
        if info.flag_bits & 1:
            raise TableError(f"{where} is encrypted.")
        self._unpacked += info.file_size
        for needed, least in ((info.file_size, EXPANDED), (self._unpacked, 8 * EXPANDED)):
            if needed > allowed_bytes(self._file_size, least):
                raise too_large(
                    self.source,
                    file_size=self._file_size,
                    needed=needed,
                    what="unpacks to far more",
                )
        try:
            data = self._unpack(info)
        except (OSError, ValueError, zlib.error, struct.error, EOFError):
            raise TableError(f"{where} is damaged and cannot be unpacked.") from None
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise TableError(f"{where} is damaged: its checksum differs.")
        return data

    def _unpack(self, info: zipfile.ZipInfo) -> bytes:
        packed = self._packed(info)
        if info.compress_type == STORED:
            return packed
        if info.compress_type == DEFLATED:
            # no more than was announced and allowed
            return zlib.decompressobj(-15).decompress(packed, info.file_size + 1)
        if info.compress_type == ZSTANDARD:
            import pyarrow as pa

            if not info.file_size:
                return b""
            unpacked: bytes = pa.Codec("zstd").decompress(
                packed, decompressed_size=info.file_size, asbytes=True
            )
            return unpacked
        raise TableError(
            f"{self.source}: {info.filename!r:.120} is packed with zip method "
            f"{info.compress_type}; stored, deflate and zstandard can be read."
        )

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        file = self._archive.fp
        if file is None:
            raise ValueError("closed")
        file.seek(info.header_offset)
        head = file.read(_LOCAL_HEADER.size)
        mark, *_, name_size, more_size = _LOCAL_HEADER.unpack(head)
        if mark != b"PK\x03\x04":
            raise ValueError("no local header")
        file.seek(name_size + more_size, 1)
        data = file.read(info.compress_size)
        if len(data) != info.compress_size:
            raise EOFError
        return data
