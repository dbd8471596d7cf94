"""Reproduce the tables and figures of Otero et al. 2013."""

from __future__ import annotations

from dataclasses import replace

from bestofk._base.checks import Floats
from bestofk.papers.comparison import ComparedNumbers, ComparedWords, ReproductionResult, Request
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

TITLE = "Bootstrap analysis of multiple repetitions (Otero et al. 2013)"
SIMULATED = ("fig1", "1", "2", "3", "4", "5", "null")
SAME_NUMBERS = {"fig2": "2", "fig3": "4"}
"""Figures that show the numbers of a table."""
REAL = ("6", "7", "8")
NULL_SIMULATIONS = 400
"""Simulations of equal algorithms per run."""
_ALL = tuple(range(len(STEPS)))
_DETAIL = (STEPS.index(DETAIL),)
Parts = tuple[list[str], list[ComparedNumbers | ComparedWords], dict[str, tuple[str, ...]]]
"""Sentences, tables and figures."""


def reproduce(request: Request) -> ReproductionResult:
    """Reproduce the tables; by default, those of the simulations.

    A run is one draw of the winners for each of the 21 values of dp, with 100 simulations each.
    For Tables 7 and 8, it is a repetition of the folds with another seed of the learners.
    """
    from bestofk.papers.registry import REPRODUCTIONS

    entry = REPRODUCTIONS["intervals"]
    counting = request.variant or COUNTINGS[0]
    names = tuple(SAME_NUMBERS.get(name, name) for name in request.tables) or SIMULATED
    tables: list[ComparedNumbers | ComparedWords] = []
    sentences: list[str] = []
    figures: dict[str, tuple[str, ...]] = {}
    if "fig1" in names:
        table, figures = first_figure(request.seed)
        tables.append(table)
    if set(names) - {"fig1", "1"} & {*SIMULATED, "copied"}:
        draws = request.runs or entry.default_runs
        request = replace(request, runs=draws)
        sentences.append(
            f"{draws} draw{'s' * (draws > 1)} of the winners; counting {counting!r} "
            f"({dict(entry.variants)[counting]})."
        )
    if "1" in names:
        tables += first_table()
    if "2" in names:
        new_sentences, new_tables, images = _second(request, counting)
        sentences += new_sentences
        tables += new_tables
        figures |= images
    if "3" in names:
        tables.append(_third(request, counting))
    if "4" in names:
        new_sentences, new_tables, images = _fourth(request, counting)
        sentences += new_sentences
        tables += new_tables
        figures |= images
    if "5" in names:
        tables.append(_fifth(request, counting))
    if "null" in names:
        null = scalar_pieces("null", request, steps=(0,), simulations=NULL_SIMULATIONS)
        tables.append(null_table(null))
    if "copied" in names:
        sentences.append("Table 2 again, all five algorithms with one result per fold:")
        new_sentences, new_tables, _ = _second(request, counting, kind="copied")
        sentences += new_sentences
        tables += new_tables
    if set(names) & set(REAL):
        new_sentences, new_tables = real_tables(request, tuple(t for t in REAL if t in names))
        sentences += new_sentences
        tables += new_tables
    if "fig4" in names:
        table, images = fourth_figure(request)
        tables.append(table)
        figures |= images
    return ReproductionResult(
        title=TITLE,
        paper=entry.paper,
        tables=tuple(tables),
        sentences=tuple(sentences),
        figures=figures,
        explained=entry.explained,
    )


def _second(request: Request, counting: str, *, kind: str = "plain") -> Parts:
    evidence = scalar_pieces(kind, request, steps=_ALL)
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
        if (request.runs or 1) > 1:
            spreads = ", ".join(
                f"{test} {one_step_spread(v):.3f}"
                for test, v in scalar_pairs(evidence, other).items()
            )
            sentences.append(f"Largest standard deviation between draws at one dp: {spreads}.")
    return sentences, [*second_table(evidence, counting), average], figures


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


def _third(request: Request, counting: str) -> ComparedNumbers:
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
    return [sentence], [*fourth_table(evidence, counting), average], figures


def _fifth(request: Request, counting: str) -> ComparedNumbers:
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
