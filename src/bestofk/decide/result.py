"""The result of every comparison."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import ArgumentError, BestOfKError
from bestofk._base.results import json_ready, present
from bestofk.decide.preference import Name

if TYPE_CHECKING:
    import pandas as pd

    from bestofk.decide.decision import Decision
    from bestofk.decide.settings import Settings
    from bestofk.decide.slices import Slices
    from bestofk.losses.losses import Metric, Scores

FAILURE_COLUMNS = ("learner", "dataset", "run", "fold", "repetition", "kind", "reason")

INSTEAD = {
    "winner": "recommended",
    "best_estimator_": "fit_recommended()",
    "refit": "fit_recommended('NAME')",
    "predict": "fit_recommended().predict(X)",
    "ranking": "order",
    "leaderboard": "table",
    "to_frame": "table",
    "to_csv": "table.to_csv('FILE', index=False)",
    "pvalues": "pairs['p']",
    "losses": "scores",
    "cv_results_": "scores.to_frame()",
    "summary": "explain()",
}
"""What to write instead of names that people try."""


class Result:
    """The answer of a comparison: which learner to use, and how sure that is.

    Every function `compare_*` of bestofk returns one, and it prints as the command line does.

    Attributes
    ----------
    recommended : name or None
        The learner to use; None if nothing can be decided.
    candidates : tuple of names
        The learners that may be the best, best mean first.
    order : tuple of names
        All learners: by their means, or with a preference in the order of the decision.
    table : DataFrame
        One row per learner, in that order: `name`, `mean`, `at_least` and `at_most` (how much worse
        than the best it is), `verdict`, and what was measured besides, such as `fit_time`,
        `predict_time`, `size`, `cost`, `latency` or `runs`.
    pairs : DataFrame
        One row per pair of learners: `a`, `b`, `difference` (a minus b), `low`, `high`, `p`,
        `adjusted_p`, `better`. Stepwise corrections have no intervals.
    ranks : DataFrame or None
        The ranks that the pairs allow: `name`, `from`, `to`; None if some pair was not tested in
        both directions.
    headline : str
        What to do, in one or two sentences.
    notes, cautions : tuple of str
        What was assumed; what these data show against the test.
    metric : Metric
        What was measured: `name`, `higher_is_better`.
    test : str
        The pairwise test.
    settings : Settings
        How it was decided.
    scores : Scores or None
        The numbers behind it; None for battles and printed tables.
    failures : DataFrame
        One row per fit without a score, with the reason.
    by_metric, by_slice, by_dataset : dict of Result
        The same learners by other metrics, by slice (`by`), and by data set if there are several.
        The statements of all slices, or of all data sets, hold together; with ``per_dataset`` each
        data set is decided by itself.

    Examples
    --------
    >>> import bestofk as bk
    >>> result = bk.compare_scores(
    ...     [[0.31, 0.29, 0.30, 0.33], [0.21, 0.20, 0.19, 0.22]], prefer="listed")
    >>> result.recommended, result.candidates, result.order
    (1, (1,), (1, 0))
    >>> result.table[["name", "mean", "verdict"]]
       name    mean      verdict
    0     1  0.2050  recommended
    1     0  0.3075    ruled out
    """

    def __init__(self, outcome: Any, slices: Slices | None = None) -> None:
        self.outcome = outcome
        self._slices: Slices | None = slices or getattr(outcome, "slices", None)

    @property
    def decision(self) -> Decision | None:
        decision: Decision | None = self.outcome.decision
        return decision

    @property
    def recommended(self) -> Name | None:
        """The learner to use; None if nothing can be decided."""
        return None if self.decision is None else self.decision.recommended

    @property
    def candidates(self) -> tuple[Name, ...]:
        """The learners that may be the best, best mean first."""
        return () if self.decision is None else self.decision.candidates

    @property
    def order(self) -> tuple[Name, ...]:
        """All learners: by their means, or with a preference in the order of the decision."""
        if self.decision is None:
            return () if self.scores is None else self.scores.learners
        return tuple(row.name for row in self.decision.standings)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A data frame with one row per learner."""
        frame: pd.DataFrame = present("frame", self._columns())
        return frame

    def _columns(self) -> dict[str, list[Any]]:
        rows = [] if self.decision is None else [row.to_dict() for row in self.decision.standings]
        if self.decision is None and self.scores is not None:
            means, shown = self.scores.means(missing="allow"), self.metric.shown
            blank = {"at_least": None, "at_most": None, "verdict": "not tested"}
            rows = [{"name": name, "mean": shown(mean), **blank} for name, mean in means.items()]
        names = ("name", "mean", "at_least", "at_most", "verdict")
        columns = {name: [row[name] for row in rows] for name in names}
        for title, cells in self.outcome._measured().items():
            values = [json_ready(cells.get(name, cells.get(str(name)))) for name in self.order]
            if any(value is not None for value in values):
                columns[title] = values
        return columns

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """A data frame with one row per pair of learners."""
        frame: pd.DataFrame = present("frame", self._pair_columns())
        return frame

    def _pair_columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {} if self.decision is None else self.outcome._pair_columns()
        return columns

    @cached_property
    def ranks(self) -> pd.DataFrame | None:
        """A data frame with the ranks that the pairs allow."""
        ranks = None if self.decision is None else self.decision.ranks
        frame: pd.DataFrame | None = None if ranks is None else present("frame", ranks)
        return frame

    @property
    def headline(self) -> str:
        """What to do, in one or two sentences."""
        text: str = self.outcome.headline
        return text

    @property
    def notes(self) -> tuple[str, ...]:
        """What was predicted and assumed, one sentence or more each."""
        return tuple(one.text for one in self.outcome.select("data", "note"))

    @property
    def cautions(self) -> tuple[str, ...]:
        """What these data show against the test."""
        return tuple(one.text.removeprefix("Caution: ") for one in self.outcome.select("caution"))

    def explain(self) -> str:
        """Return everything there is to say, one paragraph per line."""
        text: str = self.outcome.explain()
        return text if self._slices is None else f"{text}\n{self._slices.explain()}"

    @property
    def metric(self) -> Metric:
        """What was measured."""
        metric: Metric = (self.scores if self.decision is None else self.decision).metric  # type: ignore[union-attr]
        return metric

    @property
    def test(self) -> str | None:
        """The pairwise test."""
        return None if self.decision is None else self.decision.test

    @property
    def settings(self) -> Settings:
        """How it was decided."""
        from bestofk.decide.settings import Settings

        for value in (self.decision, self.outcome):
            settings: Settings | None = getattr(value, "settings", None)
            if settings is not None:
                return settings
        return Settings() if self.decision is None else Settings(alpha=self.decision.alpha)

    @property
    def scores(self) -> Scores | None:
        """The numbers behind the decision."""
        scores: Scores | None = self.outcome._scores()
        return scores

    @cached_property
    def failures(self) -> pd.DataFrame:
        """A data frame with one row per fit without a score."""
        failed = [json_ready(one) for one in getattr(self.outcome, "failures", ())]
        columns = {name: [one[name] for one in failed] for name in FAILURE_COLUMNS}
        frame: pd.DataFrame = present("frame", columns)
        return frame

    @property
    def by_metric(self) -> dict[str, Result]:
        """Results of the same learners by the other metrics."""
        return {name: Result(one) for name, one in self.outcome._by_metric().items()}

    @property
    def by_slice(self) -> dict[str, Result]:
        """Results by slice, which hold together."""
        slices = () if self._slices is None else self._slices.slices
        return {one.name: Result(one.decision) for one in slices}

    @cached_property
    def by_dataset(self) -> dict[str, Result]:
        """Results by data set; those that can be decided."""
        from bestofk.decide.compare_scores import decide

        if hasattr(self.outcome, "parts"):
            return {name: Result(part) for name, part in self.outcome.parts.items()}
        scores, decision = self.scores, self.decision
        if scores is None or decision is None or len(scores.datasets) < 2:
            return {}
        settings = replace(self.settings, test="auto", alpha=decision.alpha / len(scores.datasets))
        results = {}
        for name in scores.datasets:
            with suppress(BestOfKError):
                results[name] = Result(decide(scores.select(datasets=[name]), settings))
        return results

    def plot(
        self, kind: str | None = None, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> Any:
        """Draw a figure; return the matplotlib Axes, or write a file.

        Parameters
        ----------
        kind : str, optional
            A name of ``bestofk list figures``; by default the one that shows most.
        path : path, optional
            A file to write, ending in .svg, .pdf or .png.
        **options
            Options of the figure, such as ``width=3.3`` (inches).
        """
        return present("figure", self, kind, path, **options)

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write a self-contained HTML file and return its path.

        Parameters
        ----------
        path : path
            The file; it is written atomically.
        **options
            `title`, the heading of the page.
        """
        written: Path = present("report", self.outcome, path, slices=self._slices, **options)
        return written

    def fit_recommended(self, learner: Name | None = None, data: str | None = None) -> Any:
        """Fit the recommended learner on all rows, with the preparation of the comparison.

        Parameters
        ----------
        learner : name, optional
            Another learner.
        data : str, optional
            Of a comparison on several data sets, the name of the one to fit on.

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
        >>> result = bk.compare(["nmc", "nn"], "iris", cv="5x2", progress=False)
        >>> result.fit_recommended("nmc").predict([[5.1, 3.5, 1.4, 0.2]]).tolist()
        ['setosa']
        """
        if not hasattr(self.outcome, "undecided"):
            raise ArgumentError(
                "fit_recommended needs the learners and the data: compare(learners, data, target) "
                "fits them."
            )
        name = self.recommended if learner is None else learner
        if name is None:
            why = str(self.outcome.undecided).rstrip(".")
            raise ArgumentError(
                f"No learner is recommended ({why}): fit_recommended('NAME') fits one."
            )
        return present("refit", self.outcome, str(name), data)

    def to_dict(self, *, pairs: bool = False) -> dict[str, Any]:
        """Return the result for strict JSON; `pairs` adds one row per pair."""
        from bestofk.version import __version__

        metric = self.metric
        return {
            "version": __version__,
            "command": self.outcome.command,
            **self._answer(),
            "pairs": _rows(self._pair_columns()) if pairs else None,
            "notes": list(self.notes),
            "cautions": list(self.cautions),
            "metric": {"name": metric.name, "higher_is_better": metric.higher_is_better},
            "test": self.test,
            "settings": _settings(self.settings),
            **self.outcome._json(),
            **{
                name: {key: one._answer() for key, one in results.items()}
                for name in ("by_metric", "by_slice", "by_dataset")
                if (results := getattr(self, name))
            },
        }

    def _answer(self) -> dict[str, Any]:
        return {
            "recommended": self.recommended,
            "candidates": list(self.candidates),
            "order": list(self.order),
            "headline": self.headline,
            "table": _rows(self._columns()),
        }

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            advice = f": use .{INSTEAD[name]}" if name in INSTEAD else ""
            raise AttributeError(f"'Result' object has no attribute {name!r}{advice}")

    def __dir__(self) -> list[str]:
        hidden = ("decision", "outcome")
        return [name for name in super().__dir__() if name not in hidden]

    def __repr__(self) -> str:
        screen: str = present("screen", self)
        return screen

    def _repr_html_(self) -> str:
        """Return the screen for a notebook."""
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"


def decision_of(result: Result) -> Decision:
    """Return the decision of a result that has one."""
    assert result.decision is not None
    return result.decision


def _settings(settings: Settings) -> Any:
    if not isinstance(settings.random_state, int):
        settings = replace(settings, random_state=None)
    return json_ready(settings.to_dict())


def _rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    from bestofk._base.results import row_dicts

    return row_dicts(columns)
