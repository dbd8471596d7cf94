"""promptfoo: the JSON of ``--output``, and its JSONL with one result per line.

Results are at ``results.results`` (versions 3 and 4) or ``results`` (older). The variables and
assertions identify a test. Its number does not, because two files may number tests differently.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted
from bestofk.evals.query import LogQuery, unknown_name
from bestofk.evals.rows import (
    NAN,
    EvalRows,
    amount,
    clean_name,
    mapping,
    model_name,
    number_of,
    value_at,
)
from bestofk.evals.sources import JsonParts, Source, each_line

_ERROR = 2
"""``failureReason`` of a test that failed for a reason other than its assertions."""
_TASK = "promptfoo tests"
_ADDED_VARIABLES = ("sessionId", "_conversation")
"""Variables that promptfoo adds while it runs."""
_MAX_NAME_LENGTH = 40
_ENCODE = json.JSONEncoder(sort_keys=True).encode


def is_promptfoo(source: Source) -> bool:
    """Return whether the file is an output file, or a JSONL of results."""
    keys = source.keys
    if _is_csv(source):
        return True
    if "results" not in keys:
        return _is_result(keys)
    if {"evalId", "shareableUrl"} & set(keys):
        return True
    if {"stats", "prompts", "table", "promptIdx"} & keys["results"]:
        return True
    return "version" in keys and bool({"stats", "table"} & set(keys))


def _is_csv(source: Source) -> bool:
    """Return whether the file is promptfoo's table, which lacks costs and has rounded scores."""
    header = source.text_head.partition("\n")[0]
    return "Grader Reason" in header and "Score" in header and not source.keys


def _is_result(keys: Mapping[str, Any]) -> bool:
    """Return whether the keys are those of one result, as in a line of a JSONL."""
    known = {"promptIdx", "testIdx", "promptId", "namedScores", "gradingResult", "latencyMs",
             "testCase", "success", "vars"}  # fmt: skip
    return "results" not in keys and len(known & set(keys)) > 2


class _Result(NamedTuple):
    """The parts of a result that bestofk reads."""

    provider: str
    prompt: str
    prompt_number: int | None
    item: str
    cluster: Any
    score: float
    failed: bool
    cost: float
    latency: float
    tokens_in: float
    tokens_out: float


