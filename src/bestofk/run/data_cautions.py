"""Cautions about the data and learners of a comparison, each only if these data show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import use
from bestofk._base.formatting import joined, shortened
from bestofk.data.columns import MIN_ROWS_TO_JUDGE
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Codes, is_sparse
from bestofk.learners.preparation import innermost, last_step, steps_of
from bestofk.learners.registry import LEARNERS
from bestofk.run.live import Live
from bestofk.splits.plans import YOUR_SPLITS
from bestofk.splits.splits import Splits

MIN_UNTRAINED_SHARE = 0.01
"""Share of test rows with untrained classes from which a caution says so."""
MIN_SCALE_RATIO = 100.0
"""Ratio of the standard deviations of two columns from which scaling matters."""
MIN_MAJORITY = 0.95
"""Share of the most frequent class from which accuracy says little."""
_UNSTRATIFIED = (YOUR_SPLITS, "predefined", "time", "group")
"""How the names of plans begin whose folds may lack a class."""
_NEED_SCALES = (
    "SVC", "NuSVC", "LinearSVC", "SVR", "NuSVR", "LinearSVR", "KNeighborsClassifier",
    "KNeighborsRegressor", "RadiusNeighborsClassifier", "RadiusNeighborsRegressor",
    "MLPClassifier", "MLPRegressor", "SGDClassifier", "SGDRegressor", "LogisticRegression",
    "RidgeClassifier", "Ridge", "Lasso", "ElasticNet", "KernelRidge",
)  # fmt: skip
"""Classes of scikit-learn whose models depend on the scale of the columns."""
_SCALERS = ("Scaler", "Transformer", "Normalizer", "Discretizer")
"""How the names of steps end after which the scale of the columns is no longer the user's."""


def data_cautions(live: Live) -> tuple[str, ...]:
    """Return one sentence per caution."""
    cautions: list[str] = []
    for data, splits in zip(live.datasets, live.splits, strict=True):
        if data.task == "classification":
            cautions += _untrained_classes(data, splits)
            if live.metric.name in ("zero-one", "accuracy") and len(live.metrics) == 1:
                cautions += _rare_classes(data)
        cautions += _scales(live.learners, data)
    return (*cautions, *_fitted(live.learners))


def _untrained_classes(data: DataSet, splits: Splits) -> Iterator[str]:
    """Say that test rows have classes that no training row of their split has."""
    if not splits.spec.startswith(_UNSTRATIFIED):
        return
    codes, classes = data.labels()
    tested = untrained = 0
    for _, _, train, test in splits:
        trained = np.bincount(codes[train], minlength=len(classes)) > 0
        tested += len(test)
        untrained += int(np.count_nonzero(~trained[codes[test]]))
    if untrained >= max(1.0, MIN_UNTRAINED_SHARE * tested):
        advice = (
            f"the plan kfold:{splits.folds} shuffles and stratifies the rows"
            if splits.spec == YOUR_SPLITS and splits.folds > 1
            else "merge rare classes"
        )
        yield (
            f"{untrained / tested:.0%} of the test rows of {data.name!r} have a class that no "
            f"training row of their split has, so no learner can predict them: {advice}."
        )


def _rare_classes(data: DataSet) -> Iterator[str]:
    """Say that always predicting the most frequent class is nearly always right."""
    codes, classes = data.labels()
    counts = np.bincount(codes, minlength=len(classes))
    share = counts.max() / len(codes)
    if share >= MIN_MAJORITY:
        metrics = "balanced_accuracy or average_precision" if len(classes) == 2 else (
            "balanced_accuracy"
        )  # fmt: skip
        yield (
            f"{share:.1%} of the rows of {data.name!r} are {classes.tolist()[counts.argmax()]!r}, "
            f"so accuracy says little about the other rows: use the metric {metrics}."
        )


def _scales(learners: Mapping[str, Any], data: DataSet) -> Iterator[str]:
    """Say that learners depend on the scale of columns whose scales differ a lot."""
    unscaled = {
        name: one for name, one in learners.items() if name not in LEARNERS and _is_unscaled(one)
    }
    if not unscaled or data.whole:
        return
    numeric = [column for column, kind in data.kinds.items() if kind == "numeric"]
    deviations = data.X[numeric].std().astype(float)
    deviations = deviations[deviations > 0]
    if len(deviations) < 2 or deviations.max() < MIN_SCALE_RATIO * deviations.min():
        return
    names = list(unscaled)
    code = " ".join(repr(last_step(unscaled[names[0]])).split())
    yield (
        f"{joined(names)} {'depends' if len(names) == 1 else 'depend'} on the scale of the "
        f"columns, and the values of {str(deviations.idxmax())!r} vary "
        f"{deviations.max() / deviations.min():,.0f} times as much as those of "
        f"{str(deviations.idxmin())!r}: use make_pipeline(StandardScaler(), {code})."
    )


