"""Order models by battles: wins, ties and losses between pairs of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints, one_of, significance_level
from bestofk._base.errors import TableError, UnknownNameError, use
from bestofk._base.formatting import counted, joined, shortened
from bestofk.data.tables.reading import read_table
from bestofk.data.tables.table import Table
from bestofk.decide.from_pairs import StatedDecision, decide_from_pairs
from bestofk.decide.result import Result
from bestofk.decide.statements import Statement, statements
from bestofk.losses.columns import BATTLE_ROLES, DEPENDENT_BATTLES, battle_columns, normal
from bestofk.losses.losses import Metric
from bestofk.stats.battles import bradley_terry, outcome_counts, unbeaten_group, wins_of
from bestofk.stats.pairwise.result import PairwiseResult
from bestofk.stats.tails import pvalue_of_t

TEST = "Bradley-Terry"
POINTS = 400.0 / log(10.0)
"""Elo points per unit of log odds."""
MEAN_POINTS = 1000.0
FEW_CLUSTERS = 20
MAX_NAMED = 5
"""Models that a sentence about undefined strengths names."""
MIN_DF = 0.5
MIN_ERROR = 1e-7
"""A smaller standard error (log odds) is a rounding error: the battles do not vary."""
WORDS = {
    "model_a": 2, "model_1": 2, "left": 2, "a": 2, "1": 2, "1.0": 2,
    "model_b": 0, "model_2": 0, "right": 0, "b": 0, "0": 0, "0.0": 0,
    "tie": 1, "draw": 1, "tie (bothbad)": 1, "tie(bothbad)": 1, "bothbad": 1, "both_bad": 1,
    "tie (inconsistent)": 1, "0.5": 1, ".5": 1,
}  # fmt: skip
"""Outcomes by the word in the column winner: 2 if the first model won, 1 for a tie, 0 if the second
one won."""
NO_OUTCOME = "error"
"""MT-bench writes this word if the judge gave no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Battles:
    """Battles between pairs of models, as codes; `outcome` is 2 if the first model won, 1, or 0."""

    models: tuple[str, ...]
    first: Ints
    second: Ints
    outcome: Ints
    cluster: str | None = None
    clusters: Ints | None = None
    source: str = "the battles"
    notes: tuple[str, ...] = ()


class Points(Metric):
    """Points of models, which are not means."""

    __slots__ = ()

    @property
    def mean(self) -> str:
        """The name itself."""
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BattleDecision(StatedDecision):
    """The models that may be the best by their battles, with bounds in points.

    Attributes
    ----------
    decision : Decision
        The statement about the best; its metric is Elo-like points with the mean 1000.
    battles : mapping of str to int
        Battles by model, the best first.
    win_rate : mapping of str to float
        Share of battles won by model; a tie counts as half a win.
    cluster : str or None
        The column of clusters.
    n_clusters : int or None
    n_battles, n_ties : int
    notes, cautions : tuple of str
        What was left out, and what speaks against the bounds.
    """

    battles: Mapping[str, int]
    win_rate: Mapping[str, float]
    cluster: str | None
    n_clusters: int | None
    n_battles: int
    n_ties: int
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def points(self) -> Floats:
        """The points, the best first."""
        return np.array([self.decision.means[name] for name in self.decision.by_mean])

    def _measured(self) -> dict[str, Mapping[str, Any]]:
        """Return the battles and the share of wins of each model."""
        return {"battles": self.battles, "win_rate": self.win_rate}

    def _cells(self) -> dict[str, dict[str, str]]:
        """Return further columns of the printed table: cells by title and model."""
        return {
            "battles": {name: str(count) for name, count in self.battles.items()},
            "wins": {name: f"{100 * rate:.1f} %" for name, rate in self.win_rate.items()},
        }

    def basis(self) -> str:
        """Return the numbers of battles and clusters."""
        clusters = "" if self.n_clusters is None else f" in {counted(self.n_clusters, 'cluster')}"
        return f"{counted(self.n_battles, 'battle')}{clusters}"

    def _statements(self) -> tuple[Statement, ...]:
        """State the model, what points are, what was left out, and the cautions."""
        clusters = (
            "" if self.cluster is None else f" in {self.n_clusters} clusters ({self.cluster})"
        )
        ties = ""
        if self.n_ties:
            ties = f" A tie counts as half a win for each model ({counted(self.n_ties, 'tie')})."
        text = (
            f"How sure: {TEST} model of {self.n_battles} battles{clusters}, with robust standard "
            f"errors.{ties} Points are Elo-like: their mean is 1000, and a model with 100 points "
            "more than another one is expected to win 64 % of their battles."
        )
        cautions = [f"Caution: {' '.join(self.cautions)}"] if self.cautions else []
        return (
            Statement(kind="evidence", text=text, lead=text),
            *statements("note", self.notes),
            *statements("caution", cautions),
        )


