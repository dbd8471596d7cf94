"""Replicability: whether other random splits of the same data give the same verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, whole
from bestofk._base.results import Presented
from bestofk.papers.lab.collect_outcomes import ALPHAS, Outcomes, Test, levels, run_test
from bestofk.papers.lab.rates import LEVEL, Rate, level_index
from bestofk.papers.lab.simulation import Simulation
from bestofk.stats.tails import normal_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The rate at which verdicts agree, by both published definitions.

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

    def pairs_percent(self) -> str:
        """Return the agreement of two repeats as ``95.1 % (93.9 to 96.3)``."""
        interval = f"{100 * self.pairs_low:.1f} to {100 * self.pairs_high:.1f}"
        return f"{100 * self.pairs:.1f} % ({interval})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replicability(Presented):
    """The agreement of a test's verdicts on different splits of the same data.

    Attributes
    ----------
    test : str
        The test or procedure.
    alphas : tuple of float
        Levels.
    repeats : int
        Random split choices per data set.
    agreements : tuple of Agreement
        By level: agreement on the verdict of a test, or on the best learner of a procedure.
    orders : tuple of Agreement, or None
        By level, for procedures: agreement on the whole order.
    outcomes, simulation
        The verdicts and the losses.
    """

    test: str
    alphas: tuple[float, ...]
    repeats: int
    agreements: tuple[Agreement, ...]
    orders: tuple[Agreement, ...] | None
    outcomes: Outcomes
    simulation: Simulation

    def agreement(self, alpha: float = 0.05) -> Agreement:
        """Return the agreement at a level."""
        return self.agreements[level_index(self.alphas, alpha)]

    def _columns(self) -> dict[str, Any]:
        """One row per level."""
        columns: dict[str, Any] = {"alpha": self.alphas}
        for prefix, agreements in (("", self.agreements), ("order_", self.orders or ())):
            for agreement in agreements:
                for name, cells in agreement._columns().items():
                    columns.setdefault(f"{prefix}{name}", []).extend(cells)
        return columns

    def explain(self) -> str:
        """State the shares in sentences."""
        what = "verdict" if self.orders is None else "best learner"
        lines = [f"Replicability of {self.test}, {self.repeats} choices of splits per data set:"]
        for index, (alpha, agreement) in enumerate(zip(self.alphas, self.agreements, strict=True)):
            line = (
                f"- level {100 * alpha:g} %: all {self.repeats} give the same {what} on "
                f"{agreement.all_agree.percent()} of the data sets; two of them agree with "
                f"probability {agreement.pairs_percent()}"
            )
            if self.orders is not None:
                order = self.orders[index]
                line += (
                    f"; the whole order is the same on {order.all_agree.percent()}, and for two "
                    f"of them with probability {100 * order.pairs:.1f} %"
                )
            lines.append(f"{line}.")
        lines.append(f"Measured on {self.simulation.explain()}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the rates for strict JSON."""
        rows = []
        for index, alpha in enumerate(self.alphas):
            row: dict[str, Any] = {"alpha": alpha, **asdict(self.agreements[index])}
            if self.orders is not None:
                row["order"] = asdict(self.orders[index])
            rows.append(row)
        return {
            "measure": "replicability",
            "test": self.test,
            **self.simulation.facts(),
            "agreements": rows,
            "explanation": self.explain(),
        }


def agreement_of(verdict: npt.NDArray[np.int64]) -> Agreement:
    """Return the agreement of verdicts of shape (sets, repeats).

    Examples
    --------
    >>> agreement = agreement_of(np.array([[0, 0, 0], [1, 1, 0]]))
    >>> agreement.all_agree.value, round(agreement.pairs, 4)
    (0.5, 0.6667)
    """
    sets, repeats = verdict.shape
    whole(repeats, "repeats", at_least=2)
    same = verdict[:, :, np.newaxis] == verdict[:, np.newaxis, :]
    pairs: Floats = (same.sum(axis=(1, 2)) - repeats) / (repeats * (repeats - 1))
    mean = float(pairs.mean())
    half = 0.0
    if sets > 1:
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
    cv: Any = "10x10",
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
    """Measure whether other random splits of the same data give the same verdict.

    Parameters
    ----------
    test, learners, problem, cv, sets, alpha, alternative, df, **running
        As for `type1_error`.
    procedure, correction, options
        As for `type1_error`.
    repeats : int
        Number of random split choices for each data set.
    simulation : Simulation, optional
        Use these losses, with two or more repeats, instead of simulating.

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
    >>> result = replicability("kfold-t", ["max", "naive-bayes"], "binary(rows=60)", "kfold:5",
    ...                        sets=20, repeats=4)
    >>> result.agreement(0.05).pairs >= result.agreement(0.05).all_agree.value
    True
    """
    alphas = levels(alpha)
    if simulation is None:
        whole(repeats, "repeats", at_least=2)
    simulation, result = run_test(
        test, learners, problem, cv, simulation=simulation,
        running={"sets": sets, "repeats": repeats, **running}, procedure=procedure, alpha=alphas,
        alternative=alternative, df=df, correction=correction, **(options or {}),
    )  # fmt: skip
    return Replicability(
        test=result.name,
        alphas=alphas,
        repeats=simulation.repeats,
        agreements=_by_level(result.verdict),
        orders=None if result.order is None else _by_level(result.order),
        outcomes=result,
        simulation=simulation,
    )


def _by_level(verdicts: npt.NDArray[np.int64]) -> tuple[Agreement, ...]:
    return tuple(agreement_of(verdicts[:, :, level]) for level in range(verdicts.shape[2]))
