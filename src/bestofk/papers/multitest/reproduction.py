"""Reproduce the tables and figures of Yildiz and Alpaydin 2006."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted
from bestofk.papers.array_task import ArrayPiece, obtain
from bestofk.papers.comparison import ComparedNumbers, ComparedWords, ReproductionResult, Request
from bestofk.papers.data import content, locate
from bestofk.papers.multitest.learners import LEARNERS, recipe
from bestofk.papers.multitest.tables import (
    Decisions,
    LearnerRuns,
    claims,
    decide,
    drawn,
    errors_of,
    figure_facts,
    most_selected,
    sample_execution,
    table_1,
    table_2,
    table_3,
)
from bestofk.papers.registry import REPRODUCTIONS

VERSION = 1
"""Increase it if the same seed gives other errors."""
_RUNS_PER_PIECE = 100
FIGURES = {"fig3": "hepatitis", "fig4": "pendigits"}


def reproduce(request: Request) -> ReproductionResult:
    """Reproduce Tables 1 to 3 and Figs. 2 to 4, next to the published values."""
    facts, steps = sample_execution()
    if request.tables == ("fig2",):
        return ReproductionResult(
            title="MultiTest, sample execution", paper=_paper(), tables=(facts,),
            figures={"Fig. 2": steps},
        )  # fmt: skip
    datasets = _datasets(request)
    design = "own" if request.variant == "paper" else "shared"
    losses = obtain_losses(request, datasets, design)
    if request.variant == "retested":
        decisions = decide(losses, test="corrected-repeated-kfold-t", correction="holm")
    else:
        decisions = decide(losses)
    details: dict[str, Any] = {
        "runs": request.runs,
        "seed": request.seed,
        "variant": request.variant,
        "datasets": list(datasets),
    }
    tables = _tables(request, losses, decisions, datasets)
    figures: dict[str, tuple[str, ...]] = {}
    if request.wants("fig2"):
        tables, figures = [facts, *tables], {"Fig. 2": steps}
    for name, dataset in FIGURES.items():
        if request.wants(name):
            row = datasets.index(dataset)
            title = f"Fig. {name[-1]}, {dataset}"
            figures[title], details[name] = drawn(dataset, losses[row], decisions.edges[row])
    return ReproductionResult(
        title=_title(request),
        paper=_paper(),
        tables=tuple(tables),
        sentences=tuple(_sentences(request, decisions, datasets)),
        explained=REPRODUCTIONS["multitest"].explained,
        details=details,
        figures=figures,
    )


def _datasets(request: Request) -> tuple[str, ...]:
    """Return the needed data sets: one per figure, all for the tables."""
    if request.tables and set(request.tables) <= {"fig2", *FIGURES}:
        return tuple(FIGURES[table] for table in FIGURES if table in request.tables)
    return tuple(recipe())


def obtain_losses(request: Request, datasets: tuple[str, ...], design: str) -> Floats:
    """Return error rates, shape (data sets, runs, learners, 5, 2)."""
    assert request.runs is not None
    paths = locate("uci", datasets, request.data)
    contents = {name: content(path) for name, path in paths.items()}
    tasks = [
        LearnerRuns(
            path=paths[name],
            name=name,
            learner=learner,
            design=design,
            first=first,
            last=min(first + _RUNS_PER_PIECE, request.runs),
            seed=request.seed,
        )
        for name in datasets
        for first in range(0, request.runs, _RUNS_PER_PIECE)
        for learner in LEARNERS  # consecutive, because they share halves
    ]
    pieces = [
        ArrayPiece(
            name=f"multitest errors {VERSION} {task.learner} {task.design} on {task.name} "
            f"{contents[task.name]}, runs {task.first} to {task.last}, seed {task.seed}",
            argument=task,
        )
        for task in tasks
    ]
    arrays = obtain(pieces, errors_of, request=request)
    rates: dict[tuple[str, str], list[Floats]] = {}
    for task, counts in zip(tasks, arrays, strict=True):
        rates.setdefault((task.name, task.learner), []).append(counts[..., 0] / counts[..., 1])
    return np.array(
        [
            np.stack([np.concatenate(rates[name, learner]) for learner in LEARNERS], axis=1)
            for name in datasets
        ]
    )


def _tables(
    request: Request, losses: Floats, decisions: Decisions, datasets: tuple[str, ...]
) -> list[ComparedNumbers | ComparedWords]:
    tables: list[ComparedNumbers | ComparedWords] = []
    if request.wants("1"):
        tables += table_1(losses, datasets)
    if request.wants("2"):
        tables += table_2(decisions, datasets)
    if request.wants("claims"):
        tables.append(claims(decisions, datasets))
    if request.wants("3"):
        tables.append(table_3(decisions, len(datasets)))
    for name, dataset in FIGURES.items():
        if request.wants(name):
            tables.append(figure_facts(name, dataset, decisions, datasets.index(dataset)))
    return tables


def _sentences(request: Request, decisions: Decisions, datasets: tuple[str, ...]) -> list[str]:
    sentences = [
        f"{counted(request.runs or 0, 'run')} of 5x2 cross-validation on "
        f"{counted(len(datasets), 'data set')}, seed {request.seed}; the print has 1,000 runs."
    ]
    if request.variant == "paper":
        sentences.append(
            "Design: as inferred from the print, the logistic model on its own stratified halves, "
            "C4.5 on its own halves from the second replication on."
        )
    else:
        sentences.append("Design: all learners on the same random halves.")
    if request.variant == "retested":
        sentences.append("Decided by the corrected repeated k-fold t test and Holm's correction.")
    if request.wants("2"):
        same = most_selected(decisions, datasets)
        sentences.append(
            "The most selected is the printed one on "
            + ", ".join(f"{len(sets)} of {len(datasets)} ({name})" for name, sets in same.items())
            + " data sets."
        )
    return sentences


def _title(request: Request) -> str:
    meaning = dict(REPRODUCTIONS["multitest"].variants)[request.variant]
    return f"MultiTest, {request.variant}: {meaning}"


def _paper() -> str:
    entry = REPRODUCTIONS["multitest"]
    return f"{entry.paper}, doi:{entry.doi}."