def _is_unscaled(estimator: Any) -> bool:
    """Return whether a learner depends on scales and no step before it changes them."""
    if type(innermost(estimator)).__name__ not in _NEED_SCALES:
        return False
    while True:
        steps = [type(step).__name__ for _, step in steps_of(estimator)]
        if any(step.endswith(_SCALERS) for step in steps):
            return False
        inner = getattr(last_step(estimator), "estimator", None)
        if inner is None:
            return True
        estimator = inner


def _fitted(learners: Mapping[str, Any]) -> Iterator[str]:
    """Say that fitted models are fitted again."""
    names = [name for name, one in learners.items() if _is_fitted(last_step(one))]
    if names:
        yield (
            f"{joined(names)} {'was' if len(names) == 1 else 'were'} fitted before, and compare "
            "fits every learner again in each fold: compare_fitted scores fitted models as they "
            "are."
        )


def _is_fitted(estimator: Any) -> bool:
    """Return whether a learner has attributes that scikit-learn's learners get when fitted."""
    names = getattr(estimator, "__dict__", {})
    return any(name.endswith("_") and not name.startswith("_") for name in names)


# Columns: leaks and texts

FIRST_ROWS = 50
"""Rows that are compared with the target first, because most columns differ from it there."""


def column_cautions(data: DataSet) -> tuple[str, ...]:
    """Return a sentence about each kind of column that may make the comparison misleading.

    Examples
    --------
    >>> import pandas as pd
    >>> from bestofk.data import read_data
    >>> frame = pd.DataFrame({"size": [1.5, 2.5, 3.5, 4.0] * 3, "left": [0, 1, 1, 0] * 3})
    >>> print(*column_cautions(read_data(frame, ["no", "yes", "yes", "no"] * 3)))
    'left' gives the target away: ...
    """
    if data.whole or data.n < MIN_ROWS_TO_JUDGE:
        return ()
    target = _numbers(data.y)
    leaks, notes = [], []
    for name in map(str, data.X.columns):
        cells = data.X[name]
        numbers = _numbers(cells)
        if _gives_away(numbers, target, data.task):
            leaks.append(name)
        elif hasattr(cells, "cat") and 2 * cells.nunique() > data.n:
            notes.append(
                f"{name!r} has {cells.nunique():,} different texts in {data.n:,} rows and is read "
                "as a category, which says little about other rows: leave it out with "
                f"{use(columns={name: 'ignore'})}, or write its numbers without units."
            )
    if leaks:
        names = shortened(list(map(repr, leaks)))
        notes.insert(
            0,
            f"{names} {'gives' if len(leaks) == 1 else 'give'} the target away: every value "
            "belongs to one value of the target. Leave it out if it is not known when you predict "
            f"({use(columns={leaks[0]: 'ignore'})}).",
        )
    return tuple(notes)


def _numbers(cells: Any) -> npt.NDArray[np.float64]:
    """Return numbers, or the codes of categories with NaN for missing cells."""
    if hasattr(cells, "cat"):
        codes: npt.NDArray[np.float64] = cells.cat.codes.to_numpy(dtype=np.float64)
        codes[codes < 0] = np.nan
        return codes
    return np.asarray(cells, dtype=np.float64)


def _gives_away(cells: npt.NDArray[np.float64], target: npt.NDArray[np.float64], task: str) -> bool:
    """Return whether a column is the target under other names or in another unit."""
    same = _is_line if task == "regression" else _one_to_one
    first = slice(FIRST_ROWS)
    if np.isnan(cells).any() or cells.min() == cells.max():
        return False
    return same(cells[first], target[first]) and same(cells, target)


