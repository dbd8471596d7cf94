"""EvalPlus: the results of HumanEval+ and MBPP+, one file per model.

``evalplus.evaluate`` writes ``{"date", "hash", "eval": {problem: [sample, ...]}, "pass_at_k"}``. A
sample has ``base_status`` and ``plus_status`` (pass, fail, timeout; null without the plus tests).
It is right by the plus tests if both pass. ``hash`` covers the problems and their tests: two hashes
are two benchmarks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bestofk._base.errors import TableError
from bestofk.evals.query import LogQuery, pick_name, unknown_name
from bestofk.evals.rows import EvalRows, mapping
from bestofk.evals.sources import Source

_PASS = "pass"
_METRICS = ("plus", "base")


def is_evalplus(source: Source) -> bool:
    """Return whether the file has results by problem, with a status on the base tests."""
    keys = source.keys
    if "eval" not in keys:
        return False
    old = "hash" in keys and '"base"' in source.text_head
    return old or '"base_status"' in source.text_head


def read_evalplus(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of result files; the samples of a problem are its epochs."""
    for source in sources:
        content = source.json()
        problems = content.get("eval") if isinstance(content, Mapping) else None
        if not isinstance(problems, Mapping):
            raise TableError(f"{source.name}: 'eval' must be an object of problems.")
        learner = rows.learner(_model(source))
        known = _metrics(problems)
        metric = pick_name(query.metric, known, what="metric", where=source.name, default=("plus",))
        if metric is None:
            raise unknown_name(query.metric, known, "metric", source.name)
        rows.metric(metric, True)
        if not query.metric and len(known) > 1:
            rows.note("Compared by 'plus', all tests; the metric 'base' is by the original ones.")
        tests = content.get("hash")
        for name, samples in problems.items():
            # HumanEval/0, Mbpp/2
            task = name.partition("/")[0]
            if not query.wants_task(task):
                continue
            if query.cluster is not None:
                raise unknown_name([query.cluster], [], "cluster", source.name)
            # the base tests are the same in all versions
            item = rows.item(
                task,
                name,
                fingerprint=tests if metric == "plus" and isinstance(tests, str) else None,
                where=source.name,
            )
            for epoch, status in enumerate(_statuses(samples, metric, source, name), start=1):
                if status is None:
                    rows.add(learner, item, epoch=epoch, status="unscored")
                else:
                    rows.add(learner, item, epoch=epoch, score=float(status == _PASS))


def _model(source: Source) -> str:
    model = re.sub(r"[._-]?eval_results$", "", source.stem)
    # MODEL_eval_results.json or MODEL/eval_results.json
    return model or source.path.resolve().parent.name or source.stem


def _metrics(problems: Mapping[str, Any]) -> list[str]:
    for samples in problems.values():
        first = samples[0] if isinstance(samples, list) and samples else samples
        if isinstance(first, Mapping):
            return [
                name
                for name in _METRICS
                if first.get(f"{name}_status") is not None or first.get(name) is not None
            ]
    return []


def _status(value: Any) -> str | None:
    """Return the status of ``["pass", details]``."""
    status = value[0] if isinstance(value, list) and value else value
    return status if isinstance(status, str) else None


def _statuses(samples: Any, metric: str, source: Source, name: str) -> Iterator[str | None]:
    if isinstance(samples, Mapping):
        # before 0.2: {"base": [["pass", ...], ...], "plus": ...}
        base = [_status(value) for value in samples.get("base") or ()]
        for index, status in enumerate(map(_status, samples.get(metric) or ())):
            failed = index < len(base) and base[index] != _PASS
            yield base[index] if failed else status
        return
    if not isinstance(samples, list):
        raise TableError(f"{source.name}: {name!r:.80} must be an array of samples.")
    for sample in map(mapping, samples):
        status = sample.get(f"{metric}_status")
        if metric == "plus" and status is not None:
            # the plus tests come on top of the base tests
            base_status = sample.get("base_status")
            status = status if base_status in (None, _PASS) else base_status
        yield status if isinstance(status, str) else None
