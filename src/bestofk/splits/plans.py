"""The specification of a plan: ``"10x10"``, ``"holdout:0.33"`` and their keyword forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestofk._base.checks import RandomState, probability, refuse, whole
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk._base.results import without_effect
from bestofk.splits.design import Design, Subsets
from bestofk.splits.folds import seed_of
from bestofk.splits.generate import QUANTILES, known_rows, make_splits
from bestofk.splits.registry import PLANS
from bestofk.splits.source import SplitSource, reseeded_source, split_source
from bestofk.splits.splits import Split, Splits

_RUNS_BY_FOLDS = re.compile(r"(group-)?(\d+)\s*[x×*]\s*(\d+)")
_BARE_FOLDS = re.compile(r"(\d+)[ -]?folds?|folds?[ -]?(\d+)")

_HALVES = re.compile(r"halves\s*:\s*(\d{1,9})\s*[x×*]\s*(\d{1,9})")
_MAX_SPLITS = 1_000_000
_MAX_LENGTH = 200
"""Characters of a specification."""
_MINIMUM = {"runs": 1, "folds": 2, "splits": 1, "samples": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """What a specification says, in the same fields for every form."""

    kind: str
    runs: int
    folds: int | None
    """Folds of a run, random splits or samples; None for leave-one-out, which takes every row."""
    test_fraction: float | None
    subsets: Subsets | None = None
    form: str = ""
    """The name of a registered plan that marks the rows by a function of its own."""
    grouped: bool = False
    """It cannot be made without groups."""
    column: str = ""
    """The column that says which fold tests a row."""

    def __str__(self) -> str:
        if self.column:
            return f"predefined:{self.column}"
        if self.kind == "time":
            return f"time:{self.folds}"
        if self.form:
            return ":".join([self.form, *map(repr, self._numbers(PLANS[self.form].takes))])
        if self.kind == "cv":
            runs = f"kfold:{self.folds}" if self.runs == 1 else f"{self.runs}x{self.folds}"
            return ("group-" if self.grouped else "") + runs + _written(self.subsets)
        if self.kind == "holdout":
            return f"holdout:{self.test_fraction!r}"
        if self.kind == "resample":
            return f"resample:{self.folds}:{self.test_fraction!r}"
        return "loo" if self.kind == "loo" else f"bootstrap:{self.folds}"

    def _numbers(self, takes: tuple[str, ...]) -> list[float | None]:
        """What was given, in the order of `takes`."""
        known = {"runs": self.runs, "test_fraction": self.test_fraction}
        return [known.get(argument, self.folds) for argument in takes]


def specify(spec: Any, keywords: dict[str, Any]) -> Specification:
    """`spec` (a full text, or a name with its numbers `given` by keyword) understood."""
    if not isinstance(spec, str):
        raise refuse("plan", f"a text such as {_examples()}", spec)
    if len(spec) > _MAX_LENGTH:
        raise refuse("plan", f"a text such as {_examples()}", spec)
    keywords = {name: value for name, value in keywords.items() if value is not None}
    runs, plus, rest = spec.partition("+")
    # a column may be called anything
    if plus and not _names_a_column(spec):
        return _with_subsets(specify(runs, keywords), rest, spec)
    name, written = _read(spec)
    takes = PLANS[name].takes
    if takes == ("column",) and not written:
        raise _malformed(spec, name)
    if not written and takes:
        welcome = (*PLANS[name].by_keyword, *takes)
        unknown = [argument for argument in keywords if argument not in welcome]
        missing = [argument for argument in takes if argument not in keywords]
        if unknown or missing:
            _refuse_keywords(spec, name, welcome, unknown, missing)
        values = keywords
    elif keywords:
        raise ArgumentError(
            f"plan {spec!r} is complete as it is: leave out {', '.join(keywords)}, or write "
            f"only the name and give its numbers by keyword."
        )
    else:
        values = dict(zip(takes, written, strict=True))
    return _checked(name, values, spec)


def _with_subsets(runs: Specification, text: str, spec: str) -> Specification:
    """The runs of cross-validation with what is written after the plus."""
    text = text.strip().lower()
    if runs.kind != "cv" or runs.folds is None:
        raise ArgumentError(
            f"plan {spec!r}: only runs of folds take '+halves' or '+nested', as in "
            f"{PLANS['halves'].example!r}; got {str(runs)!r} before the plus."
        )
    if text == "nested":
        if runs.folds < 3:
            raise ArgumentError(
                f"plan {spec!r}: nested cross-validation must have at least 3 folds; got "
                f"{runs.folds}."
            )
        pairs = runs.folds * (runs.folds - 1) // 2
        return replace(runs, subsets=Subsets(kind="nested", runs=runs.runs * pairs, folds=2))
    halves = _HALVES.fullmatch(text)
    if not halves:
        near = "nested" if text.startswith("n") else "halves"
        raise _malformed(spec, near)
    halvings = whole(int(halves[1]), f"halvings of plan {spec!r}", at_least=2)
    folds = whole(int(halves[2]), f"folds of the halves of plan {spec!r}", at_least=2)
    return replace(runs, subsets=Subsets(kind="halves", runs=2 * halvings, folds=folds))


def _written(subsets: Subsets | None) -> str:
    if subsets is None:
        return ""
    return "+nested" if subsets.kind == "nested" else f"+halves:{subsets.halvings}x{subsets.folds}"


def _read(spec: str) -> tuple[str, list[Any]]:
    """The name of the form and the numbers written after it (none, or all it takes)."""
    head, colon, tail = spec.strip().partition(":")
    head = head.rstrip().lower()
    crossed = _RUNS_BY_FOLDS.fullmatch(head)
    if crossed and not colon:
        return "group-rxk" if crossed[1] else "rxk", [int(crossed[2]), int(crossed[3])]
    if head not in PLANS or not PLANS[head].by_name:
        raise _unknown(spec, head, colon + tail)
    takes = PLANS[head].takes
    if not colon:
        return head, []
    if takes == ("column",):
        return head, [tail.strip()] if tail.strip() else []
    parts = tail.split(":")
    if len(parts) != len(takes):
        raise _malformed(spec, head)
    return head, [
        _number(part, argument, spec, head) for part, argument in zip(parts, takes, strict=True)
    ]


def _names_a_column(spec: str) -> bool:
    """Whether what follows the name of the form is the name of a column."""
    head = spec.partition(":")[0].strip().lower()
    return head in PLANS and PLANS[head].takes == ("column",)


def _number(text: str, argument: str, spec: str, name: str) -> int | float:
    try:
        return float(text) if argument == "test_fraction" else int(text)
    except ValueError:
        raise _malformed(spec, name) from None


def _checked(name: str, values: dict[str, Any], spec: str) -> Specification:
    clean: dict[str, Any] = {}
    for argument, value in values.items():
        where = f"{argument} of plan {spec!r}"
        if argument == "column":
            clean[argument] = str(value)
        elif argument == "test_fraction":
            clean[argument] = probability(value, where)
        else:
            clean[argument] = whole(value, where, at_least=_MINIMUM[argument])
    entry = PLANS[name]
    clean = {**entry.fixed, **clean}
    splits = clean.get("runs", 1)
    for argument in ("folds", "splits", "samples"):
        splits *= clean.get(argument, 1)
    if splits > _MAX_SPLITS:
        raise ArgumentError(
            f"plan {spec!r} must have at most {_MAX_SPLITS} splits; got {splits:.3g}."
        )
    return Specification(
        kind=entry.kind,
        runs=clean.get("runs", 1),
        folds=clean.get("folds", clean.get("splits", clean.get("samples"))),
        test_fraction=clean.get("test_fraction"),
        form=name if entry.function else "",
        grouped=entry.needs == "groups",
        column=clean.get("column", ""),
    )


def _refuse_keywords(
    spec: str, name: str, takes: tuple[str, ...], unknown: list[str], missing: list[str]
) -> None:
    example = PLANS[name].example
    if unknown:
        raise ArgumentError(
            f"plan {spec!r} takes {' and '.join(takes)}, as in {example!r}; got {unknown[0]}."
        )
    raise ArgumentError(
        f"plan {spec!r} must say {' and '.join(missing)}, as in {example!r} or by keyword; "
        "got only the name."
    )


def _malformed(spec: str, name: str) -> ArgumentError:
    entry = PLANS[name]
    return ArgumentError(
        f"plan must be written {entry.pattern!r}, as in {entry.example!r}; got {spec!r}."
    )


def _unknown(spec: str, head: str, tail: str) -> UnknownNameError:
    from difflib import get_close_matches

    bare = _BARE_FOLDS.fullmatch(head)
    if bare and not tail:
        return UnknownNameError("plan", spec, [f"kfold:{bare[1] or bare[2]}"])
    crossed = _RUNS_BY_FOLDS.search(head)
    if crossed:
        runs = f"{crossed[1] or ''}{crossed[2]}x{crossed[3]}"
        return UnknownNameError("plan", spec, [runs])
    names = [name for name, entry in PLANS.items() if entry.by_name]
    near = get_close_matches(head, names, n=2, cutoff=0.6)
    if near:
        meant = [
            name + tail if tail and PLANS[name].takes else PLANS[name].example for name in near
        ]
        return UnknownNameError("plan", spec, meant)
    return UnknownNameError("plan", spec, [entry.example for entry in PLANS.values()])


def _examples() -> str:
    return ", ".join(repr(entry.example) for entry in PLANS.values())


# `plan`: from a specification and a seed to the rows that train and test.


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A resampling plan: runs of folds, random splits or samples, fixed by its seed.

    Made by `plan`. It holds no rows; `splits` and `materialise` make it for given ones.
    """

    kind: str
    runs: int
    folds: int | None
    test_fraction: float | None
    stratified: bool | str | None
    seed: int
    subsets: Subsets | None = None
    form: str = ""
    """The name of a registered plan that marks the rows by a function of its own."""
    grouped: bool = False
    """It cannot be made without groups."""
    source: SplitSource | None = None
    """Where splits of your own come from: a splitter, pairs of rows, or a column."""

    @property
    def spec(self) -> str:
        """The specification in its one spelling, which `plan` takes back."""
        if self.source is not None:
            return self.source.spec
        return str(
            Specification(
                kind=self.kind,
                runs=self.runs,
                folds=self.folds,
                test_fraction=self.test_fraction,
                subsets=self.subsets,
                form=self.form,
                grouped=self.grouped,
            )
        )

    @property
    def column(self) -> str:
        """The column that says which fold tests a row; empty for plans that need none."""
        return "" if self.source is None else self.source.column

    @property
    def is_random(self) -> bool:
        """Whether another seed gives other splits."""
        return self.kind not in ("loo", "time") if self.source is None else self.source.is_random

    def reseeded(self, seed: int) -> Plan:
        """The same plan with other random splits."""
        source = None if self.source is None else reseeded_source(self.source, seed)
        return replace(self, seed=seed, source=source)

    def __str__(self) -> str:
        return self.spec

    def splits(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """(run, fold, train, test) for the rows of X, one after the other.

        Parameters
        ----------
        X : array, data frame, sparse matrix or sequence
            Only its number of rows matters.
        y : array of shape (n,), optional
            The target: labels to stratify by (text, booleans, whole numbers, categories), or a
            quantity (numbers with a fractional part), by which nothing is stratified.
        groups : array of shape (n,), optional
            Rows of one group are never on both sides of a split.

        Returns
        -------
        iterator of (int, int, ndarray, ndarray)
            Run, fold, and the ascending int64 row numbers that train and that test. A bootstrap
            sample repeats the rows that it drew repeatedly.
        """
        return iter(self.materialise(_number_of_rows(X), y, groups, X=X))

    def materialise(self, n: int, y: Any = None, groups: Any = None, *, X: Any = None) -> Splits:
        """All the splits for `n` rows as one value; see `splits` for `y` and `groups`.

        `X` are the rows themselves: a splitter may look at them, and a plan that names a column
        finds it there.
        """
        if self.grouped and groups is None:
            raise ArgumentError(
                f"plan {self.spec!r} keeps groups whole and needs them: give groups= (on the "
                "command line --groups COL)."
            )
        rows = known_rows(
            whole(n, "the number of rows", at_least=0),
            y if self.source is None else None,
            groups,
            stratified=self.stratified if self.source is None else None,
            never_stratified=self.kind in ("loo", "time"),
        )
        if self.source is not None:
            return self.source.splits(n, y, rows.groups, groups, seed=self.seed, X=X)
        return make_splits(self, rows)

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The plan in a sentence; `names` and `alpha` have no effect."""
        without_effect(names, alpha)
        strata = {
            None: "stratified where y holds class labels",
            True: "stratified",
            False: "not stratified",
            QUANTILES: "stratified by the quantiles of y",
        }[self.stratified]
        if self.kind == "loo":
            return "The plan 'loo': every row is tested once by what all the others teach."
        if self.kind == "time":
            return (
                f"The plan {self.spec!r}: {Design(kind='time', folds=self.folds or 1).describe()}."
            )
        if self.source is not None:
            where = f"by the column {self.column!r}" if self.column else "your own"
            return f"The plan {self.spec!r}: splits {where}, whose design shows when they are made."
        design = Design(kind=self.kind, runs=self.runs, folds=self.folds or 1, subsets=self.subsets)
        tested = (
            "" if self.test_fraction is None else f", {self.test_fraction:g} of the rows tested"
        )
        return f"The plan {self.spec!r}: {design.describe()}{tested}, {strata}, seed {self.seed}."


def _number_of_rows(X: Any) -> int:
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    try:
        return len(X)
    except TypeError:
        raise refuse("X", "something with rows (an array, a data frame, a list)", X) from None


def plan(
    spec: Any,
    *,
    runs: int | None = None,
    folds: int | None = None,
    splits: int | None = None,
    samples: int | None = None,
    test_fraction: float | None = None,
    stratified: bool | str | None = None,
    random_state: RandomState = 0,
) -> Plan:
    """Which rows train and which test: a resampling plan from its specification.

    Parameters
    ----------
    spec : str, splitter, pairs of rows or Plan
        ``"10x10"`` (runs x folds), ``"5x2"``, ``"kfold:10"``, ``"holdout:0.33"`` (the share of the
        rows that is tested), ``"resample:30:0.1"`` (30 random splits), ``"loo"``,
        ``"bootstrap:200"``; or a name alone with its numbers by keyword. After runs of folds,
        ``"+halves:10x5"`` adds ten random halvings of the rows, each half with a 5-fold
        cross-validation of its own, and ``"+nested"`` leaves every pair of folds out together: runs
        on parts of the rows, from which tests of unstable learners take the variance of a mean.
        ``"group-kfold:5"`` and ``"group-10x10"`` need groups, ``"time:10"`` rows in order of time,
        ``"predefined:COLUMN"`` a column of folds. Or splits of your own: a splitter of
        scikit-learn, or any iterable of (train, test), as row numbers or truth values. A Plan
        comes back as it is.
    runs, folds, splits, samples, test_fraction
        The numbers of the keyword form: ``plan("kfold", folds=10)`` (and ``runs``),
        ``plan("resample", splits=30, test_fraction=0.1)``, ``plan("bootstrap", samples=200)``.
    stratified : bool or "quantiles", optional
        None: stratified when the y given later holds class labels (text, booleans, categories, few
        different whole numbers), else not. True: labels are required. False: never.
        ``"quantiles"``: y holds numbers, and every fold gets its share of small and of large ones.
        Leave-one-out and windows in time are never stratified.
    random_state : int, numpy Generator or None
        The seed. It fixes the splits on every machine and with every version of numpy. A
        Generator gives a seed; None takes a fresh one; `seed` of the result holds it.

    Returns
    -------
    Plan
        Its `splits(X, y)` gives (run, fold, train, test); `materialise(n, y)` all of them.

    Notes
    -----
    Run r depends on the seed and r alone: ``"10x10"`` is the first ten runs of ``"20x10"``,
    ``"kfold:10"`` the first run of both, ``"holdout:0.1"`` the first split of
    ``"resample:30:0.1"``. Of y only the grouping into classes matters, not their names.

    Stratified folds: the classes stand one after the other, shuffled, and position p goes to
    fold p mod k, so that class counts per fold differ by at most one, and fold sizes too.
    Stratified random splits share out the test rows by largest remainder. A stratified bootstrap
    draws every class from its own rows. Groups stay whole, and class shares are then kept as far
    as that allows.

    References
    ----------
    .. [1] R. Kohavi, "A study of cross-validation and bootstrap for accuracy estimation and model
       selection", IJCAI 1995.
    .. [2] T. G. Dietterich, "Approximate statistical tests for comparing supervised classification
       learning algorithms", Neural Computation 10, 1998. doi:10.1162/089976698300017197

    Examples
    --------
    >>> from bestofk.splits import plan
    >>> y = ["a", "b", "a", "b", "a", "b"]
    >>> for run, fold, train, test in plan("kfold:3", random_state=1).splits(y, y):
    ...     print(run, fold, train, test)
    0 0 [1 2 4 5] [0 3]
    0 1 [0 1 2 3] [4 5]
    0 2 [0 3 4 5] [1 2]
    """
    if isinstance(spec, Plan):
        return spec
    strata = stratified if isinstance(stratified, str | None) else bool(stratified)
    if not isinstance(stratified, bool | np.bool_) and stratified not in (None, QUANTILES):
        raise refuse("stratified", f"True, False, None or {QUANTILES!r}", stratified)
    keywords = {
        "runs": runs,
        "folds": folds,
        "splits": splits,
        "samples": samples,
        "test_fraction": test_fraction,
    }
    source = None
    if isinstance(spec, str):
        specification = specify(spec, keywords)
        source = SplitSource(column=specification.column) if specification.column else None
    else:
        source = split_source(spec)
        specification = Specification(kind="splits", runs=1, folds=None, test_fraction=None)
        keywords = {name: value for name, value in keywords.items() if value is not None}
        if keywords:
            raise ArgumentError(
                f"{next(iter(keywords))} does not apply to splits of your own; leave it out."
            )
    if source is not None and strata is not None:
        raise ArgumentError("stratified does not apply to splits of your own; leave it out.")
    return Plan(
        kind=specification.kind,
        runs=specification.runs,
        folds=specification.folds,
        test_fraction=specification.test_fraction,
        stratified=strata,
        seed=seed_of(random_state),
        subsets=specification.subsets,
        form=specification.form,
        grouped=specification.grouped,
        source=source,
    )
