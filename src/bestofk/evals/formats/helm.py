"""HELM: run directories with ``run_spec.json`` and ``per_instance_stats.json``.

``helm-run`` writes the statistics of each metric in turn: an instance occurs once per metric, trial
and perturbation, each time with other statistics. It omits statistics that are NaN.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted
from bestofk.evals.query import EvalRun, LogQuery, latest_runs, pick_name, unknown_name
from bestofk.evals.rows import NAN, EvalRows, amount, mapping, number_of
from bestofk.evals.sources import Source

_BOOKKEEPING = re.compile(
    r"num_|inference_|training_|max_|finish_reason|prompt_t|batch_size|estimated_|logprob|"
    r".*runtime|predicted_index"
)
"""Statistics about the run, not about quality."""


def is_helm(source: Source) -> bool:
    """Return whether the file has statistics by instance, or the specification next to them."""
    return _is_stats(source) or {"adapter_spec", "scenario_spec"} <= set(source.keys)


def _is_stats(source: Source) -> bool:
    return "instance_id" in source.keys and "stats" in source.keys


def read_helm(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of run directories."""
    stats = [source for source in sources if _is_stats(source)]
    if not stats:
        raise TableError(
            f"{sources[0].name}: name also per_instance_stats.json, which has the scores, or the "
            "folder of both."
        )
    runs = [_run(source, rows) for source in stats]
    selected = [run for run in runs if query.wants_task(run.task, run.task.split(":")[0])]
    if not selected:
        raise unknown_name(query.task, sorted({r.task for r in runs}), "task", "the logs")
    for name, run in latest_runs(selected, rows.note):
        _read(run, rows.learner(name, model=run.model), query, rows)


def _run(source: Source, rows: EvalRows) -> EvalRun:
    spec_file = source.sibling("run_spec.json")
    if not spec_file.path.is_file():
        raise TableError(
            f"{source.name}: run_spec.json, which names the model, must be in the same directory."
        )
    spec = mapping(spec_file.json())
    adapter = mapping(spec.get("adapter_spec"))
    model = adapter.get("model")
    if not isinstance(model, str):
        model = adapter.get("model_deployment")
        if not isinstance(model, str):
            raise TableError(f"{spec_file.name}: adapter_spec.model must name the model.")
        rows.note(f"{spec_file.name}: the name of the deployment is used as the model.")
    return EvalRun(
        model=model,
        task=_task(str(spec.get("name") or source.path.parent.name)),
        content=source,
        where=source.name,
    )


def _task(name: str) -> str:
    """Return the name of the run without the model: the scenario and its arguments."""
    task = re.sub(r"(?:(?<=[:,])|^)(?:model|model_deployment)=[^,]*,?", "", name)
    return task.rstrip(",:") or name


def _read(run: EvalRun, learner: int, query: LogQuery, rows: EvalRows) -> None:
    source: Source = run.content
    content = source.json()
    if not isinstance(content, list):
        raise TableError(f"{source.name} must be an array of instances.")
    records: dict[tuple[str, int], dict[str, float | None]] = {}
    perturbed = set()
    for number, record in enumerate(content, start=1):
        location = f"{source.name}: instance {number}"
        if not isinstance(record, dict) or not isinstance(record.get("instance_id"), str | int):
            raise TableError(f"{location} must be an object with instance_id, a text.")
        trial = record.get("train_trial_index", 0)
        if not isinstance(trial, int) or not 0 <= trial < 1 << 30:
            raise TableError(f"{location}: train_trial_index must be a number from 0.")
        key = (str(record["instance_id"]), trial)
        if record.get("perturbation"):
            perturbed.add((*key, str(record["perturbation"])))
            continue
        stats = records.setdefault(key, {})
        for name, mean in _means(record, location).items():
            if stats.setdefault(name, mean) != mean and not _BOOKKEEPING.match(name):
                raise TableError(
                    f"{location}: {name!r:.80} is {mean} here and {stats[name]} earlier, in the "
                    "same instance and trial."
                )
    known = dict.fromkeys(name for stats in records.values() for name in stats)
    metric = pick_name(
        query.metric,
        known if query.metric else [name for name in known if not _BOOKKEEPING.match(name)],
        what="metric",
        where=f"{source.name} (task {run.task!r})",
    )
    if metric is None:
        raise unknown_name(query.metric, known, "metric", source.name)
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
            f"{source.name}: {counted(len(perturbed), 'perturbed instance')} skipped; the "
            "originals count."
        )
    if query.cluster is not None:
        rows.note(f"{source.name}: HELM's statistics have nothing to group items by.")


def _means(record: Mapping[str, Any], location: str) -> dict[str, float | None]:
    """Return the mean of each statistic that is not of a perturbation, by name."""
    stats = record.get("stats")
    if not isinstance(stats, list):
        raise TableError(f"{location}: stats must be an array.")
    means: dict[str, float | None] = {}
    for stat in stats:
        name = stat.get("name") if isinstance(stat, Mapping) else None
        if isinstance(name, Mapping):
            if name.get("perturbation"):
                continue
            name = name.get("name")
        if not isinstance(name, str) or name in means:
            continue
        mean = number_of(stat.get("mean"))
        count, total = number_of(stat.get("count")), number_of(stat.get("sum"))
        if mean is None and count and total is not None:
            mean = total / count
        means[name] = mean
    return means
