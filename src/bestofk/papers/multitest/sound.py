"""The paper's question without its mistakes: built-in learners, 10x10 folds, corrected t test.

The learners treat unknown values themselves or impute them correctly. Folds are stratified and
shared. The logistic model converges. C4.5 splits by gain ratio and prunes from the leaves up.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted, shortened
from bestofk.papers.array_task import ArrayPiece, obtain
from bestofk.papers.comparison import ComparedNumbers, ComparedWords, ReproductionResult, Request
from bestofk.papers.data import content, locate, read_in_file_order
from bestofk.papers.multitest.learners import LEARNERS
from bestofk.papers.multitest.tables import (
    PAPER,
    PROCEDURES,
    Counts,
    Decisions,
    decide,
    most_selected,
    table_2,
    table_3,
)
from bestofk.papers.printed_figures import printed_table
from bestofk.papers.registry import REPRODUCTIONS
from bestofk.version import __version__

BUILT_IN = ("max", "nmc", "logistic", "c4.5", "nn")
"""The built-in learners, in the order of `LEARNERS`."""
PLAN = "10x10"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundRun:
    """One learner on one data set, one run of 10x10 folds."""

    path: Path
    name: str
    learner: str
    run: int
    seed: int


def sound_errors(task: SoundRun) -> Counts:
    """Count wrong and tested rows of every fold, shape (10, 10, 2)."""
    from bestofk.learners.registry import learner
    from bestofk.papers.whole_plans import predict_plan
    from bestofk.splits.plans import plan

    data = read_in_file_order(task.path, task.name)
    seed = int(np.random.SeedSequence([task.seed, task.run]).generate_state(1)[0])
    splits = plan(PLAN, random_state=seed).materialise(data.n, data.y)
    codes = data.encoded().y
    predicted = predict_plan(learner(task.learner), data, splits)
    counts = [
        (int((guess != codes[test]).sum()), len(test))
        for guess, (_, _, _, test) in zip(predicted, splits, strict=True)
    ]
    return np.array(counts, dtype=np.int64).reshape(splits.runs, splits.folds, 2)


def sound_losses(request: Request, datasets: tuple[str, ...]) -> Floats:
    """Return error rates, shape (data sets, runs, learners, 10, 10)."""
    assert request.runs is not None
    paths = locate("uci", datasets, request.data)
    contents = {name: content(path) for name, path in paths.items()}
    tasks = [
        SoundRun(path=paths[name], name=name, learner=learner, run=run, seed=request.seed)
        for name in datasets
        for learner in BUILT_IN
        for run in range(request.runs)
    ]
    pieces = [
        ArrayPiece(
            name=f"multitest sound {__version__} {task.learner} on {task.name} "
            f"{contents[task.name]}, {PLAN}, seed {task.seed}, run {task.run}",
            argument=task,
        )
        for task in tasks
    ]
    arrays = obtain(pieces, sound_errors, request=request)
    counts = np.array(arrays).reshape(len(datasets), len(BUILT_IN), request.runs, 10, 10, 2)
    return np.moveaxis(counts[..., 0] / counts[..., 1], 2, 1)


def sound_account(request: Request, datasets: tuple[str, ...]) -> ReproductionResult:
    """Compare the choices of the procedures with the paper's; they need not be equal."""
    losses = sound_losses(request, datasets)
    decisions = decide(losses, test="corrected-repeated-kfold-t", correction="holm")
    entry = REPRODUCTIONS["multitest"]
    tables: list[ComparedNumbers | ComparedWords] = []
    if request.wants("1"):
        tables.append(_smallest(losses, datasets))
    if request.wants("2"):
        tables.append(table_2(decisions, datasets)[0])
    if request.wants("3"):
        tables.append(table_3(decisions, len(datasets)))
    return ReproductionResult(
        title=f"MultiTest, sound: {dict(entry.variants)['sound']}",
        paper=f"{entry.paper}, doi:{entry.doi}.",
        tables=tuple(tables),
        sentences=tuple(_sentences(request, decisions, datasets)),
        explained=REPRODUCTIONS["multitest"].explained,
        details={
            "runs": request.runs,
            "seed": request.seed,
            "variant": "sound",
            "datasets": list(datasets),
            "learners": list(BUILT_IN),
            "mean_error_percent": (100 * losses.mean(axis=(1, 3, 4))).round(4).tolist(),
        },
    )


def _smallest(losses: Floats, datasets: tuple[str, ...]) -> ComparedWords:
    """Compare the learners with the smallest mean error."""
    ours = 100 * losses.mean(axis=(1, 3, 4))
    printed = printed_table(PAPER, "1", "mean").take(datasets).values
    best, printed_best = np.argmin(ours, axis=1), np.argmin(printed, axis=1)
    return ComparedWords(
        table="Table 1, the learner of smallest mean error, with its mean in percent",
        rows=datasets,
        columns=("smallest",),
        ours=_named(ours, best),
        printed=_named(printed, printed_best),
        agrees=(best == printed_best)[:, None],
        corner="data set",
        note="Ours trains on 90 percent of the rows, the print on 50.",
    )


def _named(means: Floats, best: np.ndarray) -> np.ndarray:
    texts = [f"{LEARNERS[k]} ({row[k]:.2f})" for row, k in zip(means, best.tolist(), strict=True)]
    return np.array(texts, dtype=object)[:, None]


def _sentences(request: Request, decisions: Decisions, datasets: tuple[str, ...]) -> list[str]:
    same = most_selected(decisions, datasets)
    sentences = [
        f"{counted(request.runs or 0, 'run')} of 10x10 stratified cross-validation on "
        f"{counted(len(datasets), 'data set')}, seed {request.seed}; corrected repeated k-fold t "
        "test, Holm. What differs from the print differs for these reasons; nothing here should "
        "be equal.",
    ]
    for procedure in PROCEDURES[1:]:
        other = [name for name in datasets if name not in same[procedure]]
        sentences.append(
            f"{procedure} most often selects what the print selects on {len(same[procedure])} of "
            f"{len(datasets)} data sets" + (f"; not on {shortened(other, 30)}." if other else ".")
        )
    return sentences
