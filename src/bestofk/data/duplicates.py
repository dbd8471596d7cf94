"""Rows that occur more than once: copies, or coincidences of coarse values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.formatting import counted
from bestofk._base.results import ready_to_print
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Codes, is_sparse

MIN_SHARE = 0.01
"""Ignore repeated rows up to this share of all rows; their effect is negligible."""
EXCESS = 3.0
"""Repeated rows are copies if there are this many times more than coincidence explains."""
MAX_SHORT = 4
"""Texts with at most this many words (sparse rows: numbers) can be equal by coincidence."""
MAX_JUDGED_ROWS = 20_000
MAX_JUDGED_COLUMNS = 200
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Duplicates:
    """Rows with equal features and target.

    - `codes` (n,): Equal rows have the same number.
    - `distinct`: Number of different rows.
    - `coincidental`: The values are so coarse that independent rows are often equal.
    """

    codes: Codes
    distinct: int
    coincidental: bool

    @property
    def extra(self) -> int:
        """Rows that repeat another row."""
        return len(self.codes) - self.distinct

    @ready_to_print
    def explain(self) -> str:
        """Say how many rows are repeated."""
        return (
            f"{counted(self.extra, 'row')} of {len(self.codes):,} "
            f"{'repeats' if self.extra == 1 else 'repeat'} another row exactly"
        )


def find_duplicates(data: DataSet) -> Duplicates | None:
    """Return the rows that occur more than once; None if they are at most 1 percent.

    Independent rows can be equal if all columns are coarse, as in small tables of categories.
    Let a column be left out. The pairs of rows that agree in all other columns show how often
    rows agree by coincidence in this column, too: as often as other pairs of rows do. If there
    are far more equal pairs than every column makes likely, the rows are copies. Texts and sparse
    rows are copies unless they are very short.

    Examples
    --------
    >>> import numpy as np
    >>> from bestofk.data import as_dataset
    >>> rows = np.random.default_rng(0).normal(size=(20, 2))
    >>> twice = as_dataset(np.vstack([rows, rows]), [0, 1] * 20)
    >>> found = find_duplicates(twice)
    >>> found.distinct, found.coincidental
    (20, False)
    >>> find_duplicates(as_dataset(rows, [0, 1] * 10)) is None
    True
    """
    total = np.zeros(data.n, dtype=np.uint64)
    for column in _hashed_columns(data):
        total += column
    _, codes = np.unique(total, return_inverse=True)
    codes = codes.reshape(-1).astype(np.int64)
    distinct = int(codes.max()) + 1
    if data.n - distinct <= MIN_SHARE * data.n:
        return None
    is_repeated = np.bincount(codes)[codes] > 1
    coincidental = _are_short(data, is_repeated) if data.whole else _coincidental(data)
    return Duplicates(codes=codes, distinct=distinct, coincidental=coincidental)


def _are_short(data: DataSet, which: npt.NDArray[np.bool_]) -> bool:
    """Return whether most of these texts have few words, or sparse rows few numbers."""
    rows = np.flatnonzero(which)[:MAX_JUDGED_ROWS]
    if is_sparse(data.X):
        sizes = np.diff(data.X.indptr)[rows]
    else:
        texts = list(data.X)
        sizes = np.array([len(str(texts[row]).split()) for row in rows.tolist()])
    return bool(np.median(sizes) <= MAX_SHORT)


def _coincidental(data: DataSet) -> bool:
    sample = np.arange(data.n)
    if data.n > MAX_JUDGED_ROWS:
        sample = np.random.default_rng(0).choice(data.n, MAX_JUDGED_ROWS, replace=False)
    hashes = [column[sample] for column in _hashed_columns(data)]
    n = len(sample)
    total = np.zeros(n, dtype=np.uint64)
    for column in hashes:
        total += column
    equal = _pairs(total)
    step = -(-len(hashes) // MAX_JUDGED_COLUMNS)
    expected = 0.0
    # the target is the last column
    for column in (*hashes[:-1:step], hashes[-1]):
        other_pairs = n * (n - 1) / 2 - equal
        agree = (_pairs(column) - equal) / other_pairs if other_pairs else 1.0
        differ_here_only = _pairs(total - column) - equal
        if agree < 1:
            expected = max(expected, differ_here_only * agree / (1 - agree))
    return equal <= EXCESS * expected


def _pairs(hashes: Hashes) -> float:
    """Return the number of pairs of rows with equal hashes."""
    _, counts = np.unique(hashes, return_counts=True)
    return float((counts * (counts - 1.0) / 2).sum())


def _hashed_columns(data: DataSet) -> Iterator[Hashes]:
    """Yield a hash of every cell, column by column; the target is the last column."""
    columns: Iterable[Any]
    if not data.whole:
        columns = (data.X.iloc[:, position] for position in range(data.X.shape[1]))
    elif is_sparse(data.X):
        columns = (_sparse_rows(data.X),)
    else:
        columns = (np.array([str(text) for text in data.X], dtype=object),)
    for number, cells in enumerate(chain(columns, (data.y,))):
        yield _hashed(cells, number)


def _hashed(cells: Any, column: int) -> Hashes:
    """Return hashes that differ between columns, because those of a row are added."""
    kind = getattr(cells, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "iuf":
        numbers = np.asarray(cells, dtype=np.float64) + 0.0  # turn -0.0 into 0.0
        numbers[np.isnan(numbers)] = np.nan
        bits: Hashes = numbers.view(np.uint64)
    else:
        import pandas as pd

        hashes = pd.util.hash_pandas_object(pd.Series(cells), index=False)
        bits = hashes.to_numpy().astype(np.uint64)
    # SplitMix64
    bits = bits + np.uint64(0x9E3779B97F4A7C15 * (column + 1) % 2**64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _sparse_rows(X: Any) -> npt.NDArray[Any]:
    rows = X.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    rows.sort_indices()
    texts = np.empty(rows.shape[0], dtype=object)
    for row, (start, end) in enumerate(zip(rows.indptr[:-1], rows.indptr[1:], strict=True)):
        indices = rows.indices[start:end].astype(np.int64).tobytes()
        texts[row] = repr((indices, rows.data[start:end].astype(np.float64).tobytes()))
    return texts


def joined_groups(first: Any, second: Codes) -> Codes:
    """Return groups in which rows are together if they are in either grouping.

    Examples
    --------
    >>> joined_groups(["a", "a", "b", "c"], np.array([0, 1, 1, 2])).tolist()
    [0, 0, 0, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    _, left = np.unique(np.asarray(first), return_inverse=True)
    _, right = np.unique(np.asarray(second), return_inverse=True)
    left, right = left.reshape(-1), right.reshape(-1)
    n_left, n = int(left.max()) + 1, len(left)
    size = n_left + int(right.max()) + 1
    links = coo_array((np.ones(n), (left, n_left + right)), shape=(size, size))
    _, component = connected_components(links, directed=False)
    _, codes = np.unique(component[left], return_inverse=True)
    return codes.reshape(-1).astype(np.int64)
