"""A study as a store keeps it: what was asked, and how far it has come."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from bestofk.run.experiment import Experiment
from bestofk.run.store.url import hide_passwords
from bestofk.splits.design import Subsets

MOST_SETTINGS = 2000
"""Characters of a learner's text that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyLearner:
    """A learner of a study."""

    name: str
    fingerprint: str
    settings: str
    """The estimator as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyData:
    """A data set of a study, with the splits that were made of it."""

    name: str
    fingerprint: str
    rows: int
    columns: int
    runs: int
    folds: int
    splits: tuple[tuple[int, int | None, str], ...]
    """(run, fold, fingerprint); fold None where one fingerprint serves all folds of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDecision:
    """What was asked of a decision about a study, and what a reader must know of it besides.

    Attributes
    ----------
    options : dict
        What `bestofk.decide.Settings.to_dict` wrote.
    created : str
        UTC, ISO 8601; for the reader only.
    command : tuple of str
        The words of the command line, if there was one; passwords in it are hidden.
    fits : int or None
        How many fits it was made from, where not all were there.
    notes : tuple of str
        Why, in sentences.
    replication : dict or None
        How often other random splits gave the same, where that was asked for.
    race : dict or None
        When it was to stop, where it was to stop before the end of the plan.
    """

    options: dict[str, Any]
    created: str = ""
    command: tuple[str, ...] = ()
    fits: int | None = None
    notes: tuple[str, ...] = ()
    replication: dict[str, Any] | None = None
    race: dict[str, Any] | None = None

    @property
    def asked(self) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """What tells it from other decisions about the same study."""
        return self.options, self.race

    def __post_init__(self) -> None:
        object.__setattr__(self, "command", tuple(map(hide_passwords, self.command)))
        object.__setattr__(self, "notes", tuple(self.notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySpec:
    """What a comparison was asked to do: enough to find its cells and to name them."""

    title: str
    learners: tuple[StudyLearner, ...]
    datasets: tuple[StudyData, ...]
    plan: str
    kind: str
    """The kind of the design (see `bestofk.splits.design`)."""
    stratified: bool | None
    loss: str
    """The one that decides."""
    repetitions: int
    random_state: int
    also: tuple[str, ...] = ()
    """Other losses by which the same models were judged."""
    also_ways: tuple[tuple[str, ...], ...] = ()
    """For each of them and each data set, how its cells were evaluated."""
    versions: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    """The words of the command line, if there was one; passwords in it are hidden."""
    notes: tuple[str, ...] = ()
    """What a reader must know of the splits."""
    taken: tuple[str, ...] = ()
    """What the target was taken for, where its values do not make that evident."""
    caution: str | None = None
    """What the test is known to do to learners such as these; None where that is not known."""
    n_train: tuple[int, ...] | None = None
    n_test: tuple[int, ...] | None = None
    """Rows of the parts of the first data set, as its design has them; None: not known."""
    groups: int | None = None
    """Groups of rows of the first data set that stay whole; None: every row stands for itself."""
    replicates: str = ""
    """The digest of the study that this one repeats over other random splits."""
    decisions: tuple[StoredDecision, ...] = ()
    """What was asked of the decisions about it, the last one last."""
    account: tuple[str, ...] = ()
    """What was understood of the data, in sentences."""
    preparation: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """By data set and learner: what was done to the rows inside the folds."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "command", tuple(map(hide_passwords, self.command)))

    @property
    def digest(self) -> str:
        """The same for the same work, whatever its title, versions, command line or decisions."""
        work = asdict(replace(self, decisions=()))
        for name in _NOT_WORK:
            del work[name]
        if not self.also:
            del work["also"]  # as earlier versions knew the work
        for learner in work["learners"]:
            del learner["settings"]  # its fingerprint says it, without addresses in memory
        return hashlib.sha256(_dump(work).encode()).hexdigest()[:32]

    def by_loss(self, loss: str) -> StudySpec:
        """The same study by one of the other losses, whose cells have splits of other names."""
        ways = self.also_ways[self.also.index(loss)]
        return replace(
            self,
            loss=loss,
            also=(),
            also_ways=(),
            datasets=tuple(
                replace(
                    data,
                    splits=tuple(
                        (run, fold, f"{name.rpartition(':')[0]}:{way}")
                        for run, fold, name in data.splits
                    ),
                )
                for data, way in zip(self.datasets, ways, strict=True)
            ),
        )

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        subsets = subsets_of(self.plan)
        on_parts = 0 if subsets is None else subsets.runs * subsets.folds
        splits = sum(data.runs * data.folds + on_parts for data in self.datasets)
        return splits * len(self.learners) * self.repetitions

    def as_json(self) -> str:
        """ASCII text that `from_json` reads back."""
        return _dump(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> StudySpec:
        """The specification that `as_json` wrote; fields of later versions are left out."""
        found = {name: value for name, value in json.loads(text).items() if name in _FIELDS}
        found["learners"] = tuple(StudyLearner(**learner) for learner in found["learners"])
        found["datasets"] = tuple(
            StudyData(**{**data, "splits": tuple(map(tuple, data["splits"]))})
            for data in found["datasets"]
        )
        found["also_ways"] = tuple(map(tuple, found.get("also_ways") or ()))
        for name in ("also", "command", "notes", "taken", "n_train", "n_test", "account"):
            if found.get(name) is not None:
                found[name] = tuple(found[name])
        found["decisions"] = tuple(
            StoredDecision(**{name: one[name] for name in _OF_DECISION if name in one})
            for one in found.get("decisions", ())
        )
        return cls(**found)

    def registered_after(self, known: StudySpec) -> StudySpec:
        """What a store keeps when the work that it knows is registered again.

        The first title, versions and command stay. A decision with other options than those
        before comes last; one with the same options takes the place of the earlier one.
        """
        asked = [one.asked for one in self.decisions]
        earlier = [one for one in known.decisions if one.asked not in asked]
        found = replace(known, decisions=(*earlier, *self.decisions))
        if known.caution is not None:
            return found
        # of an older version, which did not keep these
        return replace(
            found, notes=self.notes, caution=self.caution, n_train=self.n_train, n_test=self.n_test,
            account=self.account, preparation=self.preparation,
        )  # fmt: skip


def subsets_of(plan: str) -> Subsets | None:
    """The runs on parts of the rows that a plan has, from its specification."""
    if "+" not in plan:
        return None
    from bestofk.splits.plans import specify

    return specify(plan, {}).subsets


_FIELDS = frozenset(StudySpec.__dataclass_fields__)
_OF_DECISION = frozenset(StoredDecision.__dataclass_fields__)
_NOT_WORK = (
    "title", "versions", "command", "notes", "taken", "caution", "n_train", "n_test", "groups",
    "replicates", "decisions", "account", "preparation",
)  # fmt: skip
"""Fields that do not say what is to be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStudy:
    """A study in a store."""

    id: int
    created: str
    """UTC, ISO 8601; for the reader only."""
    spec: StudySpec


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCount:
    """How often a learner failed for one reason."""

    learner: str
    kind: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How far a study has come."""

    cells: int
    """All cells of the study."""
    done: int
    """Cells with a loss."""
    failed: int
    seconds: float
    """Spent in fit and predict."""
    failures: tuple[FailureCount, ...]
    """The most frequent first."""

    @property
    def missing(self) -> int:
        """Cells that were not evaluated yet."""
        return self.cells - self.done - self.failed

    def explain(self) -> str:
        """The numbers in sentences."""
        words = [f"{self.done} of {self.cells} fits have a loss"]
        words.append(f", {self.failed} failed" if self.failed else "")
        words.append(f", {self.missing} are still to be evaluated" if self.missing else "")
        words.append(f"; fit and predict took {self.seconds:.4g} s.")
        lines = ["".join(words)]
        for failure in self.failures:
            times = "once" if failure.count == 1 else f"{failure.count} times"
            lines.append(f"{failure.learner!r} failed {times} ({failure.kind}): {failure.reason}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellGroup:
    """Cells that agree in all that a tally asks of them."""

    dataset: str
    learner: str
    splits: str
    run: int
    fold: int | None
    kind: str | None
    reason: str | None
    count: int
    seconds: float


def study_of(
    experiment: Experiment, *, title: str = "", plan: str | None = None, command: Sequence[str] = ()
) -> StudySpec:
    """The specification of an experiment, with the versions of what ran it."""
    designs = [splits.design for splits in experiment.splits]
    return StudySpec(
        title=title or _title(experiment),
        learners=tuple(
            StudyLearner(
                name=learner.name,
                fingerprint=learner.fingerprint,
                settings=_settings_text(learner.estimator),
            )
            for learner in experiment.learners
        ),
        datasets=tuple(
            StudyData(
                name=data.name,
                fingerprint=data.fingerprint,
                rows=data.n,
                columns=data.d,
                runs=splits.runs,
                folds=splits.folds,
                splits=_split_names(experiment, place),
            )
            for place, (data, splits) in enumerate(
                zip(experiment.datasets, experiment.splits, strict=True)
            )
        ),
        plan=experiment.splits[0].spec if plan is None else plan,
        kind=designs[0].kind,
        stratified=designs[0].stratified,
        loss=experiment.loss.name,
        also=tuple(loss.name for loss in experiment.also),
        also_ways=tuple(
            tuple(other.way(place).digest for place in range(len(experiment.datasets)))
            for other in experiment.others
        ),
        repetitions=experiment.repetitions,
        random_state=experiment.random_state,
        versions=_versions(),
        command=tuple(command),
        n_train=designs[0].n_train,
        n_test=designs[0].n_test,
        groups=designs[0].groups,
        account=_account(experiment),
    )


def _account(experiment: Experiment) -> tuple[str, ...]:
    """What was understood of the data; each sentence once, by data set where there are several."""
    several = len(experiment.datasets) > 1
    return tuple(
        dict.fromkeys(
            f"{data.name}: {sentence}"
            if several and not sentence.startswith(data.name)
            else sentence
            for data in experiment.datasets
            for sentence in data.account
        )
    )


def tally(spec: StudySpec, groups: Sequence[CellGroup]) -> Tally:
    """Count the cells of a study; a cell that two of its names share counts for both."""
    learners: dict[str, list[str]] = {}
    for learner in spec.learners:
        learners.setdefault(learner.fingerprint, []).append(learner.name)
    sets = splits_of(spec)
    done, seconds = 0, 0.0
    failed: dict[tuple[str, str, str], int] = {}
    for group in groups:
        at = (group.dataset, group.splits, group.run, group.fold)
        times = len(sets.get(at, ()))
        for name in learners.get(group.learner, ()):
            seconds += group.seconds * times
            if group.kind is None:
                done += group.count * times
            elif times:
                why = (name, group.kind.partition(":")[0], group.reason or "")
                failed[why] = failed.get(why, 0) + group.count * times
    return Tally(
        cells=spec.n_cells,
        done=done,
        failed=sum(failed.values()),
        seconds=seconds,
        failures=tuple(
            FailureCount(learner=learner, kind=kind, reason=reason, count=count)
            for (learner, kind, reason), count in sorted(
                failed.items(), key=lambda item: (-item[1], item[0])
            )
        ),
    )


def splits_of(spec: StudySpec) -> dict[tuple[str, str, int, int | None], list[int]]:
    """Positions of the data sets by (data set, splits, run, fold) of their cells."""
    found: dict[tuple[str, str, int, int | None], list[int]] = {}
    for place, data in enumerate(spec.datasets):
        for run, fold, fingerprint in data.splits:
            found.setdefault((data.fingerprint, fingerprint, run, fold), []).append(place)
    return found


def _title(experiment: Experiment) -> str:
    learners = len(experiment.learners)
    names = [data.name for data in experiment.datasets]
    sets = names[0] if len(names) == 1 else f"{len(names)} data sets"
    return f"{learners} learner{'s' * (learners != 1)} on {sets}"


def _split_names(experiment: Experiment, dataset: int) -> tuple[tuple[int, int | None, str], ...]:
    splits = experiment.splits[dataset]
    if splits.fold_of is not None:
        return tuple(
            (run, None, experiment.splits_key(dataset, run, 0))
            for run in range(splits.runs + splits.subset_runs)
        )
    return tuple(
        (run, fold, experiment.splits_key(dataset, run, fold))
        for run in range(splits.runs)
        for fold in range(splits.folds)
    )


def _settings_text(estimator: Any) -> str:
    """The estimator as one line; a broken repr is no reason to stop."""
    try:
        text = " ".join(repr(estimator).split())
        return text if len(text) <= MOST_SETTINGS else text[: MOST_SETTINGS - 3] + "..."
    except Exception:  # whatever a stranger's class raises
        return f"{type(estimator).__module__}.{type(estimator).__qualname__}"


def _versions() -> dict[str, str]:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from bestofk.version import __version__

    found = {"bestofk": __version__, "python": platform.python_version()}
    for package in ("numpy", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def now() -> str:
    """The time as text, for the reader: nothing is decided by it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
