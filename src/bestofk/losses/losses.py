"""The table of losses, and the metric in which it is displayed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, missing_word
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk._base.results import json_ready
from bestofk.losses import axes
from bestofk.losses.columns import clean_names
from bestofk.splits.design import Design

if TYPE_CHECKING:
    import pandas as pd

Number = TypeVar("Number", float, Floats)
_DISPLAY_NAMES = {"zero-one": "error", "r2": "R²"}
DIMS = axes.DIMS
Mask = npt.NDArray[np.bool_]
PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """The user's metric, in which losses are displayed.

    Attributes
    ----------
    name : str
        ``"error"``, ``"accuracy"``, ``"AUC"``, ...
    higher_is_better : bool
        Whether the user's numbers are scores; the library uses losses, ``offset - score``.
    offset : float
        1 for scores whose maximum is 1, else 0.
    """

    name: str = "loss"
    higher_is_better: bool = False
    offset: float = 0.0

    def shown(self, loss: Number) -> Number:
        """Convert a loss to the user's metric."""
        return self.offset - loss if self.higher_is_better else loss

    def difference(self, losses: Number) -> Number:
        """Convert a difference of losses to the user's metric."""
        return 0.0 - losses if self.higher_is_better else losses  # avoids -0.0

    def interval(self, low: Number, high: Number) -> tuple[Number, Number]:
        """Convert the interval of a difference of losses to the user's metric."""
        return (0.0 - high, 0.0 - low) if self.higher_is_better else (low, high)

    @property
    def smallest(self) -> str:
        """``smallest`` for a loss, ``largest`` for a score: the word for the best mean."""
        return "largest" if self.higher_is_better else "smallest"

    @property
    def smaller(self) -> str:
        """``smaller`` for a loss, ``larger`` for a score: the word for a better mean."""
        return "larger" if self.higher_is_better else "smaller"

    @property
    def direction(self) -> str:
        """``smaller is better`` or ``larger is better``."""
        return f"{self.smaller} is better"

    @property
    def mean(self) -> str:
        """``mean error``."""
        return f"mean {self.name}"


