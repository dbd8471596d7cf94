"""Load the compiled kernel library for this processor and call its functions."""

from __future__ import annotations

import ctypes
import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.errors import BestOfKError

VARIANT = "BESTOFK_KERNELS"
"""Environment variable with the variant to load (`generic`, `x86-64-v3`, ...) or a path."""
BUILT = Path(__file__).parent / "built"
SOURCE = Path(__file__).parent / "source"
LEVELS = {3: "x86-64-v3", 4: "x86-64-v4"}
NO_MEMORY = -9999

SCALARS: dict[str, Any] = {"i64": ctypes.c_int64, "f64": ctypes.c_double}
CELLS: dict[str, Any] = {
    "f64": np.float64,
    "f32": np.float32,
    "i64": np.int64,
    "i32": np.int32,
    "i8": np.int8,
    "u64": np.uint64,
    "u32": np.uint32,
    "u8": np.uint8,
    "bool": np.bool_,
}

DECLARED: dict[str, Kernel] = {}


class Kernel:
    """A function of the kernel library.

    - `name`: Its name in C.
    - `signature`: Its arguments: ``f64`` and ``i64`` are numbers, ``*f64`` is an array to read,
      ``&f64`` is an array to write. The function returns an integer.
    """

    __slots__ = ("_checks", "_function", "name", "signature")

    def __init__(self, name: str, signature: str) -> None:
        self.name, self.signature = name, signature
        self._function: Any = None
        self._checks = tuple(
            (np.dtype(CELLS[word[1:]]), word[0] == "&") if word[0] in "*&" else None
            for word in signature.split()
        )
        DECLARED[name] = self

    def __call__(self, *arguments: Any) -> int:
        if self._function is None:
            self._function = self._find()
        if len(arguments) != len(self._checks):
            raise TypeError(f"{self.name} takes {len(self._checks)} arguments: {self.signature}.")
        passed = [
            argument if check is None else self._address(argument, *check)
            for argument, check in zip(arguments, self._checks, strict=True)
        ]
        result = int(self._function(*passed))
        if result == NO_MEMORY:
            raise MemoryError(f"The kernel {self.name} could not allocate memory.")
        return result

    def _address(self, array: Any, dtype: np.dtype[Any], written: bool) -> int:
        if array.dtype != dtype or not array.flags.c_contiguous:
            raise TypeError(
                f"{self.name} takes contiguous arrays of {dtype}; got {array.dtype} with strides "
                f"{array.strides}."
            )
        if written and not array.flags.writeable:
            raise TypeError(f"{self.name} writes into an array that is read-only.")
        address: int = array.__array_interface__["data"][0]
        return address

    def _find(self) -> Any:
        function = getattr(library(), self.name)
        function.restype = ctypes.c_int64
        function.argtypes = [
            ctypes.c_void_p if check is not None else SCALARS[word]
            for word, check in zip(self.signature.split(), self._checks, strict=True)
        ]
        return function


@cache
def library() -> ctypes.CDLL:
    """Return the library chosen by the environment variable, or the best for this processor."""
    name = os.environ.get(VARIANT)
    if name and (os.sep in name or "/" in name):
        return _load(Path(name))
    available = variants()
    if name and name not in available:
        raise BestOfKError(
            f"{VARIANT} is {name}, which this processor cannot run or this build does not include."
        )
    return _load(_path(name or available[-1]))


def variants() -> list[str]:
    """Return the built variants that this processor can run, fastest last.

    Examples
    --------
    >>> variants()[0]
    'generic'
    """
    generic = _load(_path("generic"))
    generic.processor_level.restype = ctypes.c_int64
    level = int(generic.processor_level())
    supported = [name for number, name in LEVELS.items() if level >= number]
    return ["generic", *(name for name in supported if _path(name).is_file())]


def _path(variant: str) -> Path:
    return BUILT / f"kernels-{variant}.bin"


def _load(path: Path) -> ctypes.CDLL:
    if not path.is_file():
        raise BestOfKError(
            "The compiled kernels of bestofk are missing: install the package with pip, or run "
            "`python hatch_build.py` in its source tree."
        )
    loaded = ctypes.CDLL(str(path))
    loaded.kernel_sources.restype = ctypes.c_char_p
    if SOURCE.is_dir() and loaded.kernel_sources().decode() != _digest():
        raise BestOfKError(
            "The kernels of bestofk were built from different sources: run "
            "`python hatch_build.py` in the source tree."
        )
    return loaded


@cache
def _digest() -> str:
    """Return the digest of the sources, computed as in hatch_build.py."""
    digest = hashlib.sha256()
    for path in sorted(SOURCE.glob("*.[ch]")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
