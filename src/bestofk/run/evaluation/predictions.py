"""Predictions of a cell's test rows as bytes, for tests that look at single instances."""

from __future__ import annotations

import io
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt


def pack(predicted: npt.NDArray[Any], probabilities: npt.NDArray[np.float64] | None) -> bytes:
    """Predicted class codes (or numbers) and, where there are any, probabilities (n, C)."""
    buffer = io.BytesIO()
    np.save(buffer, predicted, allow_pickle=False)
    if probabilities is not None:
        np.save(buffer, probabilities, allow_pickle=False)
    return zlib.compress(buffer.getvalue(), level=1)


def unpack(packed: bytes) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64] | None]:
    """What `pack` was given."""
    buffer = io.BytesIO(zlib.decompress(packed))
    predicted = np.load(buffer, allow_pickle=False)
    rest = buffer.read()
    if not rest:
        return predicted, None
    return predicted, np.load(io.BytesIO(rest), allow_pickle=False)
