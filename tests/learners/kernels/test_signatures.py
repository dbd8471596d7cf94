"""Signatures in Python equal the prototypes of the header."""

import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import bestofk.learners
import bestofk.papers
from bestofk.learners.kernels import library
from bestofk.learners.kernels.library import DECLARED, Kernel

HEADER = Path(library.__file__).parent / "source" / "kernels.h"
WORDS = {
    "double": "f64", "float": "f32", "i64": "i64", "int32_t": "i32", "int8_t": "i8", "u64": "u64",
    "uint32_t": "u32", "uint8_t": "u8", "bool": "bool",
}  # fmt: skip
NOT_FOR_PYTHON = {"processor_level", "kernel_sources"}


def prototypes() -> dict[str, str]:
    """Return name and signature of every exported function."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)
    signatures = {}
    for name, inside in re.findall(r"EXPORT [\w ]+?\*?(\w+)\(([^)]*)\);", text):
        arguments = []
        for argument in inside.split(","):
            *kind, _ = argument.replace("*", " * ").split()
            constant, pointer = "const" in kind, "*" in kind
            cell = next((WORDS[word] for word in kind if word in WORDS), "")
            arguments.append(f"{'*' if constant else '&'}{cell}" if pointer else cell)
        signatures[name] = " ".join(arguments)
    return signatures


def test_declared_as_in_the_header() -> None:
    if not HEADER.is_file():
        pytest.skip("installed without its sources")
    for package in (bestofk.learners, bestofk.papers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    declared = {name: kernel.signature for name, kernel in DECLARED.items()}
    expected = {
        name: signature for name, signature in prototypes().items() if name not in NOT_FOR_PYTHON
    }
    assert declared == expected


def test_every_exported_function_is_in_every_library() -> None:
    if not HEADER.is_file():
        pytest.skip("installed without its sources")
    for variant in library.variants():
        loaded = library._load(library._path(variant))
        assert all(hasattr(loaded, name) for name in prototypes())


def test_arrays_of_another_kind_are_refused() -> None:
    kernel = Kernel("logistic_probabilities", "*f64 i64 i64 &f64")
    x, out = np.zeros(4), np.zeros(8)
    with pytest.raises(TypeError, match="contiguous arrays of float64; got float32"):
        kernel(x.astype(np.float32), 4, 1, out)
    with pytest.raises(TypeError, match="with strides"):
        kernel(np.zeros((4, 2))[:, 0], 4, 1, out)
    with pytest.raises(TypeError, match="takes 4 arguments"):
        kernel(x, 4)
    x.flags.writeable = False
    with pytest.raises(TypeError, match="read-only"):
        kernel(out[:4], 4, 1, x)
    assert kernel(x, 4, 1, out) == 0
    assert out.tolist() == [0.5] * 8
