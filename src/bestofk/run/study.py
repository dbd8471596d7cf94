"""A study: the measured losses, the decision, costs and failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import duration, joined
from bestofk._base.results import Presented, Reported, present
from bestofk.decide.decision import Decision
from bestofk.decide.statements import Stated, Statement

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from bestofk.decide.evidence import Evidence
    from bestofk.decide.settings import Settings
    from bestofk.decide.slices import Slices
    from bestofk.decide.stopping.result import Race
    from bestofk.learners.preparation import Preparation
    from bestofk.losses.losses import Scores
    from bestofk.run.conclude import OtherMetric
    from bestofk.run.live import Live
    from bestofk.run.record import StudyRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCell(Presented):
    """A cell without a loss."""

    learner: str
    dataset: str
    run: int
    fold: int
    repetition: int
    kind: str
    reason: str

    def explain(self) -> str:
        """Return what failed and why, in a sentence."""
        return (
            f"{self.learner} failed on {self.dataset} in run {self.run}, fold {self.fold}, "
            f"repetition {self.repetition} ({self.kind}): {self.reason.rstrip('.')}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost(Presented):
    """Mean costs of one fit of a learner."""

    fit_time: float | None
    predict_time: float | None
    size: float | None

    def explain(self) -> str:
        """Return the means in a sentence."""
        times = {"fitting": self.fit_time, "predicting": self.predict_time}
        parts = [
            f"{what} takes {duration(time)}" for what, time in times.items() if time is not None
        ]
        if self.size is not None:
            parts.append(f"the model has {self.size:,.0f} bytes")
        sentence = joined(parts) or "no fit was timed"
        return f"{sentence[:1].upper()}{sentence[1:]}."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study(Stated, Reported):
    """A comparison that was run.

    Attributes
    ----------
    ranking, best : names
        Of the decision; None and () when nothing could be decided.
    losses : Scores
        What was measured, of the learners that were decided about.
    evidence : Evidence or None
        The tested pairs, that of the decision; ``.to_frame()`` gives one row per pair.
    decision : Decision or None
        All of the verdict.
    costs : mapping of name to Cost
        Fit time, predict time and model size.
    failures : tuple of FailedCell
    left_out : mapping of name to reason
        Learners that could not be decided about.
    notes : tuple of str
        What a reader must know besides.
    record : StudyRecord
        What was run: plan, loss, random state, fingerprints, versions and the command line, if
        there was one.
    store : str
        Where the cells are, without a password.
    settings : Settings or None
        The settings of the decision.
    """

    decision: Decision | None
    losses: Scores
    costs: Mapping[str, Cost]
    failures: tuple[FailedCell, ...]
    left_out: Mapping[str, str]
    record: StudyRecord
    notes: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Runs or folds that do not count because not all learners finished them."""
    undecided: str = ""
    """Why there is no decision; empty if there is one."""
    store: str = "memory"
    settings: Settings | None = None
    others: tuple[OtherMetric, ...] = ()
    """Results of the same models under other metrics."""
    slices: Slices | None = None
    """Verdicts by slice, if `by` was given."""
    race: Race | None = None
    """How far every learner ran, if the comparison stopped early."""
    live: Live | None = field(default=None, repr=False)
    """The learners and data that were run, for refits; None if opened from a store."""

    @property
    def plan(self) -> str:
        """The plan of the splits."""
        return self.record.plan

    @property
    def loss(self) -> str:
        """The loss that decides."""
        return self.record.loss

    @property
    def random_state(self) -> int:
        """The seed of splits and learners."""
        return self.record.random_state

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is predicted, and what was assumed about columns and rows."""
        return self.record.taken

    @property
    def preparation(self) -> dict[str, dict[str, Preparation]]:
        """How the rows were prepared inside the folds, by data set and learner."""
        from bestofk.learners.preparation import Preparation

        return {
            data: {learner: Preparation.from_dict(done) for learner, done in by_learner.items()}
            for data, by_learner in self.record.preparation.items()
        }

    @property
    def ranking(self) -> tuple[str, ...]:
        """Names, best first."""
        return () if self.decision is None else tuple(str(name) for name in self.decision.ranking)

    @property
    def evidence(self) -> Evidence | None:
        """The tested pairs of the decision."""
        return None if self.decision is None else self.decision.evidence

    @property
    def recommended(self) -> str | None:
        """The learner to use."""
        name = None if self.decision is None else self.decision.recommended
        return None if name is None else str(name)

    def fit_recommended(self, data: Any = None, target: Any = None, **options: Any) -> Pipeline:
        """Fit the recommended learner on all rows; parameters as for `refit`.

        Returns
        -------
        Pipeline
        """
        if self.recommended is None:
            raise ArgumentError(
                f"The study recommends no learner ({self.undecided.rstrip('.')}): "
                "study.refit(name) fits the one that you name."
            )
        return self.refit(self.recommended, data, target, **options)

    def refit(
        self,
        name: str,
        data: Any = None,
        target: Any = None,
        *,
        learner: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        columns: Mapping[str, str] | None = None,
        task: str = "auto",
    ) -> Pipeline:
        """Fit one learner on all rows, with the preparation that was used inside the folds.

        Parameters
        ----------
        name : str
            The learner.
        data, target
            Of a comparison on several data sets the name of one. Of a study that was opened from
            a store the data again, as for `compare`, unless it is an embedded data set.
        learner : estimator, optional
            Of a study that was opened from a store the learner again, unless it is built in.
        groups, sample_weight, columns, task
            As for `compare`; only of a study that was opened from a store.

        Returns
        -------
        Pipeline
            A fitted scikit-learn pipeline. It predicts from raw rows: text, dates and missing
            cells, columns in any order, further columns ignored. Labels have your own type. It
            can be pickled, cloned and cross-validated.

        Notes
        -----
        The learner gets the seed of the first fold of the comparison, and the weights of the rows
        if there are any. Values of nominal columns that the data did not hold count as missing.
        Missing numbers take the mean of the training rows, also in columns that had no gaps.

        Examples
        --------
        >>> import bestofk as bk
        >>> study = bk.compare(["nmc", "nn"], "iris", cv="5x2", progress=False)
        >>> model = study.refit("nmc")
        >>> model.predict([[5.1, 3.5, 1.4, 0.2]]).tolist()
        ['setosa']
        """
        from bestofk.run.deploy import refit

        return refit(
            self, name, data, target, learner=learner, groups=groups,
            sample_weight=sample_weight, columns=columns, task=task,
        )  # fmt: skip

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything there is to say, the verdict first."""
        from bestofk.run.study_statements import study_statements

        return study_statements(self)

    def explain(self) -> str:
        """Return all statements, one paragraph per line.

        They say what to do, what was left out, why, and how it was run.
        """
        text = Stated.explain(self)
        return text if self.slices is None else f"{text}\n{self.slices.explain()}"

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per learner, in the user's metric."""
        return present("table", self).to_frame()

    def to_dict(self, *, pairs: bool = False) -> dict[str, Any]:
        """Return the study for strict JSON: no NaN, no infinity; all in the user's metric.

        `pairs` is that of `Decision.to_dict`.
        """
        from bestofk.version import __version__

        body: dict[str, Any] = (
            self.decision.to_dict(pairs=pairs)
            if self.decision is not None
            else {
                "recommended": None,
                "candidates": [],
                "ranking": [],
                "table": [],
                "pairs": None,
                "by_preference": list(self.losses.learners),
                "edges": [],
                "version": __version__,
            }
        )
        return {
            **body,
            "failures": [failure.to_dict() for failure in self.failures],
            "left_out": dict(self.left_out),
            "costs": {name: cost.to_dict() for name, cost in self.costs.items()},
            "data": list(self.assumed),
            "datasets": [
                {"name": one.name, "rows": one.rows, "fingerprint": one.fingerprint}
                for one in self.record.datasets
            ],
            "preparation": {
                data: {learner: done.to_dict() for learner, done in by_learner.items()}
                for data, by_learner in self.preparation.items()
            },
            "plan": self.plan,
            "loss": self.loss,
            "metrics": self._metrics(),
            "random_state": self.random_state,
            "slices": None if self.slices is None else self.slices.to_dict(),
            "race": None if self.race is None else self.race.to_dict(),
            "notes": [one.text for one in self.select("left out", "note")],
            "headline": self.headline(),
            "statements": [one.to_dict() for one in self.statements],
        }

    def _metrics(self) -> list[dict[str, Any]]:
        """Return all metrics, the one that decides first, in the user's direction."""
        metric = self.losses.metric
        means = {} if self.decision is None else self.decision.means
        first = {
            "loss": self.loss,
            "name": metric.name,
            "higher_is_better": metric.higher_is_better,
            "means": {str(name): float(mean) for name, mean in means.items()},
            "recommended": self.recommended,
            "agrees": None if self.recommended is None else True,
            "undecided": self.undecided,
        }
        names = tuple(first)
        return [first, *({name: other.to_dict()[name] for name in names} for other in self.others)]

    def to_json(self) -> str:
        """Return the study as one strict JSON object."""
        import json

        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"Study(recommended={self.recommended!r}, ranking={self.ranking!r})"
