"""Logs that are spread over the members of an archive or over several files.

Each function takes a file and returns one document, as a tool with a single JSON file would write
it, or None if the file is not part of such a log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bestofk._base.errors import TableError
from bestofk.evals.paths import value_at
from bestofk.evals.query import LogQuery
from bestofk.evals.rows import mapping, number_of
from bestofk.evals.sources import Source, ZipMembers

Document = Mapping[str, Any]


def open_container(
    source: Source, document: Any, query: LogQuery, note: Callable[[str], None]
) -> Document | None:
    """Return the document of a container, or None; `document` is the value of a JSON file."""
    if source.head[:2] == b"PK" and source.suffix != ".xlsx":
        return _inspect_archive(source, query)
    name = source.path.name.removesuffix(".gz")
    if name == "per_instance_stats.json" and isinstance(document, list):
        return _helm_run(source, document, note)
    if name.endswith("_score.json") and name.startswith("BFCL_"):
        return _bfcl_scores(source, document, note)
    if name.startswith("samples_") and name.endswith(".jsonl"):
        return _lm_eval_samples(source, document, note)
    return None


# Inspect: header.json, summaries.json and samples/ID_epoch_N.json in a zip archive


_START = "_journal/start.json"
_SUMMARY = re.compile(r"_journal/summaries/(\d{1,9})\.json")
_SAMPLE = re.compile(r"samples/(.*)_epoch_(\d{1,9})(?:\.json|/sample\.json)", re.DOTALL)


def _inspect_archive(source: Source, query: LogQuery) -> Document | None:
    with ZipMembers(source.path) as archive:
        # a crashed run has only the journal
        name = next((name for name in ("header.json", _START) if name in archive.members), None)
        header = None if name is None else archive.json(name)
    if header is None:
        return None
    if not isinstance(header, dict):
        raise TableError(f"{source.name}: the header must be an object.")
    return {**header, "samples": _inspect_samples(source, query)}


def _inspect_samples(source: Source, query: LogQuery) -> Iterator[Mapping[str, Any]]:
    """Yield the summaries, or the samples themselves if a summary lacks something."""
    with ZipMembers(source.path) as archive:
        members = {
            (match[1], int(match[2])): name
            for name in archive.members
            if (match := _SAMPLE.fullmatch(name))
        }
        seen = set()
        for summary in _summaries(archive, source):
            key = (str(summary.get("id")), summary.get("epoch", 1))
            if key in seen:
                continue
            seen.add(key)
            member = members.get(key)
            whole = member is not None and _is_incomplete(summary, query)
            yield _sample(archive, str(member), source) if whole else summary
        for key, member in members.items():
            if key not in seen:
                yield _sample(archive, member, source)


def _summaries(archive: ZipMembers, source: Source) -> Iterator[dict[str, Any]]:
    names = ["summaries.json"]
    if names[0] not in archive.members:
        journal = [(int(m[1]), m[0]) for m in map(_SUMMARY.fullmatch, archive.members) if m]
        names = [name for _, name in sorted(journal)]
    for name in names:
        summaries = archive.json(name)
        if not isinstance(summaries, list) or not all(isinstance(s, dict) for s in summaries):
            raise TableError(f"{source.name}: {name} must be an array of summaries.")
        yield from summaries


def _sample(archive: ZipMembers, member: str, source: Source) -> Mapping[str, Any]:
    sample = archive.json(member)
    if not isinstance(sample, dict):
        raise TableError(f"{source.name}: {member!r:.120} must be an object.")
    metadata = f"{member.removesuffix('sample.json')}metadata.json"
    if (
        member.endswith("/sample.json")
        and metadata in archive.members
        and not sample.get("metadata")
    ):
        sample["metadata"] = archive.json(metadata)
    return sample


def _is_incomplete(summary: Mapping[str, Any], query: LogQuery) -> bool:
    if "model_usage" not in summary and "working_time" not in summary:
        return True
    if not summary.get("scores") and not summary.get("error"):
        return True
    key = query.cluster
    return (
        key is not None and value_at({**summary, **mapping(summary.get("metadata"))}, key) is None
    )


# lm-evaluation-harness: samples_TASK_TIME.jsonl, and results of the same time next to it


_LM_EVAL_KEYS = ("doc_id", "filter", "metrics")
_STAMP = re.compile(r"_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)$")


def _lm_eval_samples(source: Source, rows: Any, note: Callable[[str], None]) -> Document | None:
    stamp = _STAMP.search(source.stem)
    if stamp is None or isinstance(rows, Mapping) or rows is None:
        return None
    results: Mapping[str, Any] = {}
    for path in sorted(source.path.parent.glob(f"*_{stamp[1]}.json*")):
        if not path.name.startswith("samples_"):
            results = mapping(Source(path, named=False).document(note))
    task = source.stem.removeprefix("samples_").removesuffix(stamp[0])
    if not results:
        note(
            f"{source.name}: there is no results file, so the name of the folder is used as the "
            "name of the model."
        )
    folder = source.path.resolve().parent.name.replace("__", "/")
    return {
        "lm_eval": results, "task": task, "time": stamp[1],
        "shots": mapping(results.get("n-shot")).get(task),
        "model": _lm_eval_model(results) or folder,
        "samples": (_lm_eval_sample(sample, source) for sample in rows),
    }  # fmt: skip


def _lm_eval_model(results: Mapping[str, Any]) -> str | None:
    name = results.get("model_name")
    if isinstance(name, str) and name.strip():
        return name
    args = mapping(results.get("config")).get("model_args")
    match = re.search(r"(?:^|,)(?:peft|pretrained|model|path)=([^,]+)", str(args))
    return match[1] if match else None


def _lm_eval_sample(sample: Any, source: Source) -> Mapping[str, Any]:
    """Return a sample with its scores; metrics are named as in the results, ``acc,strict``."""
    if not (isinstance(sample, dict) and all(key in sample for key in _LM_EVAL_KEYS)):
        raise TableError(
            f"{source.name}: a sample must have {', '.join(_LM_EVAL_KEYS)}, which "
            "lm-evaluation-harness writes since 0.4.7."
        )
    stated = sample["metrics"] if isinstance(sample["metrics"], list) else ()
    end = "" if sample["filter"] == "none" else f",{sample['filter']}"
    names = {name: f"{name}{end}" for name in stated if isinstance(name, str) and name in sample}
    repeats, scores = mapping(sample.get("scores_per_repeat")), {}
    for name, label in names.items():
        value = repeats.get(name)
        # a list that is not of repeats is not a score
        scores[label] = value if isinstance(value, list) else sample[name]
        if scores[label] is sample[name] and isinstance(sample[name], list):
            scores[label] = None
    sample["scores"] = scores
    return sample


# HELM: run_spec.json and per_instance_stats.json


_BOOKKEEPING = re.compile(
    r"num_|inference_|training_|max_|finish_reason|prompt_t|batch_size|estimated_|logprob|"
    r".*runtime|predicted_index"
)
"""Statistics about the run, not about quality."""


def _helm_run(source: Source, instances: list[Any], note: Callable[[str], None]) -> Document:
    spec_file = source.path.with_name("run_spec.json")
    if not spec_file.is_file():
        raise TableError(
            f"{source.name}: run_spec.json, which names the model, must be in the same directory."
        )
    spec = mapping(Source(spec_file, named=False, root=source.root).document(note))
    run = str(spec.get("name") or source.path.parent.name)
    # the scenario and its arguments
    task = re.sub(r"(?:(?<=[:,])|^)(?:model|model_deployment)=[^,]*,?", "", run)
    rows: dict[tuple[str, float], dict[str, Any]] = {}
    perturbed = 0
    for instance in map(mapping, instances):
        if instance.get("perturbation"):
            perturbed += 1
            continue
        trial = number_of(instance.get("train_trial_index", 0)) or 0
        key = (str(instance.get("instance_id")), trial)
        row = rows.setdefault(key, {"instance_id": key[0], "trial": trial + 1, "scores": {}})
        stats = instance.get("stats")
        for stat in map(mapping, stats if isinstance(stats, list) else ()):
            name, mean = mapping(stat.get("name")), number_of(stat.get("mean"))
            label = str(name.get("name"))
            into = row if _BOOKKEEPING.match(label) else row["scores"]
            if (
                not name.get("perturbation")
                and into.setdefault(label, mean) != mean
                and (into is not row)
            ):
                raise TableError(
                    f"{source.name}: {label!r:.80} of instance {key[0]!r:.80} is {mean} and "
                    f"{into[label]} in the same trial."
                )
    if perturbed:
        note(f"{source.name}: {perturbed} statistics of perturbed instances are not used.")
    return {"helm": spec, "task": task.rstrip(",:") or run, "rows": list(rows.values())}


# BFCL: score/MODEL/.../BFCL_*_score.json lists the wrong answers, result/... lists all


def _bfcl_scores(source: Source, rows: Any, note: Callable[[str], None]) -> Document | None:
    lines = list(rows) if rows is not None and not isinstance(rows, Mapping) else []
    header = mapping(lines[0]) if lines else {}
    if "total_count" not in header:
        return None
    path = source.path.absolute().as_posix()
    before, _, after = path.rpartition("/score/")
    results = f"{before}/result/{after.removesuffix('_score.json')}_result.json"
    answers = Source(Path(results), named=False)
    if not answers.path.is_file():
        raise TableError(
            f"{source.name} lists only wrong answers: keep BFCL's folder 'result' next to 'score'."
        )
    wrong = {line.get("id"): line for line in map(mapping, lines[1:])}
    given = [mapping(line) for line in answers.document(note) or ()]
    scored = [{**line, "correct": line.get("id") not in wrong} for line in given]
    if len(scored) != header["total_count"]:
        note(
            f"{source.name}: {header['total_count']} answers were scored, {len(scored)} are logged."
        )
    return {"answers": scored, "bfcl": header}