def read_promptfoo(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of output files; the latest file with a learner and a test counts."""
    by_provider: dict[str, dict[str, None]] = defaultdict(dict)
    numbers: dict[str, int] = {}
    file_of: dict[tuple[int, int], int] = {}
    older = 0
    for source in sources:
        if _is_csv(source):
            raise TableError(
                f"{source.name} is promptfoo's CSV, which has rounded scores and no costs: write "
                f"JSON instead with 'promptfoo eval --output {source.stem}.json', and name "
                f"{source.stem}.json."
            )
    for file, source in enumerate(sorted(sources, key=_time, reverse=True)):
        reader = _File(source, query, rows)
        before = len(rows)
        learners: dict[tuple[str, str], int] = {}
        for result in reader.results():
            key = (result.provider, result.prompt)
            learner = learners.get(key)
            if learner is None:
                by_provider[result.provider][result.prompt] = None
                if result.prompt_number is not None:
                    first = numbers.get(result.prompt, result.prompt_number)
                    numbers[result.prompt] = min(first, result.prompt_number)
                learner = learners[key] = rows.learner(_full_name(*key), model=result.provider)
            item = rows.item(_TASK, result.item, cluster=result.cluster, where=source.name)
            if file_of.setdefault((learner, item), file) != file:
                older += 1
                continue
            rows.add(
                learner, item, score=result.score, status="error" if result.failed else "scored",
                cost=result.cost, latency=result.latency, tokens_in=result.tokens_in,
                tokens_out=result.tokens_out,
            )  # fmt: skip
        reader.check_metric()
        if len(rows) == before and not older:
            rows.note(f"{source.name}: the file has no results.")
    prompt_names = _prompt_names(by_provider, numbers)
    rows.rename_learners(
        {
            _full_name(provider, prompt): f"{provider} | {prompt_names[prompt]}"
            if prompt_names
            else provider
            for provider, prompts in by_provider.items()
            for prompt in prompts
        }
    )
    if older:
        rows.note(
            f"{counted(older, 'result')} of an older file skipped: a later file has the same "
            "model and test."
        )
    if len(prompt_names) > 1:
        rows.note(f"{len(prompt_names)} prompts: each provider with each prompt is a model.")


def _full_name(provider: str, prompt: str) -> str:
    """Return a preliminary name, until all prompts are known."""
    return model_name(f"{provider} | {prompt}")


def _time(source: Source) -> str:
    """Return the time of the evaluation, as the beginning of the file states it."""
    match = re.search(r'"(?:timestamp|createdAt)"\s*:\s*"([^"]{1,40})"', source.text_head)
    return match[1] if match else ""


def _prompt_names(
    by_provider: Mapping[str, Mapping[str, None]], numbers: Mapping[str, int]
) -> dict[str, str]:
    """Return a short name of each prompt; none if each provider has one prompt.

    Prompts are numbered in the order of the configuration (``promptIdx``), not of the results.
    """
    prompts = list(dict.fromkeys(prompt for each in by_provider.values() for prompt in each))
    prompts.sort(key=lambda prompt: numbers.get(prompt, len(prompts)))
    if all(len(each) == 1 for each in by_provider.values()):
        return {}
    short = {
        prompt: prompt
        if 0 < len(prompt) <= _MAX_NAME_LENGTH and prompt.isprintable()
        else f"prompt {number}"
        for number, prompt in enumerate(prompts, start=1)
    }
    if len(set(short.values())) < len(short):
        short = {prompt: f"prompt {number}" for number, prompt in enumerate(prompts, start=1)}
    return short


class _File:
    """One output file."""

    def __init__(self, source: Source, query: LogQuery, rows: EvalRows) -> None:
        self.source, self.query, self.rows = source, query, rows
        self.known: dict[str, None] = {}
        """All metrics of its results."""

    def results(self) -> Iterator[_Result]:
        for number, value in self._raw():
            if not isinstance(value, dict) or "success" not in value:
                raise TableError(
                    f"{self.source.name}: result {number} must be an object with success and score."
                )
            yield self._result(value)

    def _raw(self) -> Iterator[tuple[int, Any]]:
        source = self.source
        if _is_result(source.keys):
            yield from each_line(source.path, source.name, self.rows.note)
            return
        text = source.text()
        count = 0
        for stream in (("results", "results"), ("results",)):
            for path, value in JsonParts(text, stream, source.name, file_size=source.size):
                if path[-1] == "[]":
                    count += 1
                    yield count, value
            if count:
                return

    def _result(self, value: Mapping[str, Any]) -> _Result:
        response = mapping(value.get("response"))
        # version 2 has them only with the response
        tokens = mapping(value.get("tokenUsage") or response.get("tokenUsage"))
        failed = value.get("failureReason") == _ERROR or (
            "failureReason" not in value and bool(value.get("error")) and not _graded(value)
        )
        cached = bool(response.get("cached"))
        if cached:
            self.rows.count(
                "{n} results came from promptfoo's cache: their cost counts, their latency does "
                "not."
            )

        def spent(value: Any) -> float:
            # 0 for a failed or a cached call does not state its cost
            number = amount(value)
            return NAN if (failed or cached) and not number else number

        latency = NAN if cached or failed else amount(value.get("latencyMs")) / 1000
        return _Result(
            provider=_provider(value),
            prompt=_prompt(value),
            prompt_number=number if type(number := value.get("promptIdx")) is int else None,
            item=_item(value),
            cluster=None if self.query.cluster is None else _cluster(value, self.query.cluster),
            score=NAN if failed else self._score(value),
            failed=failed,
            cost=spent(value.get("cost")),
            latency=latency,
            tokens_in=spent(tokens.get("prompt")),
            tokens_out=spent(tokens.get("completion")),
        )

    def _score(self, value: Mapping[str, Any]) -> float:
        named = mapping(value.get("namedScores"))
        if named or not self.known:
            self.known.update(dict.fromkeys(("success", "score", *named)))
        for metric in self.query.metric or ("success",):
            scores = value if metric in ("success", "score") else named
            number = number_of(scores.get(metric))
            if number is not None:
                # promptfoo's assertions pass from a threshold upwards
                self.rows.metric(metric, higher_is_better=True)
                return number
        return NAN

    def check_metric(self) -> None:
        """Raise an error if no result has the requested metric; note a metric chosen by default."""
        if not self.known:
            return
        if not self.query.metric:
            self.rows.note(
                "Compared by 'success', promptfoo's own verdict; the metric 'score' is its score."
            )
        elif not set(self.query.metric) & set(self.known):
            raise unknown_name(self.query.metric, self.known, "metric", self.source.name)


def _graded(value: Mapping[str, Any]) -> bool:
    """Return whether an older result failed by its assertions."""
    return isinstance(value.get("gradingResult"), Mapping)


def _provider(value: Mapping[str, Any]) -> str:
    provider = value.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return model_name(provider) if provider else "(no provider)"


def _prompt(value: Mapping[str, Any]) -> str:
    prompt = value.get("prompt")
    if isinstance(prompt, dict):
        return str(prompt.get("label") or prompt.get("display") or prompt.get("raw") or "")
    return str(value.get("promptId") or "")


def _item(value: Mapping[str, Any]) -> str:
    """Return a name made from the content of a test: its variables and assertions."""
    case = mapping(value.get("testCase"))
    variables = {
        key: each for key, each in mapping(value.get("vars")).items() if key not in _ADDED_VARIABLES
    }
    text = _ENCODE([variables, case.get("assert") or []])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    description = case.get("description")
    if isinstance(description, str) and description.strip():
        return f"{clean_name(description)[:_MAX_NAME_LENGTH]} {digest}"
    return digest


def _cluster(value: Mapping[str, Any], path: str) -> Any:
    case = value.get("testCase")
    records = (value.get("vars"), mapping(case).get("metadata"), value.get("metadata"), case, value)
    values = (value_at(record, path) for record in records)
    return next((cluster for cluster in values if cluster is not None), None)