def metric_of(loss_name: str) -> Metric:
    """Return the user's metric by the name of a loss: ``1 - accuracy`` comes from accuracy.

    Examples
    --------
    >>> metric_of("1 - accuracy")
    Metric(name='accuracy', higher_is_better=True, offset=1.0)
    >>> metric_of("zero-one").name, metric_of("-reward").higher_is_better
    ('error', True)
    """
    for start, offset in (("1 - ", 1.0), ("-", 0.0)):
        name = loss_name.removeprefix(start)
        if name != loss_name and name.strip():
            return Metric(name=_DISPLAY_NAMES.get(name, name), higher_is_better=True, offset=offset)
    return Metric(name=_DISPLAY_NAMES.get(loss_name, loss_name))


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Losses:
    """Losses of K learners on the same splits, with the names and the design.

    Parameters
    ----------
    values : array_like
        The losses: smaller is better.
    dims : sequence of str, optional
        What each axis of `values` is: some of ``"algorithm"``, ``"dataset"``, ``"run"``,
        ``"fold"`` and ``"repetition"``, each at most once and ``"algorithm"`` always;
        ``"instance"`` instead of ``"fold"`` for the instances of one test set. If None:
        (algorithm,), (algorithm, fold), (algorithm, run, fold) for one to three axes; with
        `datasets`, (algorithm, dataset), (algorithm, dataset, fold); all five for five axes. Four
        axes must be named.
    algorithms : sequence of str, optional
        The names of the learners; ``"0"``, ``"1"``, ... if None.
    datasets : sequence of str, optional
        The names of the data sets; ``"data"`` for one, else ``"0"``, ``"1"``, ... if None.
    design : Design or str, optional
        How the losses were produced. A kind (``"cv"``, ``"resample"``, ``"holdout"``, ``"loo"``,
        ``"bootstrap"``, ``"test-set"``, ``"scores"``) takes its sizes from the axes; ``"5x2"``
        or ``"10x10"`` also splits one row of runs x folds losses into runs. If None:
        cross-validation if there are several folds, else scores of unknown origin.
    missing : {"refuse", "drop", "allow"} or array_like of bool
        ``"refuse"``: no cell may be NaN. ``"allow"``: NaN marks a missing cell. ``"drop"``: leave
        out the data sets (or the runs or folds of a single data set) that some learner lacks. A
        mask marks missing cells explicitly.
    higher_is_better : bool
        True: `values` are scores and are converted to losses: ``1 - score`` if all scores are
        within [0, 1], else the negative.
    loss_name : str
        The name of the loss; a converted score becomes ``"1 - score"`` or ``"-score"``.
    account : sequence of str
        Sentences about the source, for example from a reader.
    subset_values : array_like, optional
        Losses of the runs on parts of the rows (`Design.subsets`), with the axes (algorithm,
        dataset, subset run, fold, repetition) and no missing cells. Means, tables, files and
        figures use only `values`.

    Attributes
    ----------
    values : ndarray
        Read-only floats in the order of `dims`, always on all five axes; NaN only if `missing`.
    dims : tuple of str
        ``("algorithm", "dataset", "run", "fold", "repetition")``.
    algorithms, datasets, design, loss_name
        As passed, or as inferred.
    missing : ndarray
        Read-only, True for missing cells.
    account : tuple of str
        How the source was read, in sentences.
    subset_values : ndarray or None
        Read-only, as passed.

    Examples
    --------
    >>> losses = Losses([[0.1, 0.2, 0.3], [0.2, 0.2, 0.5]], algorithms=["nn", "c4.5"])
    >>> losses
    Losses(2 learners x 1 data set, one run of 3-fold cross-validation)
    >>> losses.values.shape
    (2, 1, 1, 3, 1)
    >>> {name: round(mean, 3) for name, mean in losses.means().items()}
    {'nn': 0.2, 'c4.5': 0.3}
    """

    values: Floats
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    design: Design
    missing: Mask
    loss_name: str
    account: tuple[str, ...]
    subset_values: Floats | None

    def __init__(
        self,
        values: Any,
        *,
        dims: Sequence[str] | None = None,
        algorithms: Iterable[object] | None = None,
        datasets: Iterable[object] | None = None,
        design: Design | str | None = None,
        missing: Any = "refuse",
        higher_is_better: bool = False,
        loss_name: str = "loss",
        account: Sequence[str] = (),
        subset_values: Any = None,
    ) -> None:
        (loss_name,) = clean_names([loss_name], 1, "loss_name", "name")
        raw = axes.as_floats(values)
        mask = axes.as_mask(raw, missing)
        known = axes.known_dims(raw.ndim, dims, named_datasets=datasets is not None)
        array = axes.spread(raw, known)
        absent = axes.spread(mask, known)
        if design is None and axes.by_instances(dims):
            design = "test-set"
        array, absent, settled = axes.settle_design(array, absent, design)
        learners = clean_names(algorithms, array.shape[0], "algorithms", "learner")
        sets = clean_names(datasets, array.shape[1], "datasets", "data set", alone="data")
        axes.refuse_bad_cells(array, absent, learners, sets)
        sentences = [*account]
        if isinstance(missing, str) and missing == "drop" and absent.any():
            array, absent, sets, settled, note = axes.drop_incomplete(array, absent, sets, settled)
            sentences += [note] if note else []
        if not isinstance(higher_is_better, bool | np.bool_):
            raise ArgumentError(
                f"higher_is_better must be True or False; got {higher_is_better!r}."
            )
        parts = axes.as_subset_values(subset_values, array, settled)
        if higher_is_better:
            if parts is not None:
                raise ArgumentError("subset_values must be losses; got scores.")
            array, how, sign = axes.flip(array, absent)
            sentences.append(how)
            loss_name = f"{sign}{'score' if loss_name == 'loss' else loss_name}"
        array = np.where(absent, np.nan, array + 0.0)
        array.setflags(write=False)
        absent = np.array(absent)
        absent.setflags(write=False)
        sentences.append(axes.summary(learners, sets, settled, absent))
        for name, value in (
            ("values", array),
            ("algorithms", learners),
            ("datasets", sets),
            ("design", settled),
            ("missing", absent),
            ("loss_name", loss_name),
            ("account", tuple(sentences)),
            ("subset_values", parts),
        ):
            object.__setattr__(self, name, value)

    @property
    def dims(self) -> tuple[str, ...]:
        """The axes of `values`, always the same five."""
        return DIMS

    @property
    def metric(self) -> Metric:
        """The user's metric."""
        return metric_of(self.loss_name)

    @property
    def complete(self) -> bool:
        """Whether no cell is missing."""
        return not self.missing.any()

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of values, names, design and loss name."""
        import hashlib
        import json

        names = [name for name in Design.__dataclass_fields__ if name not in ("subsets", "groups")]
        design = [getattr(self.design, name) for name in names]
        design += [
            str(part) for part in (self.design.subsets, self.design.groups) if part is not None
        ]
        head = json.dumps(
            [self.algorithms, self.datasets, self.loss_name, design, self.values.shape]
        )
        digest = hashlib.sha256(head.encode("utf-8"))
        digest.update(np.where(self.missing, 0.0, self.values).astype("<f8").tobytes())
        digest.update(np.packbits(self.missing).tobytes())
        if self.subset_values is not None:
            digest.update(self.subset_values.astype("<f8").tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Losses):
            return NotImplemented
        return (
            self.algorithms == other.algorithms
            and self.datasets == other.datasets
            and self.design == other.design
            and self.loss_name == other.loss_name
            and np.array_equal(self.values, other.values, equal_nan=True)
            and (
                self.subset_values is None
                or other.subset_values is None
                or np.array_equal(self.subset_values, other.subset_values)
            )
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        k, d = len(self.algorithms), len(self.datasets)
        gap = "" if self.complete else f", {int(self.missing.sum())} cells missing"
        return (
            f"Losses({k} learner{'s' * (k != 1)} x {d} data set{'s' * (d != 1)}, "
            f"{self.design.describe()}{gap})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (
            np.array(self.values),
            self.algorithms,
            self.datasets,
            self.design,
            self.loss_name,
            self.account,
            None if self.subset_values is None else np.array(self.subset_values),
        )

    def _with(
        self,
        rows: list[int],
        columns: list[int],
        learners: tuple[str, ...],
        sets: tuple[str, ...],
    ) -> Losses:
        parts = self.subset_values
        return _again(
            self.values[rows][:, columns],
            learners,
            sets,
            self.design,
            self.loss_name,
            (*self.account[:-1], ""),
            None if parts is None else parts[rows][:, columns],
        )

    def select(
        self,
        *,
        algorithms: str | Iterable[str] | None = None,
        datasets: str | Iterable[str] | None = None,
    ) -> Losses:
        """Return the losses of some learners and data sets, in the order of their names."""
        rows, learners = _positions(algorithms, self.algorithms, "learner")
        columns, sets = _positions(datasets, self.datasets, "data set")
        return self._with(rows, columns, learners, sets)

    def reorder(self, names: Sequence[str]) -> Losses:
        """Return the losses with the learners in the order of `names`."""
        rows, learners = _positions(names, self.algorithms, "learner")
        if len(learners) != len(self.algorithms):
            absent = next(name for name in self.algorithms if name not in learners)
            raise ArgumentError(f"names must contain every learner once; {absent!r} is missing.")
        return self._with(rows, list(range(len(self.datasets))), learners, self.datasets)

    def _mean(self, axis: tuple[int, ...], missing: str, where: str) -> Floats:
        """Return the mean over `axis`, with missing cells handled as `missing` says."""
        missing = missing_word(missing)
        if self.complete:
            full: Floats = self.values.mean(axis=axis)
            return full
        if missing == "refuse":
            at = axes.cell_words(np.argwhere(self.missing)[0], self.algorithms, self.datasets)
            raise ArgumentError(
                f"{where}: {int(self.missing.sum())} of {self.missing.size} cells are missing, "
                f"including {at}; ",
                use(missing="allow"),
                " averages the cells that each learner has, ",
                use(missing="drop"),
                " the cells that all learners have.",
            )
        absent = self.missing
        if missing == "drop":
            absent = np.broadcast_to(absent.any(axis=0, keepdims=True), absent.shape)
        count = (~absent).sum(axis=axis)
        if not count.all():
            first = np.argwhere(count == 0)[0]
            raise ArgumentError(
                f"{where}: nothing is left to average for learner "
                f"{self.algorithms[int(first[0])]!r}"
                + (f" on data set {self.datasets[int(first[1])]!r}" if 1 not in axis else "")
                + "."
            )
        total = np.where(absent, 0.0, self.values).sum(axis=axis)
        mean: Floats = total / count
        return mean

    def means(self, *, missing: str = "refuse") -> Mapping[str, float]:
        """Return the mean loss by learner.

        Parameters
        ----------
        missing : str
            ``"refuse"``: raise an error if a cell is missing. ``"allow"``: average the cells that
            each learner has. ``"drop"``: average the cells that all learners have.
        """
        mean = self._mean((1, 2, 3, 4), missing, "means")
        return dict(zip(self.algorithms, mean.tolist(), strict=True))

    def by_dataset(self, *, missing: str = "refuse") -> Floats:
        """Return mean losses of shape (K, data sets); `missing` as in `means`."""
        return self._mean((2, 3, 4), missing, "by_dataset")

    def by_fold(self, dataset: str | None = None, *, missing: str = "refuse") -> Floats:
        """Return losses of shape (K, runs, folds) on one data set, averaged over repetitions."""
        if dataset is None and len(self.datasets) > 1:
            raise ArgumentError(
                f"dataset must be named if there are several; got None for {len(self.datasets)} "
                f"data sets, the first of which is {self.datasets[0]!r}."
            )
        selected = self if dataset is None else self.select(datasets=[dataset])
        mean = selected._mean((4,), missing, "by_fold")
        folds: Floats = mean[:, 0]
        return folds

    def explain(self) -> str:
        """Describe the table and how its source was read, in sentences."""
        return " ".join(self.account)

    def to_dict(self) -> dict[str, Any]:
        """Return names, design and losses for strict JSON.

        A missing cell is null.
        """
        return {
            "algorithms": list(self.algorithms),
            "datasets": list(self.datasets),
            "dims": list(DIMS),
            "loss": self.loss_name,
            "design": self.design.describe(),
            "values": json_ready(self.values),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per cell: its five coordinates and its loss.

        Runs, folds and repetitions count from 1. A missing cell has a row with NaN.
        """
        import pandas as pd

        where = np.indices(self.values.shape).reshape(5, -1)
        names = (np.array(self.algorithms, dtype=object), np.array(self.datasets, dtype=object))
        return pd.DataFrame(
            {
                "algorithm": names[0][where[0]],
                "dataset": names[1][where[1]],
                "run": where[2] + 1,
                "fold": where[3] + 1,
                "repetition": where[4] + 1,
                "loss": self.values.ravel(),
            }
        )

    def to_csv(self, path: PathLike, *, layout: str = "long") -> None:
        """Write comma-separated text; see `bestofk.losses.writing`."""
        from bestofk.losses.writing import write_delimited

        write_delimited(self, path, layout=layout, delimiter=",")

    def to_tsv(self, path: PathLike, *, layout: str = "long") -> None:
        """Write tab-separated text; see `bestofk.losses.writing`."""
        from bestofk.losses.writing import write_delimited

        write_delimited(self, path, layout=layout, delimiter="\t")

    def to_parquet(self, path: PathLike, *, layout: str = "long") -> None:
        """Write Parquet; see `bestofk.losses.writing`."""
        from bestofk.losses.writing import write_parquet

        write_parquet(self, path, layout=layout)

    def to_jsonl(self, path: PathLike, *, layout: str = "long") -> None:
        """Write one JSON object per line; see `bestofk.losses.writing`."""
        from bestofk.losses.writing import write_jsonl

        write_jsonl(self, path, layout=layout)

    def to_arff(self, path: PathLike, *, layout: str = "long") -> None:
        """Write ARFF; see `bestofk.losses.writing`."""
        from bestofk.losses.writing import write_arff

        write_arff(self, path, layout=layout)


def _again(
    values: Floats,
    algorithms: tuple[str, ...],
    datasets: tuple[str, ...],
    design: Design,
    loss_name: str,
    account: tuple[str, ...],
    subset_values: Floats | None = None,
) -> Losses:
    """Make a table from the parts of another, with a new last sentence of the account."""
    return Losses(
        values,
        dims=DIMS,
        algorithms=algorithms,
        datasets=datasets,
        design=design,
        missing="allow",
        loss_name=loss_name,
        account=account[:-1],
        subset_values=subset_values,
    )


def _positions(
    requested: str | Iterable[str] | None, names: tuple[str, ...], kind: str
) -> tuple[list[int], tuple[str, ...]]:
    if requested is None:
        return list(range(len(names))), names
    chosen = (requested,) if isinstance(requested, str) else tuple(requested)
    if not chosen:
        raise ArgumentError(f"at least one {kind} must be selected; got none.")
    at = {name: position for position, name in enumerate(names)}
    for index, name in enumerate(chosen):
        if name not in at:
            raise UnknownNameError(kind, name, names)
        if name in chosen[:index]:
            raise ArgumentError(f"every {kind} must be named once; got {name!r} twice.")
    return [at[name] for name in chosen], chosen
