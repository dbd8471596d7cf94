"""HELM: run directories with ``run_spec.json`` and ``per_instance_stats.json``.

``helm-run`` writes the statistics of every metric of the run one after the other: an instance comes
once per metric, trial and perturbation, each time with other statistics. Statistics that are NaN
are left out when the file is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted
from bestofk.evals.evals import AskedOfLogs, EvalRun, chosen, chosen_runs, nothing_asked_for
from bestofk.evals.rows import NAN, EvalRows, amount, number_of
from bestofk.evals.sources import Source

_KEEPING_BOOKS = re.compile(
    r"num_|inference_|training_|max_|finish_reason|prompt_t|batch_size|estimated_|logprob|"
    r".*runtime|predicted_index"
)
"""Statistics of how a run went, not of how good it was."""


def is_helm(source: Source) -> bool:
    """The statistics by instance, or the specification next to them."""
    return _is_stats(source) or {"adapter_spec", "scenario_spec"} <= set(source.keys)


def _is_stats(source: Source) -> bool:
    return "instance_id" in source.keys and "stats" in source.keys


def read_helm(sources: Sequence[Source], asked: AskedOfLogs, rows: EvalRows) -> None:
    """Write the rows of run directories."""
    stats = [source for source in sources if _is_stats(source)]
    if not stats:
        raise TableError(
            f"{sources[0].name}: per_instance_stats.json, with the scores, must be in the same "
            "directory, and be named or be in the folder that is."
        )
    runs = [_run(source, rows) for source in stats]
    wanted = [run for run in runs if asked.wants_task(run.task, run.task.split(":")[0])]
    if not wanted:
        raise nothing_asked_for(asked.task, sorted({r.task for r in runs}), "task", "the logs")
    for one in chosen_runs(wanted, rows.note):
        learner = rows.learner(one.learner, model=one.run.model)
        _read(one.run, learner, asked, rows)


def _run(source: Source, rows: EvalRows) -> EvalRun:
    beside = source.sibling("run_spec.json")
    if not beside.path.is_file():
        raise TableError(
            f"{source.name}: run_spec.json, which names the model, must be in the same directory."
        )
    spec = beside.json()
    adapter = spec.get("adapter_spec") if isinstance(spec, Mapping) else None
    model = adapter.get("model") if isinstance(adapter, Mapping) else None
    if not isinstance(model, str) or not isinstance(adapter, Mapping):
        deployment = adapter.get("model_deployment") if isinstance(adapter, Mapping) else None
        if not isinstance(deployment, str):
            raise TableError(f"{beside.name}: adapter_spec.model must name the model.")
        model = deployment
        rows.note(f"{beside.name}: the deployment stands for the model.")
    return EvalRun(
        model=model,
        task=_task(str(spec.get("name") or source.path.parent.name)),
        content=source,
        where=source.name,
    )


def _task(name: str) -> str:
    """The name of the run without the model: the scenario and its arguments."""
    kept = re.sub(r"(?:(?<=[:,])|^)(?:model|model_deployment)=[^,]*,?", "", name)
    return kept.rstrip(",:") or name


def _read(run: EvalRun, learner: int, asked: AskedOfLogs, rows: EvalRows) -> None:
    source: Source = run.content
    content = source.json()
    if not isinstance(content, list):
        raise TableError(f"{source.name} must be an array of instances.")
    records: dict[tuple[str, int], dict[str, float | None]] = {}
    perturbed = set()
    for number, record in enumerate(content, start=1):
        place = f"{source.name}: instance {number}"
        if not isinstance(record, dict) or not isinstance(record.get("instance_id"), str | int):
            raise TableError(f"{place} must be an object with instance_id, a text.")
        trial = record.get("train_trial_index", 0)
        if not isinstance(trial, int) or not 0 <= trial < 1 << 30:
            raise TableError(f"{place}: train_trial_index must be a number from 0.")
        key = (str(record["instance_id"]), trial)
        if record.get("perturbation"):
            perturbed.add((*key, str(record["perturbation"])))
            continue
        stats = records.setdefault(key, {})
        for name, mean in _means(record, place).items():
            if stats.setdefault(name, mean) != mean and not _KEEPING_BOOKS.match(name):
                raise TableError(
                    f"{place}: {name!r:.80} is {mean} here and {stats[name]} before, in the same "
                    "instance and trial."
                )
    known = dict.fromkeys(name for stats in records.values() for name in stats)
    metric = chosen(
        asked.metric,
        known if asked.metric else [name for name in known if not _KEEPING_BOOKS.match(name)],
        what="metric",
        where=f"{source.name} (task {run.task!r})",
    )
    if metric is None:
        raise nothing_asked_for(asked.metric, known, "metric", source.name)
    rows.metric(metric)
    for (name, trial), stats in records.items():
        item = rows.item(run.task, name, where=source.name)
        score = stats.get(metric)
        rows.add(
            learner,
            item,
            epoch=trial + 1,
            score=NAN if score is None else score,
            latency=amount(stats.get("inference_runtime")),
            tokens_in=amount(stats.get("num_prompt_tokens")),
            tokens_out=amount(stats.get("num_output_tokens", stats.get("num_completion_tokens"))),
        )
    if perturbed:
        rows.note(
            f"{source.name}: {counted(len(perturbed), 'perturbed instance')} left out; the "
            "originals count."
        )
    if asked.cluster is not None:
        rows.note(f"{source.name}: HELM's statistics hold nothing to group items by.")


def _means(record: Mapping[str, Any], place: str) -> dict[str, float | None]:
    """The mean of each statistic that is not of a perturbation, by name."""
    stats = record.get("stats")
    if not isinstance(stats, list):
        raise TableError(f"{place}: stats must be an array.")
    found: dict[str, float | None] = {}
    for stat in stats:
        name = stat.get("name") if isinstance(stat, Mapping) else None
        if isinstance(name, Mapping):
            if name.get("perturbation"):
                continue
            name = name.get("name")
        if not isinstance(name, str) or name in found:
            continue
        mean = number_of(stat.get("mean"))
        count, total = number_of(stat.get("count")), number_of(stat.get("sum"))
        if mean is None and count and total is not None:
            mean = total / count
        found[name] = mean
    return found
