"""The table of losses, and the metric in which it is displayed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, missing_word, refuse
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk._base.results import json_ready, ready_to_print
from bestofk.splits.design import KINDS, Design

if TYPE_CHECKING:
    import pandas as pd

DIMS = ("learner", "dataset", "run", "fold", "repetition")
INSTANCE = "instance"
GAPS = ("refuse", "allow")
"""How a table treats missing cells."""

_GUESSES: dict[tuple[int, bool], tuple[str, ...]] = {
    (1, False): ("learner",),
    (2, False): ("learner", "fold"),
    (3, False): ("learner", "run", "fold"),
    (1, True): ("learner",),
    (2, True): ("learner", "dataset"),
    (3, True): ("learner", "dataset", "fold"),
    (5, False): DIMS,
    (5, True): DIMS,
}


class Fresh(NamedTuple):
    """An array without other owners, which needs no copy."""

    array: Floats


def as_floats(values: Any) -> Floats:
    """Return `values` as a new array of float64 with at least one axis and one cell."""
    if isinstance(values, Fresh):
        return values.array
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse("values", "an array of numbers", values) from None
    if array.ndim < 1 or array.size == 0:
        raise ArgumentError(
            f"values must hold at least one loss of one learner; got shape {array.shape}."
        )
    return array


def as_mask(array: Floats, missing: Any) -> Mask:
    """Return which cells are declared missing."""
    if missing is None or isinstance(missing, str):
        if missing_word(missing, GAPS) == "refuse":
            return np.zeros(array.shape, dtype=np.bool_)
        return np.isnan(array)
    mask = np.asarray(missing)
    if mask.dtype != np.bool_ or mask.shape != array.shape:
        raise ArgumentError(
            f"missing must be an array of bool of the shape {array.shape} of values; got "
            f"{mask.dtype} of shape {mask.shape}."
        )
    return mask


def known_dims(ndim: int, dims: Sequence[str] | None, *, named_datasets: bool) -> tuple[str, ...]:
    """Return what each axis is: as stated, or by the number of axes."""
    if dims is None:
        guess = _GUESSES.get((ndim, named_datasets))
        if guess is None:
            raise ArgumentError(
                f"dims must say what the {ndim} axes of values are, out of {', '.join(DIMS)}; "
                "got None."
            )
        return guess
    known = tuple(dims)
    if "fold" not in known:
        known = tuple("fold" if name == INSTANCE else name for name in known)
    wrong = [name for name in known if name not in DIMS]
    if wrong or len(set(known)) != len(known) or "learner" not in known:
        raise refuse("dims", f"'learner' and others out of {', '.join(DIMS)}, each once", known)
    if len(known) != ndim:
        raise ArgumentError(
            f"dims must name each of the {ndim} axes of values; got {len(known)} names."
        )
    return known


def spread(array: npt.NDArray[Any], known: tuple[str, ...]) -> npt.NDArray[Any]:
    """Return `array` with all five axes in order; absent axes have size 1."""
    order = sorted(range(len(known)), key=lambda axis: DIMS.index(known[axis]))
    turned = array.transpose(order)
    return turned.reshape(tuple(array.shape[known.index(n)] if n in known else 1 for n in DIMS))


_DESIGN = re.compile(
    r"(\d{1,9})x(\d{1,9})|(kfold|time|bootstrap|seeds):(\d{1,9})|resample:(\d{1,9}):(0?\.\d+)"
)
_ONE_RUN = (
    "resample", "bootstrap", "time", "seeds", "test-set", "test-set-auc", "test-set-metric"
)  # fmt: skip
"""Kinds of designs whose splits are the folds of one run."""


def settle_design(
    array: Floats, absent: Mask, design: Design | str | None, *, dims_stated: bool = True
) -> tuple[Floats, Mask, Design]:
    """Check or make the design of five axes; ``"5x2"`` splits one row of folds into runs.

    `dims_stated` says that the user named the axes, which states one run of folds.
    """
    k, d, runs, folds, repetitions = array.shape
    if isinstance(design, Design):
        if (design.runs, design.folds, design.repetitions) != (runs, folds, repetitions):
            raise ArgumentError(
                f"design must have the {runs} runs, {folds} folds and {repetitions} repetitions "
                f"of values; got {design.runs}, {design.folds} and {design.repetitions}."
            )
        return array, absent, design
    kind, grid, fraction = "cv" if folds > 1 else "scores", (runs, folds), None
    if design is not None:
        kind = str(design).strip().lower()
        form = _DESIGN.fullmatch(kind)
        if form is None:
            grid = (1, runs * folds) if kind in _ONE_RUN else grid
        elif form[1]:
            kind, grid = "cv", (int(form[1]), int(form[2]))
        else:
            kind, grid = form[3] or "resample", (1, int(form[4] or form[5]))
            fraction = float(form[6]) if form[6] else None
        kind = "cv" if kind == "kfold" else kind
        if kind not in KINDS:
            raise refuse(
                "design",
                "a Design, a form such as '10x10', 'kfold:10', 'resample:30:0.2' or 'time:12', or "
                f"one of {', '.join(KINDS)}",
                design,
            )
    if grid != (runs, folds):
        if grid[0] * grid[1] != runs * folds or 1 not in (runs, grid[0]):
            raise ArgumentError(
                f"design must fit the {runs} runs of {folds} folds of values; got {design!r}."
            )
        shape = (k, d, *grid, repetitions)
        array, absent = array.reshape(shape), absent.reshape(shape)
    settled = Design(
        kind=kind, runs=grid[0], folds=grid[1], repetitions=repetitions, test_fraction=fraction,
        assumed=design is None and not dims_stated,
    )  # fmt: skip
    return array, absent, settled


def as_subset_values(losses: Any, array: Floats, design: Design) -> Floats | None:
    """Check the losses of the runs on parts of the rows against the design; read-only."""
    if losses is None and not design.nested_runs:
        return None
    if losses is None or not design.nested_runs:
        raise ArgumentError("subset_values and a design with nested_runs need each other.")
    values = as_floats(losses)
    want = (*array.shape[:2], design.nested_runs, 2, array.shape[4])
    if values.shape != want:
        raise ArgumentError(f"subset_values must have the shape {want}; got {values.shape}.")
    if not np.isfinite(values).all():
        raise ArgumentError("subset_values must be finite in every cell.")
    values.setflags(write=False)
    return values


def cell_words(at: npt.NDArray[Any], learners: Sequence[str], sets: Sequence[str]) -> str:
    """Describe a cell in words, counted from 1."""
    a, d, run, fold, repetition = (int(i) for i in at)
    return (
        f"{learners[a]!r} on {sets[d]!r} (run {run + 1}, fold {fold + 1}, "
        f"repetition {repetition + 1})"
    )


def refuse_bad_cells(
    array: Floats, absent: Mask, learners: Sequence[str], sets: Sequence[str]
) -> None:
    """Raise at the first cell that is neither finite nor declared missing."""
    bad = ~np.isfinite(array) & ~absent
    if not bad.any():
        if absent.all():
            raise ArgumentError("values must hold at least one loss; every cell is missing.")
        return
    at = np.argwhere(bad)[0]
    value = array[tuple(at)]
    where = cell_words(at, learners, sets)
    if np.isnan(value):
        raise ArgumentError(
            f"values must be numbers; got NaN for {where} ({int(bad.sum())} of {bad.size}): pass ",
            use(missing="allow"),
            " if that cell is missing.",
        )
    raise ArgumentError(f"values must be finite; got {value} for {where}.")


def flip(array: Floats, absent: Mask) -> tuple[Floats, str, str]:
    """Turn scores into losses; also return a sentence on it and the prefix of the loss name."""
    present = array[~absent] if absent.any() else array
    if present.min() >= 0.0 and present.max() <= 1.0:
        return np.subtract(1.0, array, out=array), "Every score became the loss 1 - score.", "1 - "
    return np.negative(array, out=array), "Every score became its negative.", "-"


def summary(learners: Sequence[str], sets: Sequence[str], design: Design, absent: Mask) -> str:
    """Describe learners, data sets and design in one sentence."""
    k, d = len(learners), len(sets)
    gap = int(absent.sum())
    end = f", {gap} of {absent.size} cells missing" if gap else ""
    noun = "model" if design.on_test_set else "learner"
    return (
        f"Losses of {k} {noun}{'s' * (k != 1)} on {d} data set{'s' * (d != 1)}: "
        f"{design.describe()}{end}."
    )


Number = TypeVar("Number", float, Floats)
_DISPLAY_NAMES = {"zero-one": "error", "r2": "R²"}
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """The user's metric, in which losses are displayed.

    - `name`: ``"error"``, ``"accuracy"``, ``"AUC"``, ...
    - `higher_is_better`: Whether the user's numbers are scores; the library uses losses, ``offset -
      score``.
    - `offset`: 1 for scores whose maximum is 1, else 0.
    """

    name: str = "loss"
    higher_is_better: bool = False
    offset: float = 0.0

    def shown(self, loss: Number) -> Number:
        """Convert a loss to the user's metric, without the rounding error of the difference."""
        if not self.higher_is_better:
            return loss
        shown = self.offset - loss
        if self.offset == 0.0:
            return shown
        if isinstance(shown, float):
            return round(float(shown), 15) + 0.0
        return np.round(shown, 15) + 0.0

    def difference(self, losses: Number) -> Number:
        """Convert a difference of losses to the user's metric."""
        return 0.0 - losses if self.higher_is_better else losses  # avoids -0.0

    def interval(self, low: Number, high: Number) -> tuple[Number, Number]:
        """Convert the interval of a difference of losses to the user's metric."""
        return (0.0 - high, 0.0 - low) if self.higher_is_better else (low, high)

    @property
    def smallest(self) -> str:
        """``lowest`` for a loss, ``highest`` for a score: the word for the best mean."""
        return "highest" if self.higher_is_better else "lowest"

    @property
    def smaller(self) -> str:
        """``lower`` for a loss, ``higher`` for a score: the word for a better mean."""
        return "higher" if self.higher_is_better else "lower"

    @property
    def direction(self) -> str:
        """``lower is better`` or ``higher is better``."""
        return f"{self.smaller} is better"

    @property
    def mean(self) -> str:
        """``mean error``; the name itself if it says that it is a mean."""
        return self.name if self.name.startswith("mean ") else f"mean {self.name}"


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
class Scores:
    """Losses of K learners on the same splits, with the names and the design.

    Parameters
    ----------
    values : array_like
        The losses: smaller is better.
    dims : sequence of str, optional
        What each axis of `values` is: some of ``"learner"``, ``"dataset"``, ``"run"``,
        ``"fold"`` and ``"repetition"``, each at most once and ``"learner"`` always;
        ``"instance"`` instead of ``"fold"`` for the instances of one test set. If None:
        (learner,), (learner, fold), (learner, run, fold) for one to three axes; with
        `datasets`, (learner, dataset), (learner, dataset, fold); all five for five axes. Four
        axes must be named.
    learners : sequence of str, optional
        The names of the learners; ``"0"``, ``"1"``, ... if None.
    datasets : sequence of str, optional
        The names of the data sets; ``"data"`` for one, else ``"0"``, ``"1"``, ... if None.
    design : Design or str, optional
        How the losses were produced. A kind (``"cv"``, ``"resample"``, ``"holdout"``, ``"loo"``,
        ``"bootstrap"``, ``"time"``, ``"test-set"``, ``"seeds"``, ``"scores"``) takes its sizes
        from the axes; ``"5x2"`` or ``"10x10"`` also splits one row of runs x folds losses into
        runs. ``"kfold:20"``, ``"resample:30:0.2"`` and ``"time:12"`` are written as for
        `compare`. If None: cross-validation if there are several folds, else scores of unknown
        origin. If neither `design` nor `dims` is stated, no test is chosen automatically for a
        number of folds that several designs have, such as 30.
    missing : {"refuse", "allow"} or array_like of bool
        ``"refuse"``: no cell may be NaN. ``"allow"``: NaN marks a missing cell. A mask marks
        missing cells explicitly.
    higher_is_better : bool
        True: `values` are scores and are converted to losses: ``1 - score`` if all scores are
        within [0, 1], else the negative.
    loss_name : str
        The name of the loss; a converted score becomes ``"1 - score"`` or ``"-score"``.
    account : sequence of str
        Sentences about the source, for example from a reader.
    subset_values : array_like, optional
        Losses of the runs on parts of the rows (`Design.nested_runs`), with the axes (learner,
        dataset, subset run, fold, repetition) and no missing cells. Means, tables, files and
        figures use only `losses`.

    Attributes
    ----------
    losses : ndarray
        Read-only floats in the order of `dims`, always on all five axes; NaN only if `missing`.
    dims : tuple of str
        ``("learner", "dataset", "run", "fold", "repetition")``.
    learners, datasets, design, loss_name
        As passed, or as inferred.
    missing : ndarray
        Read-only, True for missing cells.
    account : tuple of str
        How the source was read, in sentences.
    subset_values : ndarray or None
        Read-only, as passed.

    Examples
    --------
    >>> losses = Scores([[0.1, 0.2, 0.3], [0.2, 0.2, 0.5]], learners=["nn", "c4.5"])
    >>> losses
    Scores(2 learners x 1 data set, one run of 3-fold cross-validation)
    >>> losses.losses.shape
    (2, 1, 1, 3, 1)
    >>> {name: round(mean, 3) for name, mean in losses.means().items()}
    {'nn': 0.2, 'c4.5': 0.3}
    """

    losses: Floats
    learners: tuple[str, ...]
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
        learners: Iterable[object] | None = None,
        datasets: Iterable[object] | None = None,
        design: Design | str | None = None,
        missing: Any = "refuse",
        higher_is_better: bool = False,
        loss_name: str = "loss",
        account: Sequence[str] = (),
        subset_values: Any = None,
    ) -> None:
        (loss_name,) = clean_names([loss_name], 1, "loss_name", "name")
        raw = as_floats(values)
        mask = as_mask(raw, missing)
        dims = (dims,) if isinstance(dims, str) else dims
        known = known_dims(raw.ndim, dims, named_datasets=datasets is not None)
        array = spread(raw, known)
        absent = spread(mask, known)
        if design is None and INSTANCE in (dims or ()):
            design = "test-set"
        array, absent, settled = settle_design(array, absent, design, dims_stated=dims is not None)
        names = clean_names(learners, array.shape[0], "learners", "learner")
        sets = clean_names(datasets, array.shape[1], "datasets", "data set", alone="data")
        refuse_bad_cells(array, absent, names, sets)
        sentences = [*account]
        if not isinstance(higher_is_better, bool | np.bool_):
            raise ArgumentError(
                f"higher_is_better must be True or False; got {higher_is_better!r}."
            )
        parts = as_subset_values(subset_values, array, settled)
        if higher_is_better:
            if parts is not None:
                raise ArgumentError("subset_values must be losses; got scores.")
            array, how, sign = flip(array, absent)
            sentences.append(how)
            loss_name = f"{sign}{'score' if loss_name == 'loss' else loss_name}"
        # in place: large tables should not need more memory; -0 becomes 0
        array += 0.0
        array[absent] = np.nan
        array.setflags(write=False)
        absent = np.array(absent)
        absent.setflags(write=False)
        sentences.append(summary(names, sets, settled, absent))
        for name, value in (
            ("losses", array),
            ("learners", names),
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
        """The axes of `losses`, always the same five."""
        return DIMS

    @property
    def metric(self) -> Metric:
        """The user's metric."""
        return metric_of(self.loss_name)

    @property
    def complete(self) -> bool:
        """True if no cell is missing."""
        return not self.missing.any()

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of losses, names, design and loss name."""
        import hashlib
        import json

        design = repr(self.design)
        head = json.dumps([self.learners, self.datasets, self.loss_name, design, self.losses.shape])
        digest = hashlib.sha256(head.encode("utf-8"))
        digest.update(np.where(self.missing, 0.0, self.losses).astype("<f8").tobytes())
        digest.update(np.packbits(self.missing).tobytes())
        if self.subset_values is not None:
            digest.update(self.subset_values.astype("<f8").tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scores):
            return NotImplemented
        return (
            self.learners == other.learners
            and self.datasets == other.datasets
            and self.design == other.design
            and self.loss_name == other.loss_name
            and np.array_equal(self.losses, other.losses, equal_nan=True)
            and (
                self.subset_values is None
                or other.subset_values is None
                or np.array_equal(self.subset_values, other.subset_values)
            )
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        k, d = len(self.learners), len(self.datasets)
        gap = "" if self.complete else f", {int(self.missing.sum())} cells missing"
        return (
            f"Scores({k} learner{'s' * (k != 1)} x {d} data set{'s' * (d != 1)}, "
            f"{self.design.describe()}{gap})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _part_of, (
            np.array(self.losses), self.learners, self.datasets, self.design, self.loss_name,
            self.account[:-1], None if self.subset_values is None else np.array(self.subset_values),
        )  # fmt: skip

    def select(
        self,
        *,
        learners: str | Iterable[str] | None = None,
        datasets: str | Iterable[str] | None = None,
    ) -> Scores:
        """Return the losses of some learners and data sets, in the order of their names."""
        rows, learners = _positions(learners, self.learners, "learner")
        columns, sets = _positions(datasets, self.datasets, "data set")
        if (learners, sets) == (self.learners, self.datasets):
            return self
        parts, values = self.subset_values, self.losses[rows]
        return _part_of(
            Fresh(values if sets == self.datasets else values[:, columns]),
            learners,
            sets,
            self.design,
            self.loss_name,
            self.account[:-1],
            None if parts is None else parts[rows][:, columns],
        )

    def _mean(self, axis: tuple[int, ...], missing: str) -> Floats:
        """Return the mean over `axis` of the cells that each learner has."""
        if not self.complete and missing_word(missing, GAPS) == "refuse":
            at = cell_words(np.argwhere(self.missing)[0], self.learners, self.datasets)
            raise ArgumentError(
                f"{int(self.missing.sum())} of {self.missing.size} cells are missing, including "
                f"{at}: ",
                use(missing="allow"),
                " averages the cells that each learner has.",
            )
        count = (~self.missing).sum(axis=axis)
        total = np.where(self.missing, 0.0, self.losses).sum(axis=axis)
        with np.errstate(invalid="ignore"):
            mean: Floats = total / count
        return mean

    def means(self, *, missing: str = "refuse") -> Mapping[str, float]:
        """Return the mean loss by learner.

        Parameters
        ----------
        missing : {"refuse", "allow"}
            ``"refuse"``: raise an error if a cell is missing. ``"allow"``: average the cells that
            each learner has.
        """
        mean = self._mean((1, 2, 3, 4), missing)
        return dict(zip(self.learners, mean.tolist(), strict=True))

    def by_dataset(self, *, missing: str = "refuse") -> Floats:
        """Return mean losses of shape (K, data sets); `missing` as in `means`."""
        return self._mean((2, 3, 4), missing)

    @ready_to_print
    def explain(self) -> str:
        """Describe the table and how its source was read, in sentences."""
        return " ".join(self.account)

    def to_dict(self) -> dict[str, Any]:
        """Return names, design and losses for strict JSON.

        A missing cell is null.
        """
        return {
            "learners": list(self.learners),
            "datasets": list(self.datasets),
            "dims": list(DIMS),
            "loss": self.loss_name,
            "design": self.design.describe(),
            "losses": json_ready(self.losses),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per cell: its five coordinates and its loss.

        Runs, folds and repetitions count from 1. A missing cell has a row with NaN.
        """
        import pandas as pd

        where = np.indices(self.losses.shape).reshape(5, -1)
        names = (np.array(self.learners, dtype=object), np.array(self.datasets, dtype=object))
        return pd.DataFrame(
            {
                "learner": names[0][where[0]],
                "dataset": names[1][where[1]],
                "run": where[2] + 1,
                "fold": where[3] + 1,
                "repetition": where[4] + 1,
                "loss": self.losses.ravel(),
            }
        )


def _part_of(
    values: Floats | Fresh,
    learners: tuple[str, ...],
    datasets: tuple[str, ...],
    design: Design,
    loss_name: str,
    account: tuple[str, ...],
    subset_values: Floats | None,
) -> Scores:
    """Make a table from the parts of another, with a new last sentence of the account."""
    return Scores(
        values, dims=DIMS, learners=learners, datasets=datasets, design=design, missing="allow",
        loss_name=loss_name, account=account, subset_values=subset_values,
    )  # fmt: skip


def _positions(
    requested: str | Iterable[str] | None, names: tuple[str, ...], kind: str
) -> tuple[list[int], tuple[str, ...]]:
    if requested is None:
        return list(range(len(names))), names
    chosen = (requested,) if isinstance(requested, str) else tuple(requested)
    if not chosen:
        raise ArgumentError(f"at least one {kind} must be selected; got none.")
    at = {name: position for position, name in enumerate(names)}
    for name, count in Counter(chosen).items():
        if name not in at:
            raise UnknownNameError(kind, name, names)
        if count > 1:
            raise ArgumentError(f"every {kind} must be named once; got {name!r} twice.")
    return [at[name] for name in chosen], chosen


_NOT_TEXT = re.compile("[\0\ud800-\udfff]")


def clean_names(
    names: Iterable[object] | None, count: int, where: str, kind: str, *, alone: str | None = None
) -> tuple[str, ...]:
    """Return `names` as a tuple of `count` distinct texts, or ``"0"``, ``"1"``, ... if None.

    A name must not contain NUL or lone surrogates, which files cannot store, nor spaces around it,
    which readers drop.
    """
    if names is None:
        if alone is not None and count == 1:
            return (alone,)
        return tuple(str(i) for i in range(count))
    if isinstance(names, str):
        raise ArgumentError(f"{where} must be a list of names; got the text {names!r}.")
    clean = tuple(map(str, names))
    if len(clean) != count:
        raise ArgumentError(
            f"{where} must hold one name for each of the {count} {kind}s of values; got "
            f"{len(clean)}."
        )
    seen: dict[str, int] = {}
    for position, name in enumerate(clean):
        if not name.strip():
            raise ArgumentError(f"{where} must not be empty; the name at position {position} is.")
        if name != name.strip() or _NOT_TEXT.search(name):
            raise ArgumentError(
                f"{where} must be UTF-8 text without spaces around it; got {name!r} at position "
                f"{position}."
            )
        if name in seen:
            raise ArgumentError(
                f"{where} must be distinct; got {name!r} at positions {seen[name]} and {position}."
            )
        seen[name] = position
    return clean
