"""Reproduce the tables and figures of Yildiz and Alpaydin 2006."""

from __future__ import annotations

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted
from bestofk.papers.array_task import ArrayPiece, obtain
from bestofk.papers.comparison import ReproductionResult, Request
from bestofk.papers.data import content, locate
from bestofk.papers.multitest.learners import LEARNERS, recipe
from bestofk.papers.multitest.tables import (
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

VERSION = 1
"""Increase it if the same seed gives other errors."""
_RUNS_PER_PIECE = 100
FIGURES = {"fig3": "hepatitis", "fig4": "pendigits"}
DESIGNS = {
    "own": "as inferred from the print, the logistic model on its own stratified halves, C4.5 on "
    "its own halves from the second replication on",
    "shared": "all learners on the same random halves",
}


def reproduce(request: Request) -> ReproductionResult:
    """Reproduce Tables 1 to 3 and Figs. 2 to 4, next to the published values."""
    result = ReproductionResult()
    if request.wants("fig2"):
        facts, steps = sample_execution()
        result.add([facts], {"Fig. 2": steps})
    # one data set per figure, all for the tables
    datasets = tuple(FIGURES[table] for table in FIGURES if table in request.tables)
    if set(request.tables) - {"fig2", *FIGURES} or not request.tables:
        datasets = tuple(recipe())
    if not datasets:
        return result
    design = "own" if request.variant == "paper" else "shared"
    losses = obtain_losses(request, datasets, design)
    decisions = decide(losses)
    if request.variant == "retested":
        decisions = decide(losses, test="corrected-repeated-kfold-t", correction="holm")
    result.add(sentences=[
        f"{counted(request.runs, 'run')} of 5x2 cross-validation on "
        f"{counted(len(datasets), 'data set')}, seed {request.seed}; the print has 1,000 runs.",
        f"Design: {DESIGNS[design]}.",
    ])  # fmt: skip
    if request.wants("1"):
        result.add(table_1(losses, datasets))
    if request.wants("2"):
        same = ", ".join(f"{len(sets)} of {len(datasets)} ({name})"
                         for name, sets in most_selected(decisions, datasets).items())  # fmt: skip
        sentence = f"The most selected is the printed one on {same} data sets."
        result.add(table_2(decisions, datasets), sentences=[sentence])
    if request.wants("claims"):
        result.add([claims(decisions, datasets)])
    if request.wants("3"):
        result.add([table_3(decisions, len(datasets))])
    for name, dataset in FIGURES.items():
        if request.wants(name):
            row = datasets.index(dataset)
            image, result.details[name] = drawn(dataset, losses[row], decisions.edges[row])
            facts = figure_facts(name, dataset, decisions, row)
            result.add([facts], {f"Fig. {name[-1]}, {dataset}": image})
    return result


def obtain_losses(request: Request, datasets: tuple[str, ...], design: str) -> Floats:
    """Return error rates, shape (data sets, runs, learners, 5, 2)."""
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