def _one_to_one(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> bool:
    values = len(np.unique(second))
    if len(np.unique(first)) != values:
        return False
    return len(np.unique(np.stack([first, second]), axis=1).T) == values


def _is_line(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> bool:
    """Return whether one column is a multiple of the other plus a constant."""
    x, y = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return scale > 0 and abs(float(x @ y)) >= scale * (1 - 1e-12)


# Copies of rows

MIN_SHARE = 0.01
"""Ignore repeated rows up to this share of all rows; their effect is negligible."""
EXCESS = 3.0
"""Repeated rows are copies if there are this many times more than coincidence explains."""
MAX_SHORT = 4
"""Texts with at most this many words (sparse rows: numbers) can be equal by coincidence."""
MAX_JUDGED_ROWS = 20_000
MAX_JUDGED_COLUMNS = 200
Hashes = npt.NDArray[np.uint64]


def find_copies(data: DataSet) -> Codes | None:
    """Return a number for each row that equals that of its copies; None if there are few copies.

    Few are at most 1 percent. Independent rows can be equal if all columns are coarse, as in small
    tables of categories.
    Let a column be left out. The pairs of rows that agree in all other columns show how often
    rows agree by coincidence in this column, too: as often as other pairs of rows do. If there
    are far more equal pairs than every column makes likely, the rows are copies. Texts and sparse
    rows are copies unless they are very short.

    Examples
    --------
    >>> import numpy as np
    >>> from bestofk.data import read_data
    >>> rows = np.random.default_rng(0).normal(size=(20, 2))
    >>> twice = read_data(np.vstack([rows, rows]), [0, 1] * 20)
    >>> int(find_copies(twice).max())
    19
    >>> find_copies(read_data(rows, [0, 1] * 10)) is None
    True
    """
    columns, total = _columns(data), np.zeros(data.n, dtype=np.uint64)
    for number, column in enumerate(columns):
        total += _hashes(column, number)
        # more columns only tell more rows apart, so a few of them may be enough
        last = number == len(columns) - 1
        if last or number & (number - 1) == 0:
            distinct, codes = np.unique(total, return_inverse=True)
            if data.n - len(distinct) <= MIN_SHARE * data.n:
                return None
    codes = codes.reshape(-1).astype(np.int64)
    if not data.whole:
        return None if _coincidental(columns, data.n) else codes
    repeated = np.flatnonzero(np.bincount(codes)[codes] > 1)
    if is_sparse(data.X):
        sizes = np.diff(data.X.indptr)[repeated]
    else:
        sizes = np.array([len(columns[0][row].split()) for row in repeated])
    return None if np.median(sizes) <= MAX_SHORT else codes


def _coincidental(columns: list[Any], n: int) -> bool:
    rows = np.arange(n)
    if n > MAX_JUDGED_ROWS:
        rows = np.random.default_rng(0).choice(n, MAX_JUDGED_ROWS, replace=False)
    n, hashes = len(rows), [_hashes(column, k)[rows] for k, column in enumerate(columns)]
    total = sum(hashes, np.zeros(n, dtype=np.uint64))
    equal, expected = _pairs(total), 0.0
    step = -(-len(hashes) // MAX_JUDGED_COLUMNS)
    # the target is the last column
    for column in (*hashes[:-1:step], hashes[-1]):
        other_pairs = n * (n - 1) / 2 - equal
        agree = (_pairs(column) - equal) / other_pairs if other_pairs else 1.0
        if agree < 1:
            differ_here_only = _pairs(total - column) - equal
            expected = max(expected, differ_here_only * agree / (1 - agree))
    return equal <= EXCESS * expected


def _pairs(hashes: Hashes) -> float:
    """Return the number of pairs of rows with equal hashes."""
    _, counts = np.unique(hashes, return_counts=True)
    return float((counts * (counts - 1.0) / 2).sum())


def _columns(data: DataSet) -> list[Any]:
    """Return the columns of the rows; the target is the last one."""
    if not data.whole:
        return [*(data.X.iloc[:, place] for place in range(data.d)), data.y]
    if not is_sparse(data.X):
        return [[str(text) for text in data.X], data.y]
    bounds = zip(data.X.indptr[:-1], data.X.indptr[1:], strict=True)
    cells = [f"{data.X.indices[a:b].tolist()} {data.X.data[a:b].tolist()}" for a, b in bounds]
    return [cells, data.y]


def _hashes(cells: Any, column: int) -> Hashes:
    """Return hashes that differ between columns, because those of a row are added."""
    import pandas as pd

    values = pd.Series(cells)
    if values.dtype.kind in "iuf":
        values = values.astype(np.float64) + 0.0  # turn -0.0 into 0.0
    hashes: Any = pd.util.hash_pandas_object(values, index=False).to_numpy()
    # SplitMix64, because equal values in other columns must not cancel out
    bits: Hashes = hashes + np.uint64(0x9E3779B97F4A7C15 * (column + 1) % 2**64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


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