def compare_battles(
    table: Any, *, cluster: str | None = None, alpha: float = 0.05, missing: str = "refuse"
) -> Result:
    """Say which models may be the best by battles between pairs of them.

    Parameters
    ----------
    table : path, data frame or Battles
        The columns ``model_a``, ``model_b`` and ``winner``, or those of AlpacaEval, MT-bench or
        evalica. A winner is ``model_a``, ``model_b``, ``tie`` or ``tie (bothbad)``, the name of a
        model, or 1, 0 and 0.5 (model_a won, lost, tie). A tie counts as half a win for each model.
    cluster : str, optional
        A column; battles with the same value, such as one prompt or judge, may depend on each
        other.
    alpha : float
        Chance that the statement is wrong.
    missing : {"refuse", "drop"}
        Rows with an empty cell.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("x", "y", "model_a")] * 30 + [("x", "y", "model_b")] * 10 + [("y", "x", "tie")] * 4
    >>> table = pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])
    >>> result = compare_battles(table)
    >>> result.candidates, result.table["mean"].round().tolist()
    (('x',), [1085.0, 915.0])
    """
    alpha = significance_level(alpha)
    one_of(missing, "missing", ("refuse", "drop"))
    battles = table if isinstance(table, Battles) else read_battles(table, cluster, missing)
    K = len(battles.models)
    counts = outcome_counts(battles.first, battles.second, battles.outcome, K)
    wins = wins_of(counts)
    _refuse_undefined(battles, wins)
    clusters = battles.clusters
    n = len(battles.first)
    fit = bradley_terry(battles.first, battles.second, battles.outcome, K, clusters)
    if fit.df < MIN_DF and clusters is not None:
        raise TableError(
            f"{battles.source}: one cluster holds almost all battles, so errors are unknown; "
            "choose another column."
        )
    if fit.df < MIN_DF:
        raise TableError(
            f"{battles.source}: there must be at least as many battles as models; got {n} and {K}."
        )
    if (battles.outcome == 1).all():
        raise TableError(
            f"{battles.source}: every battle is a tie, so there is nothing to compare."
        )
    order = np.argsort(-fit.strengths, kind="stable")
    strengths, covariance = fit.strengths[order], fit.covariance[np.ix_(order, order)]
    names = tuple(battles.models[k] for k in order)
    i, j = np.triu_indices(K, 1)
    variance = np.diag(covariance)
    difference = strengths[i] - strengths[j]
    error = np.sqrt(np.maximum(variance[i] + variance[j] - 2.0 * covariance[i, j], 0.0))
    constant = error < MIN_ERROR
    statistic = np.where(constant, 0.0, difference / np.where(constant, 1.0, error))
    # losses have the opposite sign of points
    tested = PairwiseResult(
        test=TEST,
        statistic=-statistic,
        pvalue=pvalue_of_t(statistic, fit.df, "two-sided"),
        df=float(fit.df),
        estimate=-POINTS * difference,
        alternative="two-sided",
        pivot=-POINTS * difference,
        standard_error=np.where(constant, np.inf, POINTS * error),
    )
    total = (wins.sum(axis=1) + wins.sum(axis=0))[order]
    cautions = []
    n_clusters = None if clusters is None else int(clusters.max()) + 1
    if n_clusters is not None and fit.df + 1 < FEW_CLUSTERS:
        cautions.append(
            f"{n_clusters} clusters (as informative as {fit.df + 1:.0f} of equal size) "
            "are few, so the errors are rough estimates."
        )
    if (constant & (np.abs(difference) > MIN_ERROR)).any():
        cautions.append(
            "All clusters have the same outcomes for some pairs, so their errors are "
            "unknown and nothing is claimed about them."
        )
    decision = decide_from_pairs(
        names,
        -MEAN_POINTS - POINTS * strengths,
        tested,
        alpha=alpha,
        metric=Points(name="points", higher_is_better=True),
        design=f"{n} battles",
        noun="model",
    )
    battle_decision = BattleDecision(
        decision=decision,
        battles=dict(zip(names, total.round().astype(int).tolist(), strict=True)),
        win_rate=dict(zip(names, (wins.sum(axis=1)[order] / total).tolist(), strict=True)),
        cluster=battles.cluster,
        n_clusters=n_clusters,
        n_battles=n,
        n_ties=int(counts[..., 1].sum()),
        notes=battles.notes,
        cautions=tuple(cautions),
    )
    return Result(battle_decision)


