"""Resampling plans, written as ``"10x10"`` or ``"holdout:0.33"``, and their splits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import RandomState, probability, refuse, whole
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk._base.formatting import counted
from bestofk._base.registry import Registry, resolve
from bestofk.splits.folds import nested, seed_of
from bestofk.splits.splits import QUANTILES, KnownRows, Labelling, Split, Splits, known_rows

if TYPE_CHECKING:
    from bestofk.splits.user_splits import SplitSource

_RUNS_BY_FOLDS = re.compile(r"(group-)?(\d+)\s*[x×*]\s*(\d+)")
_BARE_FOLDS = re.compile(r"(\d+)[ -]?folds?|folds?[ -]?(\d+)")
_MAX_SPLITS = 1_000_000
YOUR_SPLITS = "your splits"
"""The name of splits that a splitter or pairs of rows define."""
_MAX_LENGTH = 200
"""Maximum number of characters of a specification."""
_MINIMUM = {"runs": 1, "folds": 2, "splits": 1, "samples": 1}


def plan_words(spec: str) -> str:
    """Return the words for a plan in a sentence.

    Examples
    --------
    >>> plan_words("10x10"), plan_words(YOUR_SPLITS)
    ('the plan 10x10', 'your splits')
    """
    return spec if spec == YOUR_SPLITS else f"the plan {spec}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A resampling plan: runs of folds, random splits or samples, determined by its seed.

    Made by `plan`. A plan holds no rows; `splits` and `materialise` make its splits for given
    rows.
    """

    name: str
    """Its entry in `PLANS`; empty for your own splits."""
    kind: str
    """The kind of its design."""
    runs: int = 1
    folds: int | None = None
    """Number of folds of a run, random splits or samples; None for leave-one-out."""
    test_fraction: float | None = None
    nested: bool = False
    """True if every pair of folds is also left out together."""
    column: str = ""
    """The column that holds the fold of every row."""
    stratified: bool | str | None = None
    seed: int = 0
    source: SplitSource | None = None
    """The source of your own splits: a splitter, pairs of rows, or a column."""

    @property
    def spec(self) -> str:
        """The specification in its canonical spelling, which `plan` accepts."""
        if self.source is not None:
            return self.source.spec
        if self.name.endswith("rxk"):
            text = f"{self.name.removesuffix('rxk')}{self.runs}x{self.folds}"
        else:
            known = {"runs": self.runs, "test_fraction": self.test_fraction}
            values = [known.get(argument, self.folds) for argument in PLANS[self.name].takes]
            text = ":".join([self.name, *map(repr, values)])
        return f"{text}+nested" if self.nested else text

    @property
    def grouped(self) -> bool:
        """True if the plan requires groups."""
        return bool(self.name) and PLANS[self.name].needs == "groups"

    @property
    def nested_runs(self) -> int:
        """Number of runs that leave a pair of folds out together."""
        pairs = comb(self.folds, 2) if self.nested and self.folds else 0
        return self.runs * pairs

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
        n = whole(n, "the number of rows", at_least=0)
        if self.source is not None:
            rows = known_rows(n, None, groups, stratified=None)
            return self.source.splits(n, y, rows.groups, groups, seed=self.seed, X=X)
        entry = PLANS[self.name]
        if self.grouped and groups is None:
            raise ArgumentError(f"plan {self.spec!r} needs groups: pass ", use(groups=...))
        rows = known_rows(n, y, groups, stratified=self.stratified if entry.stratifies else False)
        marks = np.asarray(
            resolve(entry.function)(
                n,
                seed=self.seed,
                classes=None if rows.classes is None else rows.classes.codes,
                groups=None if rows.groups is None else rows.groups.codes,
                runs=self.runs,
                folds=self.folds,
                test_fraction=self.test_fraction,
            )
        )
        if entry.kind in ("cv", "resample"):
            marks = self._checked(entry, marks, n)
        # leaving out a group is k-fold cross-validation with the groups as folds
        kind = "cv" if self.kind == "loo" and rows.groups is not None else self.kind
        splits = Splits.of(
            spec=self.spec,
            seed=self.seed,
            kind=kind,
            marks=marks,
            notes=(*rows.notes, *_notes(self.kind, marks, rows)),
            stratified=rows.classes is not None
            and not (kind == "bootstrap" and rows.groups is not None),
            groups=rows.groups,
            subset_marks=nested(marks, self.folds) if self.nested and self.folds else None,
        )
        if rows.groups is not None:
            # time windows and functions of other packages may divide groups
            from bestofk.splits.user_splits import refuse_divided_groups

            refuse_divided_groups([(train, test) for _, _, train, test in splits.main], rows.groups)
        return splits

    def _checked(self, entry: PlanEntry, marks: npt.NDArray[Any], n: int) -> npt.NDArray[Any]:
        """Return the marks, or raise if the function of the plan returned others than it must."""
        folds = self.folds or 1
        if entry.kind == "cv":
            what = f"({self.runs}, {n}) whole numbers from 0 to {folds - 1}, each in every run"
            fits = marks.shape == (self.runs, n) and marks.dtype.kind in "iu"
            fits = fits and marks.min() >= 0 and marks.max() < folds
            fits = fits and all(np.bincount(row, minlength=folds).all() for row in marks)
            marks = marks.astype(np.int32, copy=False)
        else:
            what = f"({folds}, {n}) booleans, some and not all of them true in every row"
            fits = marks.shape == (folds, n) and marks.dtype.kind == "b"
            fits = fits and bool((marks.any(axis=1) & ~marks.all(axis=1)).all())
        if not fits:
            raise ArgumentError(
                f"The function of plan {entry.name!r} must return {what}; got an array of shape "
                f"{marks.shape} and type {marks.dtype}."
            )
        return marks


