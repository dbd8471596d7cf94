"""Decide about the learners of a comparison in every slice of the test rows.

The losses of a slice come from the kept predictions: the loss of a fold is the metric of its test
rows in the slice. So a slice has a table of losses of the same design as all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import ArgumentError, BestOfKError, DesignError, argument
from bestofk._base.formatting import counted
from bestofk.data.dataset import DataSet
from bestofk.decide.compare_scores import decide
from bestofk.decide.decision import Decision
from bestofk.decide.settings import Settings, with_measured_costs
from bestofk.decide.slices import Slices, check_slices, order_slices, slice_names
from bestofk.run.cells import CellTable
from bestofk.run.fit import HeldOutRows, Rows
from bestofk.run.live import Live
from bestofk.run.metrics import loss_shown
from bestofk.run.one_test_set import instance_losses, loss_of, predictions_in, some_of
from bestofk.run.study import Study, complete_part, is_one_split
from bestofk.splits.design import Design
from bestofk.splits.splits import equal_groups

MIN_ROWS = 25
"""Fewest rows of a slice whose false claims were measured (studies/slice_claims.py)."""
Names = npt.NDArray[np.object_]


def refuse_slices(live: Live, *, stops: bool) -> None:
    """Raise an error before the first fit if no slice can be decided about."""
    if stops:
        raise ArgumentError(argument("by"), " does not apply to a comparison that stops early.")
    loss = live.metric
    if loss.needs == "costs" or loss.reads_model:
        raise ArgumentError(
            argument("by"),
            f" does not apply to the metric {loss_shown(loss.name)!r}, which depends on more "
            "than the predictions.",
        )
    labels, names, by = _slices(live.datasets)
    check_slices(names, by)
    too_small = _too_small(live, labels, names)
    if len(too_small) == len(names):
        raise DesignError(f"No slice of {by!r} is large enough; {names[0]}: {too_small[names[0]]}")


def study_slices(
    study: Study,
    live: Live,
    table: CellTable,
    settings: Settings,
) -> Slices | None:
    """Return the verdicts by slice of a study; None if it has no decision."""
    whole = study.decision
    if whole is None:
        return None
    labels, names, by = _slices(live.datasets)
    learners = [at for at, one in enumerate(live.record.names) if one not in study.left_out]
    too_small = _too_small(live, labels, names)
    tables, problems = _results_by_slice(
        live, table, labels, [name for name in names if name not in too_small]
    )
    problems |= {name: DesignError(reason) for name, reason in too_small.items()}

    def decide_in(name: str, alpha: float) -> Decision:
        if name in problems:
            raise problems[name]
        design = _design_in(live, labels[0] == name)
        losses, _ = complete_part(tables[name], learners, design)
        if losses is not None and is_one_split(losses):
            chosen = labels[0][live.splits[0].test(0, 0)] == name
            losses = instance_losses(live, table, learners, chosen) or losses
        if losses is None:
            raise DesignError("No fold was finished by all learners.")
        preferred = with_measured_costs(settings, losses.learners, study.costs)
        return decide(losses, replace(preferred, alpha=alpha))

    return order_slices(whole, names, decide_in, by=by)


def _slices(datasets: Sequence[DataSet]) -> tuple[list[Names], tuple[str, ...], str]:
    """Return the slice of each row of each data set, all slices, and the name of the column."""
    columns = [data.by for data in datasets if data.by is not None]
    labels = [slice_names(column) for column in columns]
    names = sorted({str(name) for column in labels for name in column})
    return labels, tuple(names), str(columns[0].name or "by")


def _design_in(live: Live, chosen: npt.NDArray[np.bool_]) -> Design:
    """Return the design of a slice, with the sizes of its parts of the first data set."""
    data, splits = live.datasets[0], live.splits[0]
    design = splits.design
    at = [(run, fold) for run in range(design.runs) for fold in range(design.folds)]
    return design.with_(
        n_train=tuple(max(1, int(chosen[np.unique(splits.train(*one))].sum())) for one in at),
        n_test=tuple(int(chosen[splits.test(*one)].sum()) for one in at),
        groups=None if data.groups is None else equal_groups(data.groups[chosen].value_counts()),
    )


def _too_small(live: Live, labels: Sequence[Names], names: Sequence[str]) -> dict[str, str]:
    """Return the slices that are too small, with the reason in a sentence."""
    test_sets = [
        set(column[splits.test(run, fold)])
        for column, splits in zip(labels, live.splits, strict=True)
        for run, fold in splits.run_folds()
    ]
    # the rows of one test set, and several data sets, have tests for any number of them
    needed = MIN_ROWS if len(labels) == 1 and len(test_sets) > 1 else 1
    reasons = {}
    for name in names:
        empty = sum(name not in one for one in test_sets)
        rows = int((labels[0] == name).sum())
        if rows < needed:
            reasons[name] = f"A slice needs at least {needed} rows; this one has {rows}."
        elif empty:
            have = "has" if empty == 1 else "have"
            total = counted(len(test_sets), "test set")
            reasons[name] = f"{empty} of {total} {have} no rows of this slice."
    return reasons


def _results_by_slice(
    live: Live,
    table: CellTable,
    labels: Sequence[Names],
    names: Sequence[str],
) -> tuple[dict[str, CellTable], dict[str, BestOfKError]]:
    """Return the cells with the loss of each slice, and why a slice has none."""
    tables = {name: CellTable(live.record) for name in names}
    problems: dict[str, BestOfKError] = {}
    datasets = [Rows(data) for data in live.datasets]
    at: tuple[int, int, int] | None = None
    chosen: dict[str, npt.NDArray[np.bool_]] = {}
    rows: dict[str, HeldOutRows] = {}
    for cell in table:
        if cell.predictions is None:
            continue  # the fit failed
        if at != (cell.dataset, cell.run, cell.fold):
            at = cell.dataset, cell.run, cell.fold
            test = live.splits[cell.dataset].test(cell.run, cell.fold)
            held_out = datasets[cell.dataset].held_out(test)
            chosen = {name: labels[cell.dataset][test] == name for name in names}
            rows = {name: some_of(held_out, which) for name, which in chosen.items()}
        predictions = predictions_in(cell.predictions, held_out.classes)
        for name in names:
            if name in problems:
                continue
            try:
                loss = loss_of(live.metric, rows[name], some_of(predictions, chosen[name]))
                if not np.isfinite(loss):
                    raise ArgumentError(
                        f"metric {loss_shown(live.metric.name)!r} is not a finite number in "
                        "every test set."
                    )
            except BestOfKError as problem:
                problems[name] = problem
                continue
            scores = (loss, *cell.scores[1:])
            tables[name][cell] = replace(cell, scores=scores, predictions=None)
    return tables, problems