def read_battles(source: Any, cluster: str | None = None, missing: str = "refuse") -> Battles:
    """Read a table of battles; see `compare_battles`."""
    table = read_table(source)
    roles = battle_columns(table.columns)
    if roles is None:
        raise TableError(
            f"{table.source}: a table of battles needs the columns {joined(list(BATTLE_ROLES))}; "
            f"got {', '.join(table.columns[:12])}."
        )
    columns = tuple(roles.values())
    if cluster is not None and cluster not in table:
        raise UnknownNameError("column", cluster, table.columns, table.source)
    if normal(columns[2]) == "g1_winner":
        columns += tuple(name for name in table.columns if normal(name) == "g2_winner")
    notes = []
    used = columns if cluster is None else (*columns, cluster)
    empty = np.array([table.levels(column).codes < 0 for column in used])
    for k in range(2, len(columns)):
        won, words = table.levels(columns[k])
        empty[k] |= table.missing(columns[k]) | np.append(np.isin(words, [NO_OUTCOME]), False)[won]
    if missing == "refuse" and empty.any():
        at, row = (int(axis[0]) for axis in np.nonzero(empty))
        raise TableError(
            f"{table.location(row, used[at])} is empty or holds no outcome: ", use(missing="drop"),
            " leaves such battles out.",
        )  # fmt: skip
    if incomplete := int((absent := empty.any(axis=0)).sum()):
        notes.append(f"{incomplete} of {table.n_rows} battles lack a cell and were left out.")
        table = table.take(np.logical_not(absent))
    if not table.n_rows:
        raise TableError(f"{table.source}: the table holds no battles.")
    (a, a_names), (b, b_names) = (table.levels(column) for column in columns[:2])
    models = tuple(dict.fromkeys((*a_names, *b_names)))
    index = {name: k for k, name in enumerate(models)}
    first = np.array([index[name] for name in a_names])[a]
    second = np.array([index[name] for name in b_names])[b]
    if (own := first == second).any():
        row = int(own.argmax())
        raise TableError(
            f"{table.location(row)}: {models[first[row]]} cannot battle against itself; remove "
            "such rows."
        )
    if normal(columns[2]) == "preference":
        outcome = _preferred(table, columns[2])
    else:
        outcome, *others = (_outcomes(table, name, index, first, second) for name in columns[2:])
        for other in others:
            # a model wins if it wins both games, in both orders of the answers
            outcome = np.where(outcome == other, outcome, 1)
    clusters = None
    if cluster is not None:
        levels = table.levels(cluster)
        if len(levels.names) < 2:
            raise TableError(f"{table.source}: the column {cluster!r} holds only one cluster.")
        clusters = levels.codes.astype(np.int64)
    elif repeated := [
        column
        for column in table.columns
        if normal(column) in DEPENDENT_BATTLES
        and 1 < len(table.levels(column).names) < table.n_rows
    ]:
        notes.append(
            f"Battles with the same {repeated[0]} may depend on each other, but count as "
            f"independent here; name {repeated[0]} as the cluster."
        )
    return Battles(models=models, first=first, second=second, outcome=outcome, cluster=cluster,
                   clusters=clusters, source=table.source, notes=tuple(notes))  # fmt: skip


def _preferred(table: Table, column: str) -> Ints:
    """Return the outcomes of AlpacaEval's preferences: 1 for the first model, 2 for the second."""
    preference = table.numbers(column)
    # 0 stands for a tie, too
    preference = np.where(preference == 0.0, 1.5, preference)
    if (unknown := ~((preference >= 1.0) & (preference <= 2.0))).any():
        row = int(unknown.argmax())
        raise TableError(
            f"{table.location(row, column)} must be a number from 1 (the first model) to 2 (the "
            f"second model); got {table.text(column)[row]!r}."
        )
    return 1 + np.sign(1.5 - preference).astype(np.int64)


def _outcomes(table: Table, column: str, index: dict[str, int], first: Ints, second: Ints) -> Ints:
    """Return the outcomes in a column; raise if a cell holds no outcome."""
    won, words = table.levels(column)
    fixed = np.array([WORDS.get(word.lower(), -1) for word in words])
    winner = np.array([index.get(word, -1) for word in words])
    # a letter is the model of that name
    fixed[(winner >= 0) & np.isin(words, list("abAB"))] = -1
    for code in np.flatnonzero((fixed >= 0) & (winner >= 0)):
        raise TableError(
            f"{table.source}: the winner {words[code]!r} can be the name of a model or an outcome; "
            "rename the model."
        )
    outcome = fixed[won]
    champion = winner[won]
    outcome[(champion >= 0) & (champion == first)] = 2
    outcome[(champion >= 0) & (champion == second)] = 0
    if (unknown := outcome < 0).any():
        row = int(unknown.argmax())
        raise TableError(
            f"{table.location(row, column)} must be model_a, model_b, tie, the name of one of both "
            f"models, or 1, 0 or 0.5; got {words[won[row]]!r}."
        )
    return np.asarray(outcome)


def _refuse_undefined(battles: Battles, wins: Floats) -> None:
    """Raise an error if the strengths are not finite."""
    if (group := unbeaten_group(wins)) is None:
        return
    apart, members = group
    inside = np.isin(np.arange(len(wins)), members)
    problem = "no battle connects {} with the other models"
    if not apart:
        problem = "{} won every battle against the other models, so the difference is infinite"
        if len(members) > len(wins) - len(members):
            inside = ~inside
            problem = "{} lost every battle against the other models, so the difference is infinite"
    names = [name for name, one in zip(battles.models, inside.tolist(), strict=True) if one]
    raise TableError(
        f"{battles.source}: {problem.format(shortened(names, MAX_NAMED))}; add battles, or leave "
        f"out those of {'this model' if len(names) == 1 else 'these models'}."
    )
