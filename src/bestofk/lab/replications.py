"""Replicability: would other random splits of the same data give the same verdict?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, whole
from bestofk._base.errors import ArgumentError
from bestofk._base.results import Presented
from bestofk.lab.collect_outcomes import ALPHAS, Outcomes, Test, ask, levels
from bestofk.lab.error_rates import measured, setting
from bestofk.lab.rates import LEVEL, Rate
from bestofk.lab.simulation import Simulation


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Presented):
    """How often verdicts agree, in both senses.

    Attributes
    ----------
    all_agree : Rate
        Share of data sets on which all repeats give the same verdict (Bouckaert 2003).
    pairs, pairs_low, pairs_high : float
        Probability that two repeats on the same data set agree (Bouckaert 2004), with its
        interval over data sets.
    """

    all_agree: Rate
    pairs: float
    pairs_low: float
    pairs_high: float

    def _columns(self) -> dict[str, Any]:
        """One row."""
        rate = self.all_agree
        return {
            "all_agree": [rate.value],
            "all_agree_low": [rate.low],
            "all_agree_high": [rate.high],
            "pairs": [self.pairs],
            "pairs_low": [self.pairs_low],
            "pairs_high": [self.pairs_high],
        }

    def explain(self) -> str:
        """The shares in a sentence."""
        return (
            f"All repeats agree on {self.all_agree.words()} of the data sets; two of them agree "
            f"with probability {100 * self.pairs:.1f} % ({100 * self.pairs_low:.1f} to "
            f"{100 * self.pairs_high:.1f})."
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replicability(Presented):
    """Whether a test would say the same again.

    Attributes
    ----------
    test : str
        The test or procedure.
    alphas : tuple of float
        Levels.
    repeats : int
        Choices of random splits of every data set.
    agreements : tuple of Agreement
        By level: on the verdict of a test, on the best of a procedure.
    orders : tuple of Agreement, or None
        By level: on the whole order, for procedures.
    outcomes, simulation
        What it came from.
    """

    test: str
    alphas: tuple[float, ...]
    repeats: int
    agreements: tuple[Agreement, ...]
    orders: tuple[Agreement, ...] | None
    outcomes: Outcomes
    simulation: Simulation

    def agreement(self, alpha: float = 0.05) -> Agreement:
        """The agreement at a level."""
        if alpha not in self.alphas:
            raise ArgumentError(f"alpha must be one of the levels {self.alphas}; got {alpha!r}.")
        return self.agreements[self.alphas.index(alpha)]

    def _columns(self) -> dict[str, Any]:
        """One row per level."""
        rows = [one._columns() for one in self.agreements]
        found = {name: [row[name][0] for row in rows] for name in rows[0]}
        if self.orders is not None:
            orders = [one._columns() for one in self.orders]
            found |= {f"order_{name}": [row[name][0] for row in orders] for name in orders[0]}
        return {"alpha": self.alphas, **found}

    def explain(self, *, alpha: float | None = None) -> str:
        """The shares in sentences.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners, instead of theirs.
        alpha : float, optional
            Only this level, one of those that were measured; all of them by default.
        """
        what = "verdict" if self.orders is None else "best learner"
        lines = [f"Replicability of {self.test}, {self.repeats} choices of splits per data set:"]
        for at in measured(self.alphas, alpha):
            one = self.agreements[at]
            line = (
                f"- level {100 * self.alphas[at]:g} %: all {self.repeats} give the same {what} on "
                f"{one.all_agree.words()} of the data sets; two of them agree with probability "
                f"{100 * one.pairs:.1f} % ({100 * one.pairs_low:.1f} to "
                f"{100 * one.pairs_high:.1f})"
            )
            if self.orders is not None:
                order = self.orders[at]
                line += (
                    f"; the whole order is the same on {order.all_agree.words()}, and for two of "
                    f"them with probability {100 * order.pairs:.1f} %"
                )
            lines.append(f"{line}.")
        lines.append(f"Measured on {self.simulation.describe()}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The rates for strict JSON."""
        rows = []
        for at, alpha in enumerate(self.alphas):
            row: dict[str, Any] = {"alpha": alpha, **self.agreements[at].to_dict()}
            if self.orders is not None:
                row["order"] = self.orders[at].to_dict()
            rows.append(row)
        return {
            "measure": "replicability",
            "test": self.test,
            **setting(self.simulation),
            "agreements": rows,
            "explanation": self.explain(),
        }


