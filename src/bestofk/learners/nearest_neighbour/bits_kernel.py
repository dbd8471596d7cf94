"""Plans as bits: 64 splits in a word, so that one operation serves 64 splits.

Cross-validation has a bit for every run: the number of the fold that tests a row is spread over
as many planes as it has binary digits, and a row may serve as neighbour of another in those runs
in which any of these digits differ. Other plans have a bit for every split, and one plane that
says where a row trains. Predicted class codes are spread over planes in the same way.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def pack_folds(fold_of, planes):  # type: ignore[no-untyped-def]
    """Spread `fold_of`, shape (runs, n), over `planes`, shape (n, words, digits)."""
    runs, n = fold_of.shape
    digits = planes.shape[2]
    word = np.empty(n, dtype=np.uint64)
    for w in range(planes.shape[1]):
        for p in range(digits):
            word[:] = np.uint64(0)
            for b in range(min(64, runs - 64 * w)):
                folds = fold_of[64 * w + b]
                for i in range(n):
                    word[i] |= np.uint64((folds[i] >> p) & 1) << np.uint64(b)
            for i in range(n):
                planes[i, w, p] = word[i]


@njit(cache=True, nogil=True)
def mark(rows, split, planes):  # type: ignore[no-untyped-def]
    """Set the bit of `split` for all `rows` in the first plane."""
    w, bit = split >> 6, np.uint64(1) << np.uint64(split & 63)
    for r in range(rows.size):
        planes[rows[r], w, 0] |= bit


@njit(cache=True, nogil=True)
def serves(planes, by_fold, i, k, w):  # type: ignore[no-untyped-def]
    """The splits of word `w` in which row `k` trains, if row `i` is tested there."""
    if not by_fold:
        return planes[k, w, 0]
    differ = np.uint64(0)
    for p in range(planes.shape[2]):
        differ |= planes[k, w, p] ^ planes[i, w, p]
    return differ


@njit(cache=True, nogil=True)
def write_code(predicted, w, i, bits, code):  # type: ignore[no-untyped-def]
    """Set the class code of row `i` in the splits `bits` of word `w`.

    `predicted` has the shape (words, digits of a class code, n) and starts at 0.
    """
    for q in range(predicted.shape[1]):
        if (code >> q) & 1:
            predicted[w, q, i] |= bits


@njit(cache=True, nogil=True)
def place_folds(fold_of, folds, first):  # type: ignore[no-untyped-def]
    """Where the rows of each split start in the order (run, fold, row); at the end their number."""
    runs, n = fold_of.shape
    first[:] = 0
    for r in range(runs):
        for i in range(n):
            first[r * folds + fold_of[r, i] + 1] += 1
    for s in range(runs * folds):
        first[s + 1] += first[s]


@njit(cache=True, nogil=True)
def unpack_folds(predicted, fold_of, folds, first, out):  # type: ignore[no-untyped-def]
    """Codes of all rows in the order (run, fold, row)."""
    runs, n = fold_of.shape
    code = np.empty(n, dtype=np.int64)
    for r in range(runs):
        _codes_of(predicted, r, code)
        at = first[r * folds : (r + 1) * folds].copy()
        fold = fold_of[r]
        for i in range(n):
            f = fold[i]
            out[at[f]] = code[i]
            at[f] += 1


@njit(cache=True, nogil=True)
def unpack_tests(predicted, tests, first, out):  # type: ignore[no-untyped-def]
    """Codes of the rows `tests`, which start at `first[s]` for split s."""
    code = np.empty(predicted.shape[2], dtype=np.int64)
    for s in range(first.size - 1):
        _codes_of(predicted, s, code)
        for at in range(first[s], first[s + 1]):
            out[at] = code[tests[at]]


@njit(cache=True, nogil=True)
def _codes_of(predicted, split, code):  # type: ignore[no-untyped-def]
    w, b = split >> 6, np.uint64(split & 63)
    code[:] = 0
    for q in range(predicted.shape[1]):
        plane = predicted[w, q]
        for i in range(code.size):
            code[i] |= np.int64((plane[i] >> b) & np.uint64(1)) << q
