"""Tables 1 to 3 and what is said of Figs. 3 and 4, next to the published values."""

from __future__ import annotations

import numpy as np

from bestofk.checks import Floats
from bestofk.multiple.newman_keuls import underline_ends
from bestofk.ordering.procedures.graph import sort_by_overrides
from bestofk.papers.comparison import ComparedNumbers, ComparedWords, chance
from bestofk.papers.multitest.decisions import NOT_FOUND, PROCEDURES, Choices, Decisions, Flags
from bestofk.papers.multitest.figures import usual_run
from bestofk.papers.multitest.prepared import LEARNERS
from bestofk.papers.printed_figures import printed_figures, printed_table
from bestofk.wording import counted

PAPER = "multitest"
PRINTED_RUNS = 1000
NAMES = (*LEARNERS, "*")
"""Learners by number; -1 is the star of the paper: no best found."""


def table_1(losses: Floats, datasets: tuple[str, ...]) -> tuple[ComparedNumbers, ComparedNumbers]:
    """Means and standard deviations of errors (data sets, runs, learners, 5, 2), in percent."""
    percent = 100.0 * losses
    runs = percent.shape[1]
    means, deviations = (printed_table(PAPER, "1", what) for what in ("mean", "sd"))
    rows = [means.rows.index(name) for name in datasets]
    run_means = percent.mean(axis=(3, 4))
    ours = run_means.mean(axis=1)
    spread = run_means.std(axis=1, ddof=1) if runs > 1 else percent.std(axis=(1, 3, 4)) / 3.0
    squares = ((percent - ours[:, None, :, None, None]) ** 2).mean(axis=(3, 4))
    deviation = np.sqrt(squares.mean(axis=1) * (10 * runs) / (10 * runs - 1))
    # the standard error of a variance over runs, carried to its root
    spread_of_squares = squares.std(axis=1, ddof=1) if runs > 1 else squares[:, 0]
    spread_of_root = spread_of_squares / np.maximum(2.0 * deviation, 1e-12)
    note = (
        "Allowed: three standard errors of both figures, measured over our runs (the print: "
        f"{PRINTED_RUNS} runs), and rounding."
    )
    return (
        ComparedNumbers(
            table="Table 1, mean error in percent",
            rows=datasets,
            columns=LEARNERS,
            ours=ours,
            printed=means.values[rows],
            allowed=chance(
                spread / np.sqrt(runs), spread / np.sqrt(PRINTED_RUNS), means.rounding[rows]
            ),
            target=1.0,
            corner="data set",
            note=note,
        ),
        ComparedNumbers(
            table="Table 1, standard deviation of the error in percent",
            rows=datasets,
            columns=LEARNERS,
            ours=deviation,
            printed=deviations.values[rows],
            allowed=chance(
                spread_of_root / np.sqrt(runs),
                spread_of_root / np.sqrt(PRINTED_RUNS),
                deviations.rounding[rows],
            ),
            target=1.0,
            corner="data set",
            note="Over all folds of all runs. " + note,
        ),
    )


def shares(decisions: Decisions, procedure: str) -> Floats:
    """(data sets, learners + 1): how often each was chosen; the last column: none was."""
    chosen = decisions.chosen[procedure]
    return np.stack(
        [(chosen == number).mean(axis=1) for number in (*range(len(LEARNERS)), NOT_FOUND)], axis=1
    )


def _printed_choices(row: str, procedure: str) -> list[tuple[str, float]]:
    """(name, share) of the most and second most selected."""
    found: dict[str, dict[str, str]] = {}
    for figure in printed_figures(PAPER):
        if figure.table == "2" and figure.row == row and figure.column[:-4] == procedure:
            found.setdefault(figure.column, {})[figure.quantity] = figure.printed
    return [(cell["choice"], int(cell["percent"]) / 100.0) for cell in found.values()]


def table_2(
    decisions: Decisions, datasets: tuple[str, ...]
) -> tuple[ComparedWords, ComparedNumbers]:
    """The most and second most selected, and how often the printed ones were selected."""
    procedures = PROCEDURES[1:]
    columns = tuple(f"{procedure} ({rank})" for procedure in procedures for rank in (1, 2))
    shape = len(datasets), len(columns)
    ours, printed = np.full(shape, "", dtype=object), np.full(shape, "", dtype=object)
    agrees, judged = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    judged[:, ::2] = True
    found, told, allowed = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape)
    runs = len(decisions.chosen["MultiTest"][0])
    noise = 1.0 / runs + 1.0 / PRINTED_RUNS
    for p, procedure in enumerate(procedures):
        share = shares(decisions, procedure)
        for row, dataset in enumerate(datasets):
            place = np.argsort(-share[row], kind="stable")[:2]
            names = [NAMES[k] for k in place]
            said = _printed_choices(dataset, procedure)
            for rank in (0, 1):
                at = row, 2 * p + rank
                if share[row, place[rank]] > 0:
                    ours[at] = f"{names[rank]} ({100 * share[row, place[rank]]:.0f})"
                if rank < len(said):
                    name, part = said[rank]
                    printed[at] = f"{name} ({100 * part:.0f})"
                    obtained = share[row, NAMES.index(name)]
                    found[at], told[at] = 100 * obtained, 100 * part
                    middle = (runs * obtained + PRINTED_RUNS * part) / (runs + PRINTED_RUNS)
                    error = np.sqrt(max(middle * (1 - middle), 0.0) * noise)
                    allowed[at] = 100 * 3 * error + 0.5
            agrees[row, 2 * p] = _first_agrees(names[0], said, noise)
    return (
        ComparedWords(
            table="Table 2, most (1) and second most (2) selected, with percentages",
            rows=datasets,
            columns=columns,
            ours=ours,
            printed=printed,
            agrees=agrees,
            judged=judged,
            corner="data set",
            note="The most selected agrees when it is the printed one, or the printed second where "
            "the two printed percentages are closer than three standard errors of their difference "
            "in as many runs. The second most selected is shown, not judged.",
        ),
        ComparedNumbers(
            table="Table 2, percentage of the printed selections",
            rows=datasets,
            columns=columns,
            ours=found,
            printed=told,
            allowed=allowed,
            digits=1,
            unit="point",
            corner="data set",
            note="How often ours selected what the print names. Allowed: three standard errors of "
            "both shares, and rounding to whole percents.",
        ),
    )