def agreement_of(verdict: npt.NDArray[np.int64]) -> Agreement:
    """The agreement of verdicts, shape (sets, repeats).

    Examples
    --------
    >>> found = agreement_of(np.array([[0, 0, 0], [1, 1, 0]]))
    >>> found.all_agree.value, round(found.pairs, 4)
    (0.5, 0.6667)
    """
    sets, repeats = verdict.shape
    whole(repeats, "repeats", at_least=2)
    same = verdict[:, :, np.newaxis] == verdict[:, np.newaxis, :]
    pairs: Floats = (same.sum(axis=(1, 2)) - repeats) / (repeats * (repeats - 1))
    mean = float(pairs.mean())
    half = 0.0
    if sets > 1:
        from bestofk.stats.tails import normal_quantile

        z = float(normal_quantile(0.5 + LEVEL / 2))
        half = z * float(pairs.std(ddof=1)) / float(np.sqrt(sets))
    return Agreement(
        all_agree=Rate.of(int((verdict == verdict[:, :1]).all(axis=1).sum()), sets),
        pairs=mean,
        pairs_low=max(0.0, mean - half),
        pairs_high=min(1.0, mean + half),
    )


def replicability(
    test: Test = "auto",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    plan: Any = "10x10",
    *,
    repeats: int = 10,
    sets: int = 1000,
    alpha: Any = ALPHAS,
    alternative: str = "two-sided",
    df: Any = None,
    procedure: str | None = None,
    correction: str | None = None,
    options: Mapping[str, Any] | None = None,
    simulation: Simulation | None = None,
    **running: Any,
) -> Replicability:
    """Whether other random splits of the same data would give the same verdict.

    Parameters
    ----------
    test, learners, problem, plan, sets, alpha, alternative, df, **running
        As for `type1_error`.
    procedure, correction, options
        As for `type1_error`.
    repeats : int
        Choices of random splits of every data set.
    simulation : Simulation, optional
        Use these losses, which must hold two or more repeats, instead of simulating.

    Returns
    -------
    Replicability

    References
    ----------
    R. R. Bouckaert (2003). Choosing between two learning algorithms based on calibrated tests.
    Proceedings of ICML 2003, 51-58.

    R. R. Bouckaert (2004). Estimating replicability of classifier learning experiments.
    Proceedings of ICML 2004. doi:10.1145/1015330.1015338

    Examples
    --------
    >>> found = replicability("kfold-t", ["max", "naive-bayes"], "binary(rows=60)", "kfold:5",
    ...                       sets=20, repeats=4)
    >>> found.agreement(0.05).pairs >= found.agreement(0.05).all_agree.value
    True
    """
    alphas = levels(alpha)
    if simulation is None:
        whole(repeats, "repeats", at_least=2)
    made, found = ask(
        test, learners, problem, plan, simulation=simulation,
        running={"sets": sets, "repeats": repeats, **running},
        asked={"procedure": procedure, "alpha": alphas, "alternative": alternative, "df": df,
               "correction": correction, **(options or {})},
    )  # fmt: skip
    order = found.order
    return Replicability(
        test=found.name,
        alphas=alphas,
        repeats=made.repeats,
        agreements=tuple(agreement_of(found.verdict[:, :, at]) for at in range(len(alphas))),
        orders=None
        if order is None
        else tuple(agreement_of(order[:, :, at]) for at in range(len(alphas))),
        outcomes=found,
        simulation=made,
    )
