"""Order models by battles: wins, ties and losses between pairs of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints, one_of, probability
from bestofk._base.errors import ArgumentError, TableError, UnknownNameError, use
from bestofk._base.formatting import counted, joined, pvalue_words
from bestofk._base.missing_files import no_such_file
from bestofk._base.results import Presented, Reported, row_dicts
from bestofk.data.frames import as_pandas
from bestofk.data.tables.reading import read_table
from bestofk.data.tables.table import Table
from bestofk.decide.ranks import Ranks, cannot_be_best, ranks_by_claims
from bestofk.losses.columns import BATTLE_COLUMNS, battle_columns
from bestofk.stats.adjust import adjust
from bestofk.stats.battles import bradley_terry, outcome_counts, unbeaten_group, wins_of
from bestofk.stats.tails import pvalue_of_t, t_quantile

POINTS = 400.0 / log(10.0)
"""Elo points per unit of log odds."""
MEAN_POINTS = 1000.0
FEW_CLUSTERS = 20
MAX_NAMED = 5
"""Models that a sentence about undefined strengths names."""
MIN_DF = 0.5
MIN_ERROR = 1e-7
"""A smaller standard error (log odds) is a rounding error: the battles do not vary."""
CLUSTER_COLUMNS = ("question_id", "prompt", "prompt_id", "conversation_id", "judge", "user")
"""Columns whose repeated values suggest clusters."""
WORDS = {
    "model_a": 2, "model_1": 2, "left": 2, "a": 2, "model_b": 0, "model_2": 0, "right": 0, "b": 0,
    "tie": 1, "draw": 1, "tie (bothbad)": 1, "tie(bothbad)": 1, "bothbad": 1, "both_bad": 1,
    "tie (inconsistent)": 1,
}  # fmt: skip
"""Outcomes by the word in the column winner: 2 if the first model won, 1 for a tie, 0 if the second
one won."""
NUMBERS = {1.0: 2, 0.5: 1, 0.0: 0}
PREFERENCES = {1.0: 2, 1.5: 1, 0.0: 1, 2.0: 0}
"""Outcomes by AlpacaEval's preference: 1 for the first model, 2 for the second one."""
NO_OUTCOME = "error"
"""MT-bench writes this word if the judge gave no verdict."""
LETTERS = ("a", "b", "A", "B")
"""If a model has such a name, the letter is the model."""


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BattleDecision(Reported):
    """The order of models by their battles.

    Attributes
    ----------
    ranking : tuple of str
        The models by points, the best first; the arrays of models have this order.
    points, low, high : ndarray, shape (K,)
        Elo-like points with the mean 1000, and the interval of each model alone.
    battles : ndarray of int, shape (K,)
    win_rate : ndarray, shape (K,)
        Share of battles won; a tie counts as half a win.
    ranks : Ranks
        The ranks that the data allow, and the models that may be the best.
    pairs : tuple of (str, str)
        All pairs, the model with more points first.
    difference, pvalues, adjusted_pvalues : ndarray, shape (pairs,)
        Points of the first minus points of the second, and Wald tests with Holm's correction.
    alpha : float
    cluster : str or None
        The column of clusters.
    n_clusters : int or None
    n_battles, n_ties : int
    notes : tuple of str
        Cautions, in sentences.
    """

    ranking: tuple[str, ...]
    points: Floats
    low: Floats
    high: Floats
    battles: Ints
    win_rate: Floats
    ranks: Ranks
    pairs: tuple[tuple[str, str], ...]
    difference: Floats
    pvalues: Floats
    adjusted_pvalues: Floats
    alpha: float
    cluster: str | None
    n_clusters: int | None
    n_battles: int
    n_ties: int
    notes: tuple[str, ...] = ()

    @property
    def recommended(self) -> str:
        """The model with the most points."""
        return self.ranking[0]

    @property
    def verdict(self) -> str:
        """``"decided"`` if every other model is shown to be worse, else ``"undecided"``."""
        return "decided" if self.ranks.high[0] == 1 else "undecided"

    @property
    def pvalue(self) -> Floats:
        """The p-value of each pair."""
        return self.pvalues

    @property
    def test(self) -> str:
        """The name of the test."""
        return "the Bradley-Terry model"

    to_frame = Presented.to_frame
    title = "The models"

    def _tables(self) -> dict[str, dict[str, Any]]:
        """Return the columns of the tables of a report by title."""
        return {"The models": self._columns(), "The pairs": self._pair_columns()}

    def _pair_columns(self) -> dict[str, Any]:
        significant = self.adjusted_pvalues <= self.alpha
        return {
            "a": [a for a, _ in self.pairs],
            "b": [b for _, b in self.pairs],
            "difference": self.difference,
            "pvalue": self.pvalues,
            "adjusted_pvalue": self.adjusted_pvalues,
            "verdict": np.where(significant, "significant", "not significant"),
        }

    def _columns(self) -> dict[str, Any]:
        """Return one row per model."""
        return {
            **self.ranks._columns(),
            "points": self.points,
            "low": self.low,
            "high": self.high,
            "battles": self.battles,
            "win_rate": self.win_rate,
        }

    def explain(self) -> str:
        """Describe the best model, the pairs with it, and every model in sentences."""
        first, *rest = self.sentences()
        level = f"{100 * (1 - self.alpha):g} %"
        models = (
            f"{name}: {points:.0f} points ({level} interval {low:.0f} to {high:.0f}), rank "
            f"{self.ranks.of(name)}, wins {100 * rate:.1f} % of {n} battles."
            for name, points, low, high, rate, n in zip(
                self.ranking, self.points.tolist(), self.low.tolist(), self.high.tolist(),
                self.win_rate.tolist(), self.battles.tolist(), strict=True,
            )
        )  # fmt: skip
        return "\n".join([first, rest[0], *models, *rest[1:]])

    def sentences(self) -> list[str]:
        """Return the verdict, the models that may be the best, the method, and the cautions."""
        K = len(self.ranking)
        others = list(zip(self.ranking[1:], self.adjusted_pvalues[: K - 1].tolist(), strict=True))
        worse = [name for name, p in others if p <= self.alpha]
        open_ = [(name, p) for name, p in others if p > self.alpha]
        equal = [name for name, gap in zip(self.ranking[1:], self.difference, strict=False)
                 if gap <= POINTS * MIN_ERROR]  # fmt: skip
        lines = [f"Use {self.recommended} ({self.points[0]:.0f} points)."]
        if equal:
            shown = _named([self.recommended, *equal])
            lines = [f"Use one of {shown}: they have the same points ({self.points[0]:.0f})."]
        subject = self.recommended if equal else "It"
        if worse:
            lines.append(f"{subject} is significantly better than {_named(worse)}.")
        if open_:
            lines.append(
                f"{subject} is not shown to differ from {_named([name for name, _ in open_])} "
                f"(adjusted {'p-values, the smallest: ' if len(open_) > 1 else ''}"
                f"{pvalue_words(min(p for _, p in open_), self.alpha)})."
            )
        clusters = (
            "" if self.cluster is None else f" in {self.n_clusters} clusters ({self.cluster})"
        )
        ties = ""
        if self.n_ties:
            ties = f" A tie counts as half a win for each model ({counted(self.n_ties, 'tie')})."
        return [
            " ".join(lines),
            self.ranks.explain(),
            f"Bradley-Terry model of {self.n_battles} battles{clusters} with robust standard "
            f"errors; all pairs are adjusted with Holm's correction, alpha = {self.alpha:g}.{ties}",
            "Points are Elo-like: their mean is 1000, and a model with 100 points more than "
            "another one is expected to win 64 % of their battles.",
            *self.notes,
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the decision for strict JSON."""
        return {
            "recommended": self.recommended, "ranking": list(self.ranking),
            "verdict": self.verdict, "models": row_dicts(self._columns()),
            "pairs": row_dicts(self._pair_columns()), "alpha": self.alpha,
            "correction": "holm", "battles": self.n_battles, "ties": self.n_ties,
            "cluster": self.cluster, "clusters": self.n_clusters, "notes": list(self.notes),
        }  # fmt: skip


def order_battles(
    table: Any, *, cluster: str | None = None, alpha: float = 0.05, missing: str = "refuse"
) -> BattleDecision:
    """Order models by battles between pairs of them, with ranks that the data allow.

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
        Chance of any false claim about a pair.
    missing : {"refuse", "drop"}
        Rows with an empty cell.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("x", "y", "model_a")] * 30 + [("x", "y", "model_b")] * 10 + [("y", "x", "tie")] * 4
    >>> table = pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])
    >>> decision = order_battles(table)
    >>> decision.recommended, decision.verdict, decision.points.round().tolist()
    ('x', 'decided', [1085.0, 915.0])
    """
    alpha = probability(alpha, "alpha")
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
    pvalues = pvalue_of_t(statistic, fit.df, "two-sided")
    adjusted = adjust(pvalues, "holm")
    better = np.zeros((K, K), dtype=np.bool_)
    claims = adjusted <= alpha
    better[i[claims], j[claims]] = True
    beaten = cannot_be_best(i, j, -difference, pvalues, K, comparisons=K - 1, alpha=alpha)
    half = -t_quantile(alpha / 2.0, fit.df) * np.sqrt(np.maximum(variance, 0.0))
    total = (wins.sum(axis=1) + wins.sum(axis=0))[order]
    notes = list(battles.notes)
    n_clusters = None if clusters is None else int(clusters.max()) + 1
    if n_clusters is not None and fit.df + 1 < FEW_CLUSTERS:
        notes.append(
            f"Caution: {n_clusters} clusters (as informative as {fit.df + 1:.0f} of equal size) "
            "are few, so the errors are rough estimates."
        )
    if (constant & (np.abs(difference) > MIN_ERROR)).any():
        notes.append(
            "Caution: all clusters have the same outcomes for some pairs, so their errors are "
            "unknown and nothing is claimed about them."
        )
    return BattleDecision(
        ranking=names,
        points=MEAN_POINTS + POINTS * strengths,
        low=MEAN_POINTS + POINTS * (strengths - half),
        high=MEAN_POINTS + POINTS * (strengths + half),
        battles=total.round().astype(np.int64),
        win_rate=wins.sum(axis=1)[order] / total,
        ranks=ranks_by_claims(names, better, beaten, alpha=alpha, noun="model", measure="points"),
        pairs=tuple((names[a], names[b]) for a, b in zip(i.tolist(), j.tolist(), strict=True)),
        difference=POINTS * difference,
        pvalues=pvalues,
        adjusted_pvalues=adjusted,
        alpha=alpha,
        cluster=battles.cluster,
        n_clusters=n_clusters,
        n_battles=n,
        n_ties=int(counts[..., 1].sum()),
        notes=tuple(notes),
    )


def read_battles(source: Any, cluster: str | None = None, missing: str = "refuse") -> Battles:
    """Read a table of battles; see `order_battles`."""
    table = _table(source)
    columns = battle_columns(table.columns)
    if columns is None:
        raise TableError(
            f"{table.source}: a table of battles needs the columns "
            f"{joined(list(BATTLE_COLUMNS[0]))}; got {', '.join(table.columns[:12])}."
        )
    if cluster is not None and cluster not in table:
        raise UnknownNameError("column", cluster, table.columns, table.source)
    if columns[2].lower() == "g1_winner":
        columns += tuple(name for name in table.columns if name.lower() == "g2_winner")
    notes = []
    used = columns if cluster is None else (*columns, cluster)
    empty = np.array([table.levels(column).codes < 0 for column in used])
    for k in range(2, len(columns)):
        won, words = table.levels(columns[k])
        empty[k] |= table.missing(columns[k]) | np.append(np.isin(words, [NO_OUTCOME]), False)[won]
    if missing == "refuse" and empty.any():
        at, row = (int(axis[0]) for axis in np.nonzero(empty))
        reason = "is empty" if table.levels(used[at]).codes[row] < 0 else "holds no outcome"
        raise TableError(
            f"{table.location(row, used[at])} {reason}: ", use(missing="drop"),
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
    outcome, *others = (_outcomes(table, name, index, first, second) for name in columns[2:])
    for other in others:
        # a model wins if it wins both games, in both orders of the answers
        outcome = np.where(outcome == other, outcome, 1)
    if columns[2].lower() == "preference":
        preferences = table.numbers(columns[2])
        if uncertain := int((~np.isin(preferences, list(PREFERENCES))).sum()):
            notes.append(
                f"{uncertain} of {table.n_rows} preferences lie between 1 and 2; each counts as a "
                "win of the closer model."
            )
    clusters = None
    if cluster is not None:
        levels = table.levels(cluster)
        if len(levels.names) < 2:
            raise TableError(f"{table.source}: the column {cluster!r} holds only one cluster.")
        clusters = levels.codes.astype(np.int64)
    elif repeated := [
        column
        for column in table.columns
        if column.lower() in CLUSTER_COLUMNS and 1 < len(table.levels(column).names) < table.n_rows
    ]:
        notes.append(
            f"Caution: battles with the same {repeated[0]} may depend on each other, but count as "
            f"independent here; name {repeated[0]} as the cluster."
        )
    return Battles(models=models, first=first, second=second, outcome=outcome, cluster=cluster,
                   clusters=clusters, source=table.source, notes=tuple(notes))  # fmt: skip


def _table(source: Any) -> Table:
    if isinstance(source, Table):
        return source
    if isinstance(source, str | os.PathLike):
        if not Path(source).is_file():
            raise TableError(no_such_file(Path(source), "file"))
        return read_table(source)
    source = as_pandas(source, "table")
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        return Table.from_frame(source)
    raise ArgumentError("table must be a path or a data frame with one row per battle.")


def _outcomes(table: Table, column: str, index: dict[str, int], first: Ints, second: Ints) -> Ints:
    """Return the outcomes in a column; raise if a cell holds no outcome."""
    won, words = table.levels(column)
    preferences = column.lower() == "preference"
    fixed = np.array([_outcome(word, preferences=preferences) for word in words])
    winner = np.array([index.get(word, -1) for word in words])
    fixed[(winner >= 0) & np.isin(words, LETTERS)] = -1
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
        allowed = (
            "a number from 1 (the first model) to 2 (the second model)"
            if preferences
            else "model_a, model_b, tie, the name of one of both models, or 1, 0 or 0.5"
        )
        raise TableError(f"{table.location(row, column)} must be {allowed}; got "
                         f"{words[won[row]]!r}.")  # fmt: skip
    return np.asarray(outcome)


def _outcome(word: str, *, preferences: bool) -> int:
    """Return the outcome that a word or number stands for, -1 if none."""
    try:
        value = float(word)
    except ValueError:
        return -1 if preferences else WORDS.get(word.lower(), -1)
    if preferences and 1.0 <= value <= 2.0:
        return 2 if value < 1.5 else int(value == 1.5)
    return (PREFERENCES if preferences else NUMBERS).get(value, -1)


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
        f"{battles.source}: {problem.format(_named(names))}; add battles, or leave out those of "
        f"{'this model' if len(names) == 1 else 'these models'}."
    )


def _named(names: list[str]) -> str:
    if len(names) <= MAX_NAMED:
        return joined(names)
    return f"{', '.join(names[:MAX_NAMED])} and {len(names) - MAX_NAMED} other models"
