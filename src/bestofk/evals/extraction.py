"""Apply the table of a format to documents: one engine for all formats."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress, islice
from typing import Any

import numpy as np

from bestofk._base.errors import TableError, UnknownNameError
from bestofk._base.formatting import counted, shortened
from bestofk.evals.formats import Format, split_keys
from bestofk.evals.paths import Batch, Levels, each_row, named_values, parse, step, value_at
from bestofk.evals.query import LogQuery, pick_metric
from bestofk.evals.rows import (
    AMOUNTS,
    GROUPS,
    NAN,
    STATUSES,
    EvalRows,
    amount,
    clean_name,
    number_of,
)
from bestofk.evals.sources import Source, file_names, is_copy

MAX_ITEM_LENGTH = 120
MAX_COMPARED = 10_000
"""Items whose documents and texts are compared."""
COMPARED_FILES = 3
"""Files in which these are compared."""
ROWS_AT_ONCE = 4096
"""Rows of a file whose columns are taken together."""
MAX_SETTING_LENGTH = 40
"""Characters of a setting in the name of a model; longer ones are numbered."""
_SHARED = {*GROUPS, "input", "question", "doc_hash"}
"""Keys of what several items may share."""
_SCORED, _ERROR, _LIMIT, _UNSCORED, _MISSING = range(len(STATUSES))
_Scores = dict[str, tuple[Any, Any]]
"""The rows with each metric, and their values."""


class FormatReader:
    """Read files of one format, then write the rows of one metric after another."""

    def __init__(self, entry: Format, query: LogQuery, rows: EvalRows) -> None:
        if entry.lists:
            entry = replace(entry, item=("item",), score=(entry.metric,), metric="")
        self.entry, self.query, self.rows = entry, query, rows
        self.sources: list[Source] = []
        self._roles: Mapping[str, str] = {}
        """What the path of the file says: model, task or item."""
        self._parts: list[dict[str, Any]] = []
        """The columns of each batch of rows."""
        self._found: dict[str, tuple[list[Any], list[Any]]] = {}
        self._count = 0
        self._copies: dict[str, dict[int, list[Source]]] = {}
        self.keys: dict[tuple[Any, ...], int] = {}
        """Models with their settings; a model is a name, or the file without one."""
        self.tasks_of_key: dict[tuple[int, str], None] = {}
        self.times: dict[tuple[float, str, str], int] = {}
        """Key to sort by time: a number or a text, then the name of the file."""
        self.higher: dict[str, bool] = {}
        self._values: dict[str | float, float] = {k: float(v) for k, v in entry.values.items()}
        numbers = [word for word in entry.values if re.fullmatch(r"-?\d+", word)]
        self._values |= {float(word): self._values[word] for word in numbers}
        self._shared: dict[str, dict[int, int]] = {}
        """Hashes of what items may share, by key and item."""
        self._compared: Counter[int] = Counter()
        self._in_file: set[int] = set()

    def read(self, source: Source, document: Any, path: str) -> None:
        """Read the rows of a file at a path, unless it is a copy of an earlier file."""
        entry, before = self.entry, self._count
        match = re.search(entry.file, source.path.absolute().as_posix()) if entry.file else None
        self._roles, self._in_file = match.groupdict() if match else {}, set()
        model = self._roles.get("model") or ""
        copies = self._copies.setdefault(model, {})
        if (model or entry.model) and not entry.time and is_copy(source, copies):
            self.rows.note(f"{source.name} is a copy of another file and was skipped.")
            return
        self.sources.append(source)
        levels = self._rows(document, path)
        while part := list(islice(levels, ROWS_AT_ONCE)):
            self._add(Batch(part), source)
        if self._count == before:
            self.sources.pop()

    def _rows(self, document: Any, path: str) -> Iterator[Levels]:
        entry = self.entry
        if not entry.lists:
            for levels in each_row(document, path):
                key, row = levels[-1]
                if entry.split:
                    row = split_keys(row, entry.split)
                if isinstance(row, dict):
                    yield [*levels[:-1], (key, row)] if entry.split else levels
            return
        seen = set()
        for path, outcome in entry.lists.items():
            for levels in each_row(document, path):
                name = levels[-1][1]
                if isinstance(name, str) and name not in seen:
                    seen.add(name)
                    role = "status" if isinstance(outcome, str) else entry.score[0]
                    yield [levels[0], (None, {"item": name, role: outcome})]

    def _add(self, batch: Batch, source: Source) -> None:
        """Add the columns of some rows of a file."""
        entry, rows = self.entry, self.rows
        if entry.higher:
            self._set_directions(batch.column(entry.higher)[0])
        stated = self._roles.get("task")
        task = [stated or name or entry.called for name in batch.first(entry.task, _name)]
        rows.seen_tasks.update(dict.fromkeys(task))
        wanted = {name: self.query.wants_task(name) for name in dict.fromkeys(task)}
        keep = [wanted[name] for name in task]
        for condition in entry.where:
            keep = [a and b for a, b in zip(keep, _holds(batch, condition), strict=True)]
        if not all(keep):
            batch = Batch([*compress(batch.levels, keep)])
            task = [*compress(task, keep)]
        if not len(batch):
            return
        batch.models = batch.first(entry.model, _name)
        names = self._items(batch, source)
        items = np.empty(len(batch), np.int32)
        for each in dict.fromkeys(task):
            at = [k for k, one in enumerate(task) if one == each] if len(wanted) > 1 else range(
                len(task))  # fmt: skip
            items[at] = rows.items_of(each, [names[k] for k in at])
        self._set_groups(batch, items.tolist(), names, source)
        columns = {
            "item": items,
            "key": self._key_codes(batch, source, task),
            "source": np.full(len(batch), len(self.sources) - 1, np.int32),
            "when": self._time_codes(batch, source),
            "epoch": np.array(batch.first(entry.epoch, _epoch), np.int32),
            **self._amounts(batch),
        }
        scores: _Scores = {}
        for path in entry.score:
            for metric, (at, values) in _scores(batch, path, entry.metric).items():
                known = scores.setdefault(metric, ([], []))
                known[0].extend(at)
                known[1].extend(values)
        if entry.repeats:
            columns, scores = _with_repeats(columns, scores)
        for metric, (at, values) in scores.items():
            found = self._found.setdefault(metric, ([], []))
            found[0].append(np.array(at, np.int32) + self._count)
            found[1].append(np.array(self._numbers(batch, at, values), float))
        self._parts.append(columns)
        self._count += len(columns["item"])

    def _key_codes(self, batch: Batch, source: Source, task: Sequence[str]) -> Any:
        """Return the code of the model of each row, with its settings."""
        stated = self._roles.get("model")
        columns = [task, [stated or name or source for name in batch.models]]
        columns += [
            batch.first([paths] if isinstance(paths, str) else paths, _setting)
            for paths in self.entry.variant.values()
        ]
        if all(column.count(column[0]) == len(batch) for column in columns):
            # one key for all rows
            columns = [column[:1] for column in columns]
        keys = [*zip(*columns, strict=True)]
        codes = {}
        for key in dict.fromkeys(keys):
            codes[key] = self.keys.setdefault(key[1:], len(self.keys))
            self.tasks_of_key.setdefault((codes[key], key[0]))
        return np.resize(np.array([codes[key] for key in keys], np.int32), len(batch))

    def _set_directions(self, stated: Any) -> None:
        for name, value in stated.items() if isinstance(stated, dict) else ():
            for metric, higher in value.items() if isinstance(value, dict) else [(name, value)]:
                if isinstance(higher, bool):
                    self.higher[str(metric)] = higher

    def _items(self, batch: Batch, source: Source) -> list[str]:
        """Return the name of the item of each row."""
        names: list[str | None] = [self._roles.get("item")] * len(batch)
        for path in self.entry.item:
            if None in names:
                others = _item_names(batch, path)
                names = [a if a is not None else b for a, b in zip(names, others, strict=True)]
        found = [name for name in names if name is not None]
        if len(found) < len(names):
            raise TableError(f"{source.name}: a row has no {' or '.join(self.entry.item)}.")
        return found

    def _set_groups(
        self, batch: Batch, items: Sequence[int], names: Sequence[str], source: Source
    ) -> None:
        """Set the clusters of items, check their contents, and remember what they may share."""
        entry, key = self.entry, self.query.cluster
        holders = [batch.rows, *(batch.column(path) for path in entry.cluster)]
        clusters: Sequence[Any] = ()
        if key is None:
            clusters = batch.first(entry.group) if entry.group else ()
            self._note_shared(holders, items)
        elif key in entry.item_parts:
            parts = (re.search(entry.item_parts[key], name) for name in names)
            clusters = [part[1] if part else None for part in parts]
        else:
            found = (
                (value_at(holder, key) for holder in each) for each in zip(*holders, strict=True)
            )
            clusters = [next((v for v in values if v is not None), None) for values in found]
        if clusters:
            self.rows.set_clusters(items, clusters, source.name)
        if entry.content:
            self.rows.check_contents(items, batch.first(entry.content, _content), source.name)

    def _note_shared(self, holders: Sequence[Sequence[Any]], items: Sequence[int]) -> None:
        """Remember the document, or the text, of an item in its first files."""
        if len(self.rows.items) > MAX_COMPARED:
            return
        at = {item: row for row, item in enumerate(items) if item not in self._in_file}
        self._in_file.update(at)
        self._compared.update(at.keys())
        at = {item: row for item, row in at.items() if self._compared[item] <= COMPARED_FILES}
        for column in holders if at else ():
            for key in _SHARED & column[0].keys() if isinstance(column[0], dict) else ():
                values = self._shared.setdefault(key, {})
                for item, row in at.items():
                    if isinstance(column[row], dict) and key in column[row]:
                        digest = hash(_text(column[row][key]))
                        if values.setdefault(item, digest) != digest:
                            # a part of the answer
                            values[-1] = digest

    def _note_repeats(self) -> None:
        """Note what items share, the documents before the texts."""
        items = [name for _, name in self.rows.items]
        for key, pattern in self.entry.item_parts.items():
            parts = [re.search(pattern, name) for name in items]
            self.rows.note_repeats(key, [part[1] if part else None for part in parts])
        for key in sorted(self._shared, key=lambda key: key not in GROUPS):
            values = self._shared[key]
            if -1 not in values and len(values) == len(items):
                self.rows.note_repeats(key, values.values())

    def _time_codes(self, batch: Batch, source: Source) -> Any:
        """Return the code of the time of each row."""

        def code(value: Any) -> int:
            number = value if isinstance(value, int | float) else 0.0
            return self.times.setdefault((number, _setting(value), source.name), len(self.times))

        return np.array(batch.first(self.entry.time or ["/"], code), np.int32)

    def _amounts(self, batch: Batch) -> dict[str, Any]:
        """Return the status, and what each row cost."""
        entry = self.entry
        status = np.full(len(batch), _SCORED, np.int8)
        if entry.lists:
            words = batch.column("status")
            status[:] = [STATUSES.index(word) if word else _SCORED for word in words]
        status[_any_holds(batch, entry.limit)] = _LIMIT
        status[_any_holds(batch, entry.error)] = _ERROR
        unsure = (status == _ERROR) | _any_holds(batch, entry.cached)
        columns = {"status": status}
        for role in AMOUNTS:
            if paths := getattr(entry, role):
                values = _amounts(batch, paths)
                # 0 for a failed or cached call does not state its cost
                unstated = unsure & ((values == 0.0) | (role == "latency"))
                columns[role] = np.where(unstated, NAN, values)
        return columns

    def _numbers(self, batch: Batch, at: Sequence[int], values: Sequence[Any]) -> list[float]:
        words = self._values
        if not words:
            return [NAN if (v := number_of(value)) is None else v for value in values]
        numbers = []
        for row, value in zip(at, values, strict=True):
            number = words.get(value) if isinstance(value, str | float | int) else None
            if number is None and isinstance(value, str):
                number = words.get(f"{batch.levels[row][-1][0]}:{value}")
            number = number_of(value) if number is None else number
            numbers.append(NAN if number is None else number)
        return numbers

    def finish(self, rows: EvalRows, metrics: Sequence[str]) -> None:
        """Name the models, choose the metrics, and write their rows.

        - `rows`: A copy of the rows that the files were read with.
        - `metrics`: The metrics to choose from; empty for the tool's own.
        """
        self.rows = rows
        if not self._count:
            return
        columns = {name: np.concatenate([p[name] for p in self._parts]) for name in self._parts[0]}
        columns["model"] = self._model_codes(columns.pop("key"), columns.pop("source"))
        if self.query.cluster is None:
            self._note_repeats()
        task = np.array(rows.item_task, dtype=np.int32)[columns["item"]]
        found = {
            metric: (np.concatenate(at), np.concatenate(values))
            for metric, (at, values) in self._found.items()
        }
        metric_of = self._metrics(task, found, metrics)
        score, status = np.full(self._count, NAN), columns["status"]
        has_score, has_any = np.zeros((2, self._count), bool)
        for metric, (at, values) in found.items():
            own = np.isin(task[at], [code for code, name in metric_of.items() if name == metric])
            score[at[own]] = values[own]
            has_score[at[own]] = has_any[at] = True
        words = int((has_score & ~np.isfinite(score) & (status == _SCORED)).sum())
        if words:
            rows.note(
                f"{self.entry.called}: {counted(words, 'score')} of other kinds than numbers count "
                "as unscored, not as 0."
            )
        columns["score"] = np.where(np.isin(status, (_ERROR, _MISSING)), NAN, score)
        # a row that has other metrics only is the answer to another question
        columns = {name: column[has_score | ~has_any] for name, column in columns.items()}
        # some tools count from 0; 0 leaves the counting to `rows`
        epoch = columns["epoch"]
        columns["epoch"] = np.where(epoch < 0, 0, epoch + (0 in epoch)).astype(np.int32)
        if "*" in self.entry.lists:
            columns = self._with_absent(columns, float(self.entry.lists["*"]))
        if self.entry.time:
            times = list(self.times)
            rank = np.argsort(sorted(range(len(times)), key=times.__getitem__))
            latest = self._latest(columns, rank[columns["when"]])
            columns = {name: column[latest] for name, column in columns.items()}
        del columns["when"]
        called, files = self.entry.called, counted(len(self.sources), "file")
        rows.note(f"{called}: {counted(len(columns['score']), 'row')} from {files}.")
        rows.extend(**columns)

    def _with_absent(self, columns: dict[str, Any], score: float) -> dict[str, Any]:
        """Add the items that only other models list."""
        items, models = np.unique(columns["item"]), np.unique(columns["model"])
        every = (models[:, None].astype(np.int64) << 32 | items).ravel()
        absent = np.setdiff1d(every, columns["model"].astype(np.int64) << 32 | columns["item"])
        more: dict[str, Any] = {"model": absent >> 32, "item": absent & 0xFFFFFFFF, "score": score}
        self.rows.note(
            f"{self.entry.called}: items that only other models list count as {score:g}; those "
            "that no model lists are unknown."
        )
        for name, column in columns.items():
            added = np.zeros(len(absent), column.dtype)
            added[:] = more.get(name, NAN if column.dtype.kind == "f" else 0)
            columns[name] = np.concatenate([column, added])
        return columns

    def _model_codes(self, key: Any, source: Any) -> Any:
        """Return the code of the model of each row, and name those with different settings."""
        by_file = dict(zip(self.sources, file_names(self.sources), strict=True))
        keys, settings = list(self.keys), list(self.entry.variant)
        names = [str(by_file.get(model, model)) for model, *_ in keys]
        differing: dict[str, set[int]] = {name: set() for name in names}
        first: dict[tuple[str, str], tuple[Any, ...]] = {}
        for code, task in self.tasks_of_key:
            before = first.setdefault((names[code], task), keys[code])
            pairs = enumerate(zip(before, keys[code], strict=True))
            differing[names[code]] |= {at for at, (a, b) in pairs if a != b and at}
        used, rows = np.unique(key, return_index=True)
        file_of = dict(zip(used.tolist(), source[rows].tolist(), strict=True))
        long: dict[str, dict[str, int]] = {}
        codes = []
        for code, (name, parts) in enumerate(zip(names, keys, strict=True)):
            ends = []
            for at in sorted(differing[name]):
                setting, value = settings[at - 1], parts[at] or "default"
                if len(value) > MAX_SETTING_LENGTH or not value.isprintable():
                    numbers = long.setdefault(setting, {})
                    ends.append(f"{setting} {numbers.setdefault(value, len(numbers) + 1)}")
                else:
                    ends.append(f"{setting}={value}")
            label = f"{name} ({', '.join(ends)})" if ends else name
            self.rows.stated_model = self.sources[file_of[code]].model
            codes.append(self.rows.model(label, bare=name))
        self.rows.stated_model = None
        for name, places in differing.items():
            if places:
                called = ", ".join(sorted(settings[at - 1] for at in places))
                self.rows.note(f"Runs of {name!r} differ in {called}: each is a separate model.")
        return np.array(codes, dtype=np.int32)[key]

    def _metrics(self, task: Any, found: _Scores, requested: Sequence[str]) -> dict[int, str]:
        """Return the metric of each task, by its code."""
        known: dict[int, list[str]] = {}
        others: dict[int, list[str]] = {}
        for name, (at, values) in found.items():
            for group, rows in ((known, at[np.isfinite(values)]), (others, at)):
                for code in np.unique(task[rows]).tolist():
                    group.setdefault(code, []).append(name)
        names = list(self.rows.tasks)
        metric_of = {}
        for code in sorted(others):
            several = len(names) > 1
            where = f"{self.entry.called}, task {names[code]!r}," if several else (
                self.sources[0].name)  # fmt: skip
            if code not in known:
                raise TableError(
                    f"{where} has no metric that is one number for each sample: "
                    f"{shortened(others[code], 6)}."
                )
            metric = pick_metric(requested, known[code], where, self.entry.default)
            rest = [name for name in known[code] if name != metric]
            self.rows.other_metrics.update(dict.fromkeys(rest))
            if metric is None:
                has_none = f"has none of {', '.join(requested)}"
                self.rows.note(f"Task {names[code]!r} {has_none} and was skipped.")
                continue
            metric_of[code] = metric
            self.rows.metric(metric, self.higher.get(metric.partition(",")[0]))
            if rest and not requested:
                self.rows.note(f"Compared by {metric!r}; other metrics: {shortened(rest, 6)}.")
        if others and not metric_of:
            everything = dict.fromkeys(chain(*known.values()))
            raise UnknownNameError("metric", requested[0], everything, "the logs")
        return metric_of

    def _latest(self, columns: Mapping[str, Any], when: Any) -> Any:
        """Return the rows of the latest score of an item of a model."""
        cell = columns["model"].astype(np.int64) * len(self.rows.items) + columns["item"]
        span = int(when.max(initial=0)) + 1
        _, code = np.unique(cell, return_inverse=True)
        best = np.full(int(code.max(initial=0)) + 1, -1, dtype=np.int64)
        np.maximum.at(best, code, when + np.isfinite(columns["score"]) * span)
        keep = best[code] % span == when
        if not keep.all():
            names = list(self.rows.models)
            models = [repr(names[at]) for at in np.unique(columns["model"][~keep])]
            self.rows.note(
                f"Several runs of {shortened(models, 4)}: of each item the latest score counts."
            )
        return keep


def _name(value: Any) -> str | None:
    """Return a value as a name; None if it is empty."""
    if type(value) is str:
        return value or None
    return None if value is None else clean_name(value)


def _item_names(batch: Batch, path: str) -> list[str | None]:
    """Return the names of items; a long one is cut, with its digest."""
    first, *others = (batch.column(part) for part in path.split(" + "))
    names: list[str | None] = [None if value is None else _text(value) for value in first]
    for column in others:
        names = [
            name if name is None or value is None else f"{name} {_text(value)}"
            for name, value in zip(names, column, strict=True)
        ]
    return [_cut(name) if name and len(name) > MAX_ITEM_LENGTH else name or None for name in names]


def _cut(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{text[:MAX_ITEM_LENGTH]}... {digest}"


def _epoch(value: Any) -> int:
    """Return the number of an epoch, or -1 without one."""
    number = value if type(value) is int else number_of(value)
    return int(number) if number is not None and 0 <= number < 1 << 30 else -1


def _scores(batch: Batch, path: str, metric: str) -> _Scores:
    """Return the rows with each metric at a path, and their values."""
    path, _, less = path.partition(" - ")
    *others, parts = [parse(part) for part in path.split(" & ")]
    last = next((p for p in reversed(parts) if not re.fullmatch(r"-?\d+|\[\]", p)), "score")
    found: _Scores = {}
    for row, name, holder, value in named_values(batch.rows, parts):
        label = (str(step(holder, parse(metric)) or name) if metric else name) or last
        if others:
            values = [value, *(step(batch.rows[row], other) for other in others)]
            if None in values:
                continue
            value = min(number_of(each) or 0.0 for each in values)
        if label not in found:
            found[label] = ([], [])
        found[label][0].append(row)
        found[label][1].append(value - float(less) if less and value is not None else value)
    return found


def _content(value: Any) -> str | None:
    return None if value is None else _text(value)[:500]


_ENCODE = json.JSONEncoder(sort_keys=True, default=str).encode


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    return _ENCODE(value) if isinstance(value, dict | list) else clean_name(value)


def _setting(value: Any) -> str:
    return value if type(value) is str else "" if value in (None, "", {}, []) else _text(value)


def _holds(batch: Batch, condition: str) -> list[bool]:
    """Return whether ``path`` is true, or ``path=value`` or ``path!=value`` holds."""
    path, sign, value = re.split(r"(!?=)", f"{condition}=", maxsplit=1)
    if "=" not in condition:
        return [bool(each) for each in batch.column(path)]
    value, equal = value.removesuffix("="), sign == "="
    return [(_setting(each) == value) is equal for each in batch.column(path)]


def _any_holds(batch: Batch, conditions: Sequence[str]) -> Any:
    """Return the rows for which one of the conditions holds."""
    rows = np.zeros(len(batch), bool)
    for condition in conditions:
        rows |= np.array(_holds(batch, condition), bool)
    return rows


def _amounts(batch: Batch, paths: Sequence[str]) -> Any:
    """Return the first known sum of amounts of each row."""
    found = np.full(len(batch), NAN)
    for path in paths:
        path, _, divisor = path.partition(" / ")
        columns = [batch.column(part) for part in path.split(" + ")]
        parts = [
            np.array([*map(amount, each)], float)
            for each in columns
            if each.count(None) < len(each)
        ]
        if not parts:
            continue
        known = np.isfinite(parts).any(axis=0) & np.isnan(found)
        found[known] = np.nansum(parts, axis=0)[known] / float(divisor or 1)
    return found


def _with_repeats(columns: dict[str, Any], scores: _Scores) -> tuple[dict[str, Any], _Scores]:
    """Return a row for each score of the lists of scores, which are epochs."""
    count, lists = np.ones(len(columns["item"]), int), {}
    for metric, (at, values) in scores.items():
        lists[metric] = [value if type(value) is list else [value] for value in values]
        np.maximum.at(count, at, [len(each) for each in lists[metric]])
    start = np.cumsum(count) - count
    row = np.repeat(np.arange(len(count)), count)
    columns = {name: column[row] for name, column in columns.items()}
    number = np.arange(len(row)) - start[row] + 1
    columns["epoch"] = np.where(count[row] > 1, number, columns["epoch"]).astype(np.int32)
    found: _Scores = {}
    for metric, (at, _) in scores.items():
        pairs = zip(start[at], lists[metric], strict=True)
        rows = [first + k for first, each in pairs for k in range(len(each))]
        found[metric] = (rows, [*chain.from_iterable(lists[metric])])
    return columns, found
