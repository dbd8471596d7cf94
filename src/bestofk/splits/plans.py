"""Resampling plans and their specifications, such as ``"10x10"`` or ``"holdout:0.33"``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import RandomState, probability, refuse, whole
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk.splits.design import Design, Subsets
from bestofk.splits.folds import seed_of
from bestofk.splits.generate import QUANTILES, known_rows, make_splits
from bestofk.splits.registry import PLANS
from bestofk.splits.splits import Split, Splits

if TYPE_CHECKING:
    from bestofk.splits.user_splits import SplitSource

_RUNS_BY_FOLDS = re.compile(r"(group-)?(\d+)\s*[x×*]\s*(\d+)")
_BARE_FOLDS = re.compile(r"(\d+)[ -]?folds?|folds?[ -]?(\d+)")
_MAX_SPLITS = 1_000_000
_MAX_LENGTH = 200
"""Maximum number of characters of a specification."""
_MINIMUM = {"runs": 1, "folds": 2, "splits": 1, "samples": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """A parsed specification, in the same fields for every kind of plan."""

    kind: str
    runs: int
    folds: int | None
    """Number of folds of a run, random splits or samples; None for leave-one-out."""
    test_fraction: float | None
    subsets: Subsets | None = None
    form: str = ""
    """The name of a registered plan that marks the rows with its own function."""
    grouped: bool = False
    """True if the plan requires groups."""
    column: str = ""
    """The column that holds the fold of every row."""

    def __str__(self) -> str:
        if self.column:
            return f"predefined:{self.column}"
        if self.kind == "time":
            return f"time:{self.folds}"
        if self.form:
            return ":".join([self.form, *map(repr, self._numbers(PLANS[self.form].takes))])
        if self.kind == "cv":
            runs = f"kfold:{self.folds}" if self.runs == 1 else f"{self.runs}x{self.folds}"
            return ("group-" if self.grouped else "") + runs + ("+nested" if self.subsets else "")
        if self.kind == "holdout":
            return f"holdout:{self.test_fraction!r}"
        if self.kind == "resample":
            return f"resample:{self.folds}:{self.test_fraction!r}"
        return "loo" if self.kind == "loo" else f"bootstrap:{self.folds}"

    def _numbers(self, takes: tuple[str, ...]) -> list[float | None]:
        """Return the numbers of the specification in the order of `takes`."""
        known = {"runs": self.runs, "test_fraction": self.test_fraction}
        return [known.get(argument, self.folds) for argument in takes]


def specify(spec: Any, keywords: dict[str, Any]) -> Specification:
    """Parse `spec`: a full text, or a name whose numbers are in `keywords`."""
    if not isinstance(spec, str) or len(spec) > _MAX_LENGTH:
        raise refuse("plan", f"a text such as {_examples()}", spec)
    keywords = {name: value for name, value in keywords.items() if value is not None}
    runs, plus, rest = spec.partition("+")
    # the name of a column may contain a plus
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
            f"plan {spec!r} is already complete: omit {', '.join(keywords)}, or write only the "
            f"name and pass its numbers by keyword."
        )
    else:
        values = dict(zip(takes, written, strict=True))
    return _checked(name, values, spec)


def _with_subsets(runs: Specification, text: str, spec: str) -> Specification:
    """Add the part after the plus to runs of cross-validation."""
    text = text.strip().lower()
    if runs.kind != "cv" or runs.folds is None:
        raise ArgumentError(
            f"plan {spec!r}: '+nested' must follow runs of folds, as in "
            f"{PLANS['nested'].example!r}; got {str(runs)!r} before the plus."
        )
    if text != "nested":
        raise _malformed(spec, "nested")
    if runs.folds < 3:
        raise ArgumentError(
            f"plan {spec!r}: nested cross-validation must have at least 3 folds; got {runs.folds}."
        )
    pairs = runs.folds * (runs.folds - 1) // 2
    return replace(runs, subsets=Subsets(kind="nested", runs=runs.runs * pairs, folds=2))


def _read(spec: str) -> tuple[str, list[Any]]:
    """Return the name of the plan and the numbers after it (none, or all that it takes)."""
    head, colon, tail = spec.strip().partition(":")
    head = head.rstrip().lower()
    crossed = _RUNS_BY_FOLDS.fullmatch(head)
    if crossed and not colon:
        return "group-rxk" if crossed[1] else "rxk", [int(crossed[2]), int(crossed[3])]
    if head.isdecimal() and not colon:
        return "kfold", [int(head)]
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
    """Return whether the name of the plan is followed by the name of a column."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Specification):
    """A resampling plan: runs of folds, random splits or samples, determined by its seed.

    Made by `plan`. A plan holds no rows; `splits` and `materialise` make its splits for given
    rows.
    """

    stratified: bool | str | None
    seed: int
    source: SplitSource | None = None
    """The source of your own splits: a splitter, pairs of rows, or a column."""

    @property
    def spec(self) -> str:
        """The specification in its canonical spelling, which `plan` accepts."""
        return Specification.__str__(self) if self.source is None else self.source.spec

    @property
    def is_random(self) -> bool:
        """True if another seed gives other splits."""
        return self.kind not in ("loo", "time") if self.source is None else self.source.is_random

    def reseeded(self, seed: int) -> Plan:
        """Return the same plan with other random splits."""
        source = self.source
        if source is not None:
            from bestofk.splits.user_splits import reseeded_source

            source = reseeded_source(source, seed)
        return replace(self, seed=seed, source=source)

    def __str__(self) -> str:
        return self.spec

    def splits(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Iterate over (run, fold, train, test) for the rows of X.

        Parameters
        ----------
        X : array, data frame, sparse matrix or sequence
            Only its number of rows matters.
        y : array of shape (n,), optional
            The target: labels to stratify by (text, booleans, whole numbers, categories), or a
            quantity (numbers with a fractional part), which is not stratified.
        groups : array of shape (n,), optional
            Rows of one group are never on both sides of a split.

        Returns
        -------
        iterator of (int, int, ndarray, ndarray)
            Run, fold, and the ascending int64 numbers of the training and of the test rows. A
            bootstrap sample repeats the rows that it drew repeatedly.
        """
        return iter(self.materialise(_number_of_rows(X), y, groups, X=X))

    def materialise(self, n: int, y: Any = None, groups: Any = None, *, X: Any = None) -> Splits:
        """Return all splits for `n` rows as one value; see `splits` for `y` and `groups`.

        `X` holds the rows themselves. A splitter may use them, and a plan that names a column
        reads it from them.
        """
        if self.grouped and groups is None:
            raise ArgumentError(f"plan {self.spec!r} needs groups: pass ", use(groups=...))
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

    def explain(self) -> str:
        """Describe the plan in a sentence."""
        strata = {
            None: "stratified if y holds class labels",
            True: "stratified",
            False: "not stratified",
            QUANTILES: "stratified by the quantiles of y",
        }[self.stratified]
        if self.kind == "loo":
            return "The plan 'loo': every row is tested once, by a model trained on all others."
        if self.kind == "time":
            return (
                f"The plan {self.spec!r}: {Design(kind='time', folds=self.folds or 1).describe()}."
            )
        if self.source is not None:
            where = f"by the column {self.column!r}" if self.column else "your own splits"
            return f"The plan {self.spec!r}: {where}; the design is known once they are made."
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
    """Make a resampling plan, which says which rows train and which rows test.

    Parameters
    ----------
    spec : str, splitter, pairs of rows or Plan
        ``"10x10"`` (runs x folds), ``"5x2"``, ``"kfold:10"`` or ``"10"``, ``"holdout:0.33"`` (the
        share of test rows), ``"resample:30:0.1"`` (30 random splits), ``"loo"``,
        ``"bootstrap:200"``; or only a name with its numbers by keyword. After runs of folds,
        ``"+nested"`` adds runs that leave every pair of folds out together. Tests of unstable
        learners use these runs on parts of the rows to estimate the variance of a mean.
        ``"group-kfold:5"`` and ``"group-10x10"`` need groups, ``"time:10"`` rows in order of time,
        ``"predefined:COLUMN"`` a column of folds. Your own splits: a scikit-learn splitter, or any
        iterable of (train, test) pairs of row numbers or boolean masks. A Plan is returned
        as it is.
    runs, folds, splits, samples, test_fraction
        The numbers of the keyword form: ``plan("kfold", folds=10)`` (and ``runs``),
        ``plan("resample", splits=30, test_fraction=0.1)``, ``plan("bootstrap", samples=200)``.
    stratified : bool or "quantiles", optional
        None: stratify if y holds class labels (text, booleans, categories, few distinct whole
        numbers). True: require labels. False: never stratify. ``"quantiles"``: y holds numbers,
        and every fold gets its share of small and of large ones. Leave-one-out and time windows
        are never stratified.
    random_state : int, numpy Generator or None
        The seed. It determines the splits on every machine and with every version of numpy. A
        Generator provides a seed; None uses a fresh one. The result has it as `seed`.

    Returns
    -------
    Plan
        `splits(X, y)` iterates over (run, fold, train, test); `materialise(n, y)` returns all
        splits at once.

    Notes
    -----
    Run r depends only on the seed and r: ``"10x10"`` is the first ten runs of ``"20x10"``,
    ``"kfold:10"`` the first run of both, ``"holdout:0.1"`` the first split of
    ``"resample:30:0.1"``. The names of the classes in y have no effect.

    Stratified folds: the classes are concatenated, each shuffled, and position p goes to fold
    p mod k, so that class counts per fold and fold sizes differ by at most one. Stratified random
    splits distribute the test rows by largest remainder. A stratified bootstrap draws every class
    from its own rows. Groups stay together, and class shares are then preserved approximately.

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
    source: SplitSource | None = None
    if isinstance(spec, str):
        specification = specify(spec, keywords)
        if specification.column:
            from bestofk.splits.user_splits import SplitSource

            source = SplitSource(column=specification.column)
    else:
        from bestofk.splits.user_splits import split_source

        source = split_source(spec)
        specification = Specification(kind="splits", runs=1, folds=None, test_fraction=None)
        keywords = {name: value for name, value in keywords.items() if value is not None}
        if keywords:
            raise ArgumentError(
                f"{next(iter(keywords))} does not apply to your own splits; omit it."
            )
    if source is not None and strata is not None:
        raise ArgumentError("stratified does not apply to your own splits; omit it.")
    return Plan(
        **{field.name: getattr(specification, field.name) for field in fields(Specification)},
        stratified=strata,
        seed=seed_of(random_state),
        source=source,
    )