def _number_of_rows(X: Any) -> int:
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    try:
        return len(X)
    except TypeError:
        raise refuse("X", "something with rows (an array, a data frame, a list)", X) from None


def plan(spec: Any, *, stratified: bool | str | None = None, random_state: RandomState = 0) -> Plan:
    """Make a resampling plan, which says which rows train and which rows test.

    Parameters
    ----------
    spec : str, splitter, pairs of rows or Plan
        ``"10x10"`` (runs x folds), ``"5x2"``, ``"kfold:10"`` or ``"10"``, ``"holdout:0.33"`` (the
        share of test rows), ``"resample:30:0.1"`` (30 random splits), ``"loo"``,
        ``"bootstrap:200"``. After runs of folds, ``"+nested"`` adds runs that leave every pair of
        folds out together. Tests of unstable learners use these runs on parts of the rows to
        estimate the variance of a mean. ``"group-kfold:5"`` and ``"group-10x10"`` need groups,
        ``"time:10"`` rows in order of time, ``"predefined:COLUMN"`` a column of folds. Your own
        splits: a scikit-learn splitter, or any iterable of (train, test) pairs of row numbers or
        boolean masks. A Plan is returned as it is.
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
    if not isinstance(stratified, bool | np.bool_) and stratified not in (None, QUANTILES):
        raise refuse("stratified", f"True, False, None or {QUANTILES!r}", stratified)
    strata = bool(stratified) if isinstance(stratified, bool | np.bool_) else stratified
    parsed: dict[str, Any] = {"name": "", "kind": "splits"}
    if isinstance(spec, str):
        parsed = _parsed(spec)
    if not isinstance(spec, str) or "column" in parsed:
        from bestofk.splits.user_splits import SplitSource, split_source

        column = parsed.get("column")
        parsed["source"] = SplitSource(column=column) if column else split_source(spec)
        if strata is not None:
            raise ArgumentError("stratified does not apply to your own splits; omit it.")
    return Plan(**parsed, stratified=strata, seed=seed_of(random_state))


# Specifications


def _parsed(spec: str) -> dict[str, Any]:
    """Return the fields of the plan that a text specifies."""
    if len(spec) > _MAX_LENGTH:
        raise refuse("plan", f"a text such as {', '.join(map(repr, _examples()))}", spec)
    head, colon, tail = spec.strip().partition(":")
    head = head.rstrip().lower()
    if not _RUNS_BY_FOLDS.match(head) and head in PLANS and PLANS[head].takes == ("column",):
        if not tail.strip():
            raise _malformed(spec, head)
        return {"name": head, "kind": PLANS[head].kind, "column": tail.strip()}
    text, plus, rest = spec.partition("+")
    if plus:
        return _with_nested(_parsed(text), rest.strip().lower(), spec)
    crossed = _RUNS_BY_FOLDS.fullmatch(head)
    if crossed and not colon:
        group, *parts = crossed.groups()
        name = f"{group or ''}{'kfold' if int(parts[0]) == 1 else 'rxk'}"
        takes: tuple[str, ...] = ("runs", "folds")
    else:
        name, parts = ("kfold", [head]) if head.isdecimal() and not colon else (head, [])
        if name not in PLANS or not PLANS[name].by_name:
            raise _unknown(spec, head, colon + tail)
        takes, parts = PLANS[name].takes, tail.split(":") if colon else parts
    if len(parts) != len(takes):
        raise _malformed(spec, name)
    values = {
        argument: _number(part, argument, spec, name)
        for part, argument in zip(parts, takes, strict=True)
    }
    fields: dict[str, Any] = {
        key: values[key] for key in ("runs", "test_fraction") if key in values
    }
    folds = [values[key] for key in ("folds", "splits", "samples") if key in values]
    fields["folds"] = folds[0] if folds else 1 if "test_fraction" in values else None
    splits = fields.get("runs", 1) * (fields["folds"] or 1)
    if splits > _MAX_SPLITS:
        raise ArgumentError(
            f"plan {spec!r} must have at most {_MAX_SPLITS} splits; got {splits:.3g}."
        )
    return {"name": name, "kind": PLANS[name].kind, **fields}


def _with_nested(runs: dict[str, Any], text: str, spec: str) -> dict[str, Any]:
    """Add the part after the plus to runs of cross-validation."""
    if text != "nested" or runs["kind"] != "cv":
        raise _malformed(spec, "nested")
    if runs["folds"] < 3:
        raise ArgumentError(
            f"plan {spec!r}: nested cross-validation must have at least 3 folds; got "
            f"{runs['folds']}."
        )
    return {**runs, "nested": True}


def _number(text: str, argument: str, spec: str, name: str) -> int | float:
    where = f"{argument} of plan {spec!r}"
    try:
        value = float(text) if argument == "test_fraction" else int(text)
    except ValueError:
        raise _malformed(spec, name) from None
    if argument == "test_fraction":
        return probability(value, where)
    return whole(value, where, at_least=_MINIMUM[argument])


def _malformed(spec: str, name: str) -> ArgumentError:
    entry = PLANS[name]
    return ArgumentError(
        f"plan must be written {entry.pattern!r}, as in {entry.example!r}; got {spec!r}."
    )


def _unknown(spec: str, head: str, tail: str) -> UnknownNameError:
    bare, crossed = _BARE_FOLDS.fullmatch(head), _RUNS_BY_FOLDS.search(head)
    if bare and not tail:
        return UnknownNameError("plan", spec, [f"kfold:{bare[1] or bare[2]}"])
    if crossed:
        runs = f"{crossed[1] or ''}{crossed[2]}x{crossed[3]}"
        return UnknownNameError("plan", spec, [runs])
    from bestofk._base.synonyms import meant

    near = meant(head, [name for name, entry in PLANS.items() if entry.by_name], most=2, cutoff=0.6)
    likely = [name + tail if tail and PLANS[name].takes else PLANS[name].example for name in near]
    return UnknownNameError("plan", spec, likely or _examples())


def _examples() -> list[str]:
    return [entry.example for entry in PLANS.values()]


# Notes on the splits, one sentence each


_MAX_NAMED = 3


def _notes(kind: str, marks: npt.NDArray[Any], rows: KnownRows) -> list[str]:
    """Return what the reader should know about the splits of a plan."""
    classes, groups = rows.classes, rows.groups
    notes = []
    if kind == "time":
        notes.append("The rows are assumed to be in order of time, the oldest first.")
    elif kind == "cv" and groups is not None and (same := len(marks) - _distinct_runs(marks)):
        notes.append(
            f"Only {len(marks) - same} of the {len(marks)} runs differ: the groups allow no other "
            "even division into folds."
        )
    elif kind == "loo" and groups is not None:
        notes.append(f"Each of the {groups.count} groups is left out as a whole.")
    elif kind == "bootstrap" and groups is not None:
        notes.append(
            f"Each sample draws {groups.count} whole groups with replacement, so the number of "
            "training rows varies."
        )
        if classes is not None:
            notes.append("Bootstrap samples of groups are not stratified.")
        return notes
    if classes is None:
        return notes
    if groups is not None:
        notes.append(
            f"The {groups.count} groups stay together, so the splits preserve the shares of the "
            f"{classes.count} classes only approximately."
        )
    if kind == "cv":
        return notes if groups is not None else _few_rows(classes, int(marks.max()) + 1)
    tested = marks == 0 if kind == "bootstrap" else marks
    for used, participle in ((tested, "tested"), (~tested, "trained on")):
        never = np.bincount(classes.codes[used.any(axis=0)], minlength=classes.count) == 0
        if never.any():
            notes.append(f"{_of_classes(classes, never, 'is', 'are')} never {participle}.")
    return notes


def _distinct_runs(fold_of: npt.NDArray[Any]) -> int:
    """Count the runs that differ in more than the numbering of their folds."""
    return len({Labelling.of(row, "a run").codes.tobytes() for row in fold_of})


def _few_rows(classes: Labelling, folds: int) -> list[str]:
    """Note which classes have fewer rows than there are folds, and which have one row."""
    few, single = classes.sizes < folds, classes.sizes == 1
    notes = []
    if few.any():
        none = "no row of it" if few.sum() == 1 else "none of their rows"
        notes.append(
            f"{_of_classes(classes, few, 'has', 'have')} fewer rows than the {folds} folds, so "
            f"some folds test {none}."
        )
    if single.any():
        without = "it" if single.sum() == 1 else "them"
        notes.append(
            f"{_of_classes(classes, single, 'is', 'are')} predicted by models trained without "
            f"{without}."
        )
    return notes


def _of_classes(
    classes: Labelling, which: npt.NDArray[np.bool_], singular: str, plural: str
) -> str:
    """List a few classes with their sizes, and the verb."""
    chosen = np.flatnonzero(which)
    named = [
        f"{classes.names[c]!r} ({counted(int(classes.sizes[c]), 'row')})"
        for c in chosen[:_MAX_NAMED]
    ]
    more = len(chosen) - len(named)
    listed = ", ".join(named) + (f" and {more} more" if more else "")
    return f"Class {listed} {singular}" if len(chosen) == 1 else f"Classes {listed} {plural}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntry:
    """One kind of resampling plan."""

    name: str
    pattern: str
    """How to write the specification; the user replaces the words in capitals."""
    example: str
    summary: str
    kind: str
    """The `kind` of the resulting Design."""
    paper: str
    doi: str | None = None
    takes: tuple[str, ...] = ()
    """Its arguments in the order of the specification: some of runs, folds, splits, samples and
    test_fraction; or a column."""
    by_name: bool = True
    """True if the specification starts with the name; if not, its pattern identifies the plan."""
    function: str = ""
    """The function that marks the rows, as ``package.module:name``; empty if a column or another
    plan does. bestofk calls it with the number of rows and, by keyword, `seed`, `classes` and
    `groups` (codes from 0, or None), `runs`, `folds` and `test_fraction`. For the kind "cv" it
    returns (runs, n) integers, the fold that tests each row; for the kind "resample" it returns
    (folds, n) booleans, whether a split tests the row."""
    stratifies: bool = False
    """Whether the function preserves the shares of `classes`; otherwise they are None."""
    needs: str = ""
    """Other input of the plan: ``"groups"``, or a ``"column"`` that it names."""
    explanation: tuple[str, ...] = ()
    """Three plain sentences: what it does, when it is right, and when it is not."""


_FOLDS, _SPLITS = "bestofk.splits.folds:cross_validation", "bestofk.splits.folds:random_splits"
PLANS: Registry[PlanEntry] = Registry(
    "plan",
    PlanEntry(
        name="rxk",
        explanation=(
            "Repeats k-fold cross-validation with other random folds; every row is tested once per "
            "run.",
            "Use it for several data sets, or to repeat published results.",
            "Do not use it for unstable learners on one data set: RUNSxFOLDS+nested measures how "
            "much means vary.",
        ),
        pattern="RUNSxFOLDS",
        example="10x10",
        summary="runs of k-fold cross-validation, each run with its own random folds",
        kind="cv",
        paper="Bouckaert 2003, Choosing between two learning algorithms based on calibrated tests",
        takes=("runs", "folds"),
        by_name=False,
        function=_FOLDS,
        stratifies=True,
    ),
    PlanEntry(
        name="5x2",
        explanation=(
            "Halves the rows five times at random; each half trains once and tests once.",
            "Use it if fits are expensive: it needs ten fits per learner.",
            "Do not use it for little data, because models see only half of the rows.",
        ),
        pattern="5x2",
        example="5x2",
        summary="five random halvings; each half trains once and tests once",
        kind="cv",
        paper="Dietterich 1998, Approximate statistical tests",
        doi="10.1162/089976698300017197",
        by_name=False,
    ),
    PlanEntry(
        name="kfold",
        explanation=(
            "Divides the rows into k folds and tests each fold once.",
            "Use it for a quick first look.",
            "Do not use it to decide between close learners: the result depends on one random "
            "division.",
        ),
        pattern="kfold:FOLDS",
        example="kfold:10",
        summary="one run of k-fold cross-validation: every row is tested once",
        kind="cv",
        paper="Stone 1974, Cross-validatory choice and assessment of statistical predictions",
        doi="10.1111/j.2517-6161.1974.tb00994.x",
        takes=("folds",),
        function=_FOLDS,
        stratifies=True,
    ),
    PlanEntry(
        name="nested",
        explanation=(
            "Adds models that leave out two folds at a time to repeated cross-validation.",
            "Use it on one data set with any learners; it is the default there.",
            "Do not use it for several data sets, which show the variation themselves.",
        ),
        pattern="RUNSxFOLDS+nested",
        example="10x5+nested",
        summary="additional runs that leave every pair of folds out together, to estimate how much "
        "the means would vary with other data",
        kind="cv",
        paper="Bates, Hastie and Tibshirani 2023, Cross-validation: what does it estimate and how "
        "well does it do it?",
        doi="10.1080/01621459.2023.2197686",
        by_name=False,
    ),
    PlanEntry(
        name="holdout",
        explanation=(
            "Divides the rows once at random into training and test rows.",
            "Use it for large data, if one fit takes long.",
            "Do not use it for little data: the result depends on one division.",
        ),
        pattern="holdout:SHARE",
        example="holdout:0.33",
        summary="one random split; SHARE is the share of test rows",
        kind="holdout",
        paper="Kohavi 1995, A study of cross-validation and bootstrap for accuracy estimation",
        takes=("test_fraction",),
        function=_SPLITS,
        stratifies=True,
    ),
    PlanEntry(
        name="resample",
        explanation=(
            "Divides the rows many times at random into training and test rows.",
            "Use it if you need a test share that folds cannot give.",
            "Do not use it instead of folds without a reason: some rows are tested often and "
            "others never.",
        ),
        pattern="resample:SPLITS:SHARE",
        example="resample:30:0.1",
        summary="independent random splits; SHARE is the share of test rows",
        kind="resample",
        paper="Nadeau and Bengio 2003, Inference for the generalization error",
        doi="10.1023/A:1024068626366",
        takes=("splits", "test_fraction"),
        function=_SPLITS,
        stratifies=True,
    ),
    PlanEntry(
        name="loo",
        explanation=(
            "Tests every row by a model that was trained on all other rows.",
            "Use it for very little data.",
            "Do not use it to compare unstable learners, or for large data: it needs one fit per "
            "row.",
        ),
        pattern="loo",
        example="loo",
        summary="leave one out: every row is tested by a model trained on all others",
        kind="loo",
        paper="Lachenbruch and Mickey 1968, Estimation of error rates in discriminant analysis",
        doi="10.1080/00401706.1968.10490530",
        function="bestofk.splits.folds:leave_one_out",
    ),
    PlanEntry(
        name="bootstrap",
        explanation=(
            "Trains on rows drawn with replacement and tests on the rows that were not drawn.",
            "Use it to repeat published results that use the bootstrap.",
            "Do not use it instead of folds: models see only about 63 % of the different rows.",
        ),
        pattern="bootstrap:SAMPLES",
        example="bootstrap:200",
        summary="train on samples drawn with replacement, test on the rows left out",
        kind="bootstrap",
        paper="Efron 1983, Estimating the error rate of a prediction rule",
        doi="10.1080/01621459.1983.10477973",
        takes=("samples",),
        function="bestofk.splits.folds:bootstrap",
        stratifies=True,
    ),
    PlanEntry(
        name="group-kfold",
        explanation=(
            "Divides whole groups of rows, such as patients, into k folds.",
            "Use it if rows of one group are similar and new data will come from other groups.",
            "Do not use it with fewer groups than folds.",
        ),
        pattern="group-kfold:FOLDS",
        example="group-kfold:5",
        summary="one run of k folds of whole groups: no group is on both sides of a split",
        kind="cv",
        paper="Roberts et al. 2017, Cross-validation strategies for data with temporal, spatial, "
        "hierarchical, or phylogenetic structure",
        doi="10.1111/ecog.02881",
        takes=("folds",),
        needs="groups",
        function=_FOLDS,
        stratifies=True,
    ),
    PlanEntry(
        name="group-rxk",
        explanation=(
            "Repeats cross-validation with whole groups of rows, such as patients, in random "
            "folds.",
            "Use it if rows of one group are similar and new data will come from other groups.",
            "Do not use it with few groups: the groups are then the sample, however many rows they "
            "have.",
        ),
        pattern="group-RUNSxFOLDS",
        example="group-10x10",
        summary="runs of k folds of whole groups; '+nested' may follow",
        kind="cv",
        paper="Roberts et al. 2017, Cross-validation strategies for data with temporal, spatial, "
        "hierarchical, or phylogenetic structure",
        doi="10.1111/ecog.02881",
        takes=("runs", "folds"),
        by_name=False,
        needs="groups",
        function=_FOLDS,
        stratifies=True,
    ),
    PlanEntry(
        name="time",
        explanation=(
            "Predicts each window of time by models that were trained on all earlier rows.",
            "Use it if rows are in order of time and the model will predict the future.",
            "Do not use it for rows without an order: folds use the data better.",
        ),
        pattern="time:WINDOWS",
        example="time:10",
        summary="rows in order of time: each window is predicted by models trained on all "
        "earlier rows",
        kind="time",
        paper="Tashman 2000, Out-of-sample tests of forecasting accuracy",
        doi="10.1016/S0169-2070(00)00065-0",
        takes=("folds",),
        function="bestofk.splits.folds:time_windows",
    ),
    PlanEntry(
        name="predefined",
        explanation=(
            "Takes the folds, or the training and test rows, from a column of your data.",
            "Use it for a published division, so that results can be compared.",
            "Do not use it if the column was chosen after looking at the results.",
        ),
        pattern="predefined:COLUMN",
        example="predefined:fold",
        summary="a column holds the fold that tests the row (-1: only train), or train and test",
        kind="cv",
        paper="Stone 1974, Cross-validatory choice and assessment of statistical predictions",
        doi="10.1111/j.2517-6161.1974.tb00994.x",
        takes=("column",),
        needs="column",
    ),
)
