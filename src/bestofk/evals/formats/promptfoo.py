"""promptfoo: the JSON of ``--output``, and its JSONL with one result per line.

Results are at ``results.results`` (versions 3 and 4) or ``results`` (older). A test is known by
its variables and assertions, never by its number alone: two files may number other tests.
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
from bestofk.evals.evals import AskedOfLogs, nothing_asked_for
from bestofk.evals.rows import NAN, EvalRows, amount, clean_name, model_name, number_of, value_at
from bestofk.evals.sources import JsonParts, Source, each_line

_ERROR = 2
"""``failureReason`` of a test that failed for another reason than its assertions."""
_TASK = "promptfoo tests"
_RUN_TIME = ("sessionId", "_conversation")
"""Variables that promptfoo adds while it runs."""
_LONGEST = 40
_ENCODE = json.JSONEncoder(sort_keys=True).encode


def is_promptfoo(source: Source) -> bool:
    """An output file, or the first line of a JSONL."""
    keys = source.keys
    if "results" in keys and ("evalId" in keys or {"stats", "prompts", "table"} & keys["results"]):
        return True
    if "results" in keys and "version" in keys and {"stats", "table"} & set(keys):
        return True
    if "results" in keys and "promptIdx" in keys["results"]:
        return True
    if "results" in keys and "shareableUrl" in keys:
        return True
    return _is_result(keys)


def _is_result(keys: Mapping[str, Any]) -> bool:
    """The keys of one result, which the lines of a JSONL are."""
    known = {"promptIdx", "testIdx", "promptId", "namedScores", "gradingResult", "latencyMs",
             "testCase", "success", "vars"}  # fmt: skip
    return "results" not in keys and len(known & set(keys)) > 2


class _Result(NamedTuple):
    """What is needed of one result."""

    provider: str
    prompt: str
    item: str
    cluster: Any
    score: float
    failed: bool
    cost: float
    latency: float
    tokens_in: float
    tokens_out: float


def read_promptfoo(sources: Sequence[Source], asked: AskedOfLogs, rows: EvalRows) -> None:
    """Write the rows of output files; the latest file that has a learner and a test counts."""
    by_provider: dict[str, dict[str, None]] = defaultdict(dict)
    taken: dict[tuple[int, int], int] = {}
    older = 0
    for turn, source in enumerate(sorted(sources, key=_time, reverse=True)):
        reader = _File(source, asked, rows)
        before = len(rows)
        learners: dict[tuple[str, str], int] = {}
        for one in reader.results():
            who = (one.provider, one.prompt)
            learner = learners.get(who)
            if learner is None:
                by_provider[one.provider][one.prompt] = None
                learner = learners[who] = rows.learner(_both(*who), model=one.provider)
            item = rows.item(_TASK, one.item, cluster=one.cluster, where=source.name)
            if taken.setdefault((learner, item), turn) != turn:
                older += 1
                continue
            rows.add(
                learner, item, score=one.score, status="error" if one.failed else "scored",
                cost=one.cost, latency=one.latency, tokens_in=one.tokens_in,
                tokens_out=one.tokens_out,
            )  # fmt: skip
        reader.check_metric()
        if len(rows) == before and not older:
            rows.note(f"{source.name}: the file holds no results.")
    named = _prompt_names(by_provider)
    rows.rename_learners(
        {
            _both(provider, prompt): f"{provider} | {named[prompt]}" if named else provider
            for provider, prompts in by_provider.items()
            for prompt in prompts
        }
    )
    if older:
        rows.note(
            f"{counted(older, 'result')} of an older file left out: a later one has the same "
            "model and test."
        )
    if len(named) > 1:
        rows.note(f"{len(named)} prompts: each provider with each prompt is a model.")


def _both(provider: str, prompt: str) -> str:
    """A name for now, until all prompts are known."""
    return model_name(f"{provider} | {prompt}")


def _time(source: Source) -> str:
    """When the evaluation was made, as the beginning of the file says."""
    found = re.search(r'"(?:timestamp|createdAt)"\s*:\s*"([^"]{1,40})"', source.text_head)
    return found[1] if found else ""


def _prompt_names(by_learner: Mapping[str, Mapping[str, None]]) -> dict[str, str]:
    """A short name of each prompt, where a provider has several; else none."""
    prompts = list(dict.fromkeys(prompt for each in by_learner.values() for prompt in each))
    if all(len(each) == 1 for each in by_learner.values()):
        return {}
    short = {
        prompt: prompt if 0 < len(prompt) <= _LONGEST and prompt.isprintable() else f"prompt {turn}"
        for turn, prompt in enumerate(prompts, start=1)
    }
    if len(set(short.values())) < len(short):
        short = {prompt: f"prompt {turn}" for turn, prompt in enumerate(prompts, start=1)}
    return short


class _File:
    """One output file."""

    def __init__(self, source: Source, asked: AskedOfLogs, rows: EvalRows) -> None:
        self.source, self.asked, self.rows = source, asked, rows
        self.known: dict[str, None] = {}
        """Every metric that some result has."""

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
            for path, value in JsonParts(text, stream, source.name):
                if path[-1] == "[]":
                    count += 1
                    yield count, value
            if count:
                return

    def _result(self, value: Mapping[str, Any]) -> _Result:
        response = value.get("response")
        response = response if isinstance(response, dict) else {}
        # version 2 has them with the response alone
        tokens = value.get("tokenUsage") or response.get("tokenUsage")
        tokens = tokens if isinstance(tokens, dict) else {}
        failed = value.get("failureReason") == _ERROR or (
            "failureReason" not in value and bool(value.get("error")) and not _graded(value)
        )
        cached = bool(response.get("cached"))
        if cached:
            self.rows.count(
                "{n} results came from promptfoo's cache: their latency is not counted."
            )

        def spent(what: Any) -> float:
            # promptfoo writes 0 for a call that failed, whatever it cost
            found = amount(what)
            return NAN if failed and not found else found

        latency = NAN if cached or failed else amount(value.get("latencyMs")) / 1000
        return _Result(
            provider=_provider(value),
            prompt=_prompt(value),
            item=_item(value),
            cluster=None if self.asked.cluster is None else _cluster(value, self.asked.cluster),
            score=NAN if failed else self._score(value),
            failed=failed,
            cost=NAN if cached else spent(value.get("cost")),
            latency=latency,
            tokens_in=spent(tokens.get("prompt")),
            tokens_out=spent(tokens.get("completion")),
        )

    def _score(self, value: Mapping[str, Any]) -> float:
        named = value.get("namedScores")
        named = named if isinstance(named, dict) else {}
        if named or not self.known:
            self.known.update(dict.fromkeys(("success", "score", *named)))
        for metric in self.asked.metric or ("success",):
            found = value.get(metric) if metric in ("success", "score") else named.get(metric)
            number = number_of(found)
            if number is not None:
                self.rows.metric(metric, True if metric == "success" else None)
                return number
        return NAN

    def check_metric(self) -> None:
        """Raise where no result has what was asked for; say what was taken unasked."""
        if not self.known:
            return
        if not self.asked.metric:
            self.rows.note(
                "Compared by 'success', promptfoo's own verdict; metric='score' takes its score."
            )
        elif not set(self.asked.metric) & set(self.known):
            raise nothing_asked_for(self.asked.metric, self.known, "metric", self.source.name)


def _graded(value: Mapping[str, Any]) -> bool:
    """An older result whose error is that of its assertions."""
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
    """A name from the content of a test: its variables and its assertions."""
    case = value.get("testCase")
    case = case if isinstance(case, dict) else {}
    variables = value.get("vars")
    told = {
        key: each
        for key, each in (variables if isinstance(variables, dict) else {}).items()
        if key not in _RUN_TIME
    }
    asserts = case.get("assert")
    text = _ENCODE([told, asserts or []])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    words = case.get("description")
    if isinstance(words, str) and words.strip():
        return f"{clean_name(words)[:_LONGEST]} {digest}"
    return digest


def _cluster(value: Mapping[str, Any], path: str) -> Any:
    case = value.get("testCase")
    places = [value.get("vars"), value.get("metadata"), case, value]
    if isinstance(case, dict):
        places.insert(1, case.get("metadata"))
    return next((found for place in places if (found := value_at(place, path)) is not None), None)
