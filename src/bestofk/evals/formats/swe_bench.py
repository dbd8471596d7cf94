"""SWE-bench: the report of a run, ``MODEL.RUN.json``, or the ``report.json`` of its instances.

``swebench.harness.reporting`` writes lists of ids, and the model's ``org/name`` as ``org__name``.
An instance of ``infra_failure_ids`` (since swebench 5) is also in ``unresolved_ids`` or
``error_ids``, but its environment broke: an error, not a wrong answer. Those of
``ambiguous_failure_ids`` may be either and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted
from bestofk.evals.query import LogQuery, pick_name, unknown_name
from bestofk.evals.rows import EvalRows, mapping
from bestofk.evals.sources import Source, without_copies

_TASK = "SWE-bench"
_METRIC = "resolved"


def is_swe_bench(source: Source) -> bool:
    """Return whether the file is a report of a run, or of one instance."""
    keys = source.keys
    if _is_run(source):
        return True
    return len(keys) == 1 and {"resolved", "patch_exists"} <= next(iter(keys.values()))


def _is_run(source: Source) -> bool:
    """Return whether the file is a report of a run."""
    # long lists of ids may fill the head before the resolved ones
    return bool({"resolved_ids", "resolved_instances", "empty_patch_ids"} & set(source.keys))


def read_swe_bench(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of reports."""
    sources = without_copies(sources, rows.note)
    if not query.wants_task(_TASK):
        raise unknown_name(query.task, [_TASK], "task", "the logs")
    if pick_name(query.metric, [_METRIC], what="metric", where=sources[0].name) is None:
        raise unknown_name(query.metric, [_METRIC], "metric", sources[0].name)
    rows.metric(_METRIC, True)
    runs = [source for source in sources if _is_run(source)]
    names = _names(runs)
    for source in runs:
        _read_run(source, rows.learner(names[source.path.as_posix()]), query, rows)
    for source in sources:
        if not _is_run(source):
            _read_instance(source, query, rows)
    if query.cluster is None:
        rows.note("Issues of one repository are related: the cluster 'repo' groups them.")


def _names(sources: Sequence[Source]) -> dict[str, str]:
    """Return MODEL of MODEL.RUN.json if all files are of one run, else the whole name."""
    stems = {source.path.as_posix(): source.stem for source in sources}
    parts = {stem.rpartition(".")[2] for stem in stems.values() if "." in stem}
    one_run = len(stems) > 1 and len(parts) == 1 and all("." in stem for stem in stems.values())
    short = {path: stem.rpartition(".")[0] if one_run else stem for path, stem in stems.items()}
    if len(set(short.values())) < len(short):
        short = {path: f"{path.split('/')[-2]}/{name}" for path, name in short.items()}
    return {path: name.replace("__", "/") for path, name in short.items()}


def _read_run(source: Source, learner: int, query: LogQuery, rows: EvalRows) -> None:
    report = source.json()
    if not isinstance(report, Mapping):
        raise TableError(f"{source.name} must be a JSON object.")
    done: set[str] = set()
    broken = set(_ids(report, "infra_failure_ids", source))
    broken_count = empty_count = 0
    for key, score, status in (
        ("resolved_ids", 1.0, "scored"),
        ("unresolved_ids", 0.0, "scored"),
        ("error_ids", float("nan"), "error"),
        ("empty_patch_ids", 0.0, "scored"),
        ("incomplete_ids", float("nan"), "missing"),
    ):
        names = []
        for name in _ids(report, key, source):
            # the lists of unresolved instances, empty patches and errors overlap in some versions;
            # an instance that is both resolved and unresolved was tried twice
            if name in done and key != "unresolved_ids":
                continue
            names.append(name)
            empty_count += key == "empty_patch_ids"
            failed = key == "unresolved_ids" and name in broken
            broken_count += failed
            rows.add(
                learner,
                _item(name, query, rows, source),
                score=float("nan") if failed else score,
                status="error" if failed else status,
            )
        done.update(names)
    if broken_count:
        rows.note(
            f"{source.name}: {counted(broken_count, 'instance')} whose environment broke "
            "(infra_failure_ids): bestofk counts errors, SWE-bench counts them as not resolved; "
            "count errors as wrong to do so too."
        )
    if empty_count:
        patches = "1 empty patch" if empty_count == 1 else f"{empty_count} empty patches"
        rows.note(f"{source.name}: {patches} counted as not resolved.")
    planned = report.get("submitted_ids")
    for name in planned if isinstance(planned, list) else ():
        if isinstance(name, str) and name not in done:
            rows.add(learner, _item(name, query, rows, source), status="missing")
            done.add(name)


def _ids(report: Mapping[str, Any], key: str, source: Source) -> list[str]:
    names = report.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TableError(f"{source.name}: {key} must be an array of instance ids.")
    return names


def _read_instance(source: Source, query: LogQuery, rows: EvalRows) -> None:
    """Read logs/run_evaluation/RUN/MODEL/INSTANCE/report.json."""
    report = source.json()
    if not isinstance(report, Mapping):
        raise TableError(f"{source.name} must be a JSON object.")
    model = source.path.resolve().parent.parent.name.replace("__", "/")
    learner = rows.learner(model or "(no name)")
    for name, result in report.items():
        resolved = mapping(result).get("resolved")
        if not isinstance(resolved, bool):
            raise TableError(f"{source.name}: resolved must be true or false.")
        rows.add(learner, _item(name, query, rows, source), score=float(resolved))


def _item(name: str, query: LogQuery, rows: EvalRows, source: Source) -> int:
    cluster = None
    if query.cluster is not None:
        if query.cluster not in ("repo", "repository"):
            raise unknown_name([query.cluster], ["repo"], "cluster", source.name)
        # owner__repository-number
        cluster = re.sub(r"-\d+$", "", name).replace("__", "/")
    return rows.item(_TASK, name, cluster=cluster, where=source.name)