def _first_agrees(name: str, said: list[tuple[str, float]], noise: float) -> bool:
    if name == said[0][0]:
        return True
    if len(said) < 2 or name != said[1][0]:
        return False
    first, second = said[0][1], said[1][1]
    error = np.sqrt((first + second - (first - second) ** 2) * noise)
    return bool(first - second <= 3 * error)


def most_selected(decisions: Decisions, datasets: tuple[str, ...]) -> dict[str, list[str]]:
    """Procedure: the data sets on which our most selected is the printed one to the letter."""
    return {
        procedure: [
            dataset
            for row, dataset in enumerate(datasets)
            if NAMES[int(np.argmax(shares(decisions, procedure)[row]))]
            == _printed_choices(dataset, procedure)[0][0]
        ]
        for procedure in PROCEDURES[1:]
    }


def table_3(decisions: Decisions, n_datasets: int) -> ComparedNumbers:
    """How often each learner was chosen, over all data sets, in percent."""
    told = printed_table(PAPER, "3", "percent")
    runs = len(decisions.chosen["MultiTest"][0])
    ours, error = [], []
    for procedure in PROCEDURES:
        share = np.roll(shares(decisions, procedure), 1, axis=1)
        ours.append(share.mean(axis=0))
        noise = (share * (1 - share)).sum(axis=0) / n_datasets**2
        error.append(np.sqrt(noise * (1.0 / runs + 1.0 / PRINTED_RUNS)))
    rows = [told.rows.index(procedure) for procedure in PROCEDURES]
    return ComparedNumbers(
        table="Table 3, how often each was found the best, in percent",
        rows=PROCEDURES,
        columns=told.columns,
        ours=100 * np.array(ours),
        printed=told.values[rows],
        allowed=300 * np.array(error) + told.rounding[rows],
        target=1.0,
        corner="procedure",
        note="Allowed: three standard errors of both figures (data sets fixed, runs random), and "
        "rounding.",
    )


def figure_facts(name: str, dataset: str, decisions: Decisions, row: int) -> ComparedWords:
    """The most frequent graph of a data set and what the text says of it."""
    edges = decisions.edges[row]
    graphs, count = np.unique(edges.reshape(len(edges), -1), axis=0, return_counts=True)
    usual = usual_run(edges)
    order = sort_by_overrides(edges[usual])
    said = {f.column: f.printed for f in printed_figures(PAPER) if f.table == name}
    ours = {
        "edges": _edge_words(edges[usual]),
        "order": " < ".join(str(k + 1) for k in order.tolist()),
        "Anova": _usual(["rejects", "accepts"], decisions.chosen["Anova"][row] == 0),
        "Newman-Keuls": _line_words(decisions, row),
        "TestFirst": _most(decisions.chosen["TestFirst"][row]),
        "MultiTest": _most(decisions.chosen["MultiTest"][row]),
    }
    columns = tuple(ours)
    mine = np.array([[ours[column] for column in columns]], dtype=object)
    theirs = np.array([[said.get(column, "") for column in columns]], dtype=object)
    return ComparedWords(
        table=f"Fig. {name[-1]}, {dataset}",
        rows=(dataset,),
        columns=columns,
        ours=mine,
        printed=theirs,
        agrees=mine == theirs,
        corner="data set",
        note=f"The most frequent graph came in {100 * count.max() / len(edges):.0f} percent of the "
        f"runs, {counted(len(graphs), 'graph')} in all. Learners by number: "
        + ", ".join(f"{k + 1} {learner}" for k, learner in enumerate(LEARNERS))
        + ".",
    )


def _edge_words(edges: Flags) -> str:
    found = [f"{i + 1}>{j + 1}" for i, j in np.argwhere(edges).tolist()]
    return " ".join(found) or "none"


def _usual(words: list[str], flags: Flags) -> str:
    return words[int(flags.mean() > 0.5)]


def _most(chosen: Choices) -> str:
    numbers, count = np.unique(chosen, return_counts=True)
    best = int(numbers[np.argmax(count)])
    return "not found" if best == NOT_FOUND else str(best + 1)


def _line_words(decisions: Decisions, row: int) -> str:
    """The most frequent underlines, as ``(5 2) (4 3) 1``."""
    losses = decisions.losses[row]
    orders, ends = underline_ends(losses.reshape(*losses.shape[:-2], -1), decisions.alpha)
    shown = []
    for order, line_ends in zip((orders + 1).tolist(), ends.tolist(), strict=True):
        lines, reach = [], 0
        for start, end in enumerate(line_ends):
            stop = max(start + 1, end)
            if stop > reach:
                line = " ".join(str(k) for k in order[start:stop])
                lines.append(f"({line})" if stop > start + 1 else line)
                reach = stop
        shown.append(" ".join(lines))
    words, count = np.unique(shown, return_counts=True)
    return str(words[np.argmax(count)])
