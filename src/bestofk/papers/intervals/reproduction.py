"""Reproduce the tables and figures of Otero et al. 2013."""

from __future__ import annotations

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted
from bestofk.papers.comparison import ComparedTable, ReproductionResult, Request
from bestofk.papers.intervals.experiments import (
    COUNTINGS,
    DETAIL,
    READINGS,
    STEPS,
    Verdicts,
    outlier_pieces,
    range_pairs,
    scalar_pairs,
    scalar_pieces,
)
from bestofk.papers.intervals.figures import first_figure, fourth_figure, rate_figures
from bestofk.papers.intervals.tables import (
    MEDIANS,
    averages,
    detail_table,
    first_table,
    fourth_table,
    null_table,
    outcome_shares,
    real_tables,
    second_table,
)

SIMULATED = ("fig1", "1", "2", "3", "4", "5", "null")
SAME_NUMBERS = {"fig2": "2", "fig3": "4"}
"""Figures that show the numbers of a table."""
REAL = ("6", "7", "8")
NULL_SIMULATIONS = 400
"""Simulations of equal algorithms per run."""
_ALL = tuple(range(len(STEPS)))
_DETAIL = (STEPS.index(DETAIL),)
Parts = tuple[list[ComparedTable], dict[str, tuple[str, ...]], list[str]]
"""Tables, figures and sentences."""


def reproduce(request: Request) -> ReproductionResult:
    """Reproduce the tables; by default, those of the simulations.

    A run is one draw of the winners for each of the 21 values of dp, with 100 simulations each.
    For Tables 7 and 8, it is a repetition of the folds with another seed of the learners.
    """
    result = ReproductionResult()
    counting = request.variant or COUNTINGS[0]
    names = tuple(SAME_NUMBERS.get(name, name) for name in request.tables) or SIMULATED
    if "fig1" in names:
        result.add(*first_figure(request.seed))
    if set(names) - {"fig1", "1"} & set(SIMULATED):
        result.add(sentences=[f"{counted(request.runs, 'draw')} of the winners."])
    if "1" in names:
        result.add(first_table())
    if "2" in names:
        result.add(*_second(request, counting))
    if "3" in names:
        result.add([_third(request, counting)])
    if "4" in names:
        result.add(*_fourth(request, counting))
    if "5" in names:
        result.add([_fifth(request, counting)])
    if "null" in names:
        null = scalar_pieces("null", request, steps=(0,), simulations=NULL_SIMULATIONS)
        result.add([null_table(null)])
    if set(names) & set(REAL):
        sentences, tables = real_tables(request, tuple(t for t in REAL if t in names))
        result.add(tables, sentences=sentences)
    if "fig4" in names:
        result.add(*fourth_figure(request))
    return result


def _second(request: Request, counting: str) -> Parts:
    evidence = scalar_pieces("plain", request, steps=_ALL)
    verdicts = scalar_pairs(evidence, counting)
    tests, exchanged = ("t", "Wilcoxon", "Bootstrap-A"), counting == "as_printed"
    average = averages("2", verdicts, tests, exchanged=exchanged)
    figures = rate_figures("2", "2", verdicts, tests, exchanged=exchanged)
    sentences = []
    for other in COUNTINGS:
        shares = significant_shares(scalar_pairs(evidence, other))
        means = ", ".join(
            f"{test} {share.mean():.3f}"
            + (
                f" (standard deviation between draws {share.std(ddof=1):.3f})"
                if len(share) > 1
                else ""
            )
            for test, share in shares.items()
        )
        sentences.append(f"Share significant over dp > 0, counting {other!r}: {means}.")
        if request.runs > 1:
            spreads = ", ".join(
                f"{test} {one_step_spread(v):.3f}"
                for test, v in scalar_pairs(evidence, other).items()
            )
            sentences.append(f"Largest standard deviation between draws at one dp: {spreads}.")
    return [*second_table(evidence, counting), average], figures, sentences


def significant_shares(verdicts: dict[str, Verdicts]) -> dict[str, Floats]:
    """Return the share of significant pairs, right or wrong, over dp > 0 for each draw."""
    return {
        test: outcome_shares(v)[:, 1:, [0, 2]].sum(axis=-1).mean(axis=-1)
        for test, v in verdicts.items()
    }


def one_step_spread(verdicts: Verdicts) -> float:
    """Return the largest standard deviation between draws of the significant share at one dp."""
    shares = outcome_shares(verdicts)[..., [0, 2]].sum(axis=-1)
    return float(shares.std(axis=0, ddof=1).max())


def _third(request: Request, counting: str) -> ComparedTable:
    evidence = scalar_pieces("table 1", request, steps=_DETAIL)
    verdicts = scalar_pairs(evidence, counting)
    del verdicts["Bootstrap-A, Hochberg"]
    return detail_table(
        "3", verdicts, ("ok", "err"), exchanged=counting == "as_printed", known=True
    )


def _fourth(request: Request, counting: str) -> Parts:
    evidence = outlier_pieces(request, steps=_ALL)
    verdicts = scalar_pairs(evidence.means, counting)
    verdicts |= {name: range_pairs(evidence.ranges[name], counting) for name in READINGS}
    verdicts |= {test + MEDIANS: v for test, v in scalar_pairs(evidence.medians, counting).items()}
    tests, exchanged = ("t", "Wilcoxon", "Bootstrap-B"), counting == "as_printed"
    average = averages("4", verdicts, tests, exchanged=exchanged)
    figures = rate_figures("3", "4", verdicts, tests, exchanged=exchanged)
    # at dp = 0 all typical errors are equal but the means are not: A3 and A4 are never trapped
    shares = ", ".join(f"{test} {(v[:, 0] != 1).mean():.3f}" for test, v in verdicts.items())
    sentence = f"With outliers at dp = 0 these shares of pairs were not called equal: {shares}."
    return [*fourth_table(evidence, counting), average], figures, [sentence]


def _fifth(request: Request, counting: str) -> ComparedTable:
    evidence = outlier_pieces(request, steps=_DETAIL)
    scalar = scalar_pairs(evidence.means, counting)
    verdicts = {
        "t": scalar["t"],
        "Wilcoxon": scalar["Wilcoxon"],
        "Bootstrap-B": range_pairs(evidence.ranges["Bootstrap-B"], counting),
    }
    return detail_table(
        "5", verdicts, ("ok", "err", "inc"), exchanged=counting == "as_printed", known=False
    )
