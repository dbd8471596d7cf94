"""Rows of evaluation logs as the readers write them, and the values in a log."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from fnmatch import fnmatchcase
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import Advice, TableError, UnknownNameError, use
from bestofk._base.formatting import counted, joined, printable
from bestofk.losses.columns import EVAL_ROLES

if TYPE_CHECKING:
    from bestofk.evals.query import LogQuery

GROUPS = (
    *EVAL_ROLES["cluster"], "document", "document_id", "context", "article", "url", "conversation",
    "conversation_id",
)  # fmt: skip
"""Keys of what several items may share."""
MIN_GROUPS = 6
"""Fewer groups are not proposed as clusters: no difference could be shown with five."""
STATUSES = ("scored", "error", "limit", "unscored", "missing")
"""The outcome of a sample.

``scored``: it has a number. ``error``: the sample failed. ``limit``: it hit a limit of time,
tokens, messages or money (and may have a score). ``unscored``: it ran, but its score is not a
number. ``missing``: it was planned and did not run.
"""

NAN = float("nan")
ROWS_AT_ONCE = 1 << 18
"""Rows whose cells are computed together, so that these take little memory."""
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
"""NUL and lone surrogates, which not every file can hold."""
WORDS = {
    "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "pass": 1.0, "fail": 0.0, "passed": 1.0,
    "failed": 0.0, "correct": 1.0, "incorrect": 0.0,
}  # fmt: skip
"""Words that are scores."""


def number_of(value: Any) -> float | None:
    """Return a score as a number: numbers, both also as text, and `WORDS`; None for anything else.

    Examples
    --------
    >>> number_of(True), number_of("FAIL"), number_of("0.25"), number_of([1, 2]), number_of("x")
    (1.0, 0.0, 0.25, None, None)
    """
    if value is True or value is False or type(value) is float:
        return float(value)
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return None
    if isinstance(value, str) and len(value) < 64:
        text = value.strip().lower()
        if text in WORDS:
            return WORDS[text]
        if "_" in text:
            return None
        try:
            return float(text)
        except ValueError:
            return None
    return None


def amount(value: Any) -> float:
    """Return a cost, a time or a number of tokens; NaN if it is missing or negative."""
    kind = type(value)
    if kind is float or kind is int:
        return value if 0 <= value < 1e300 else NAN
    number = number_of(value) if kind is not bool and value is not None else None
    return number if number is not None and 0.0 <= number < 1e300 else NAN


def clean_name(value: Any) -> str:
    r"""Return a name from a log as stripped text that any file can hold.

    Examples
    --------
    >>> clean_name(" gpt "), clean_name(17), clean_name(""), clean_name("a\0b")
    ('gpt', '17', '(no name)', 'a�b')
    """
    if not isinstance(value, str):
        try:
            value = str(value) if isinstance(value, int | float) else json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            value = f"({type(value).__name__})"
    text = str(value).strip()
    if "\0" in text or not text.isascii():
        text = _NOT_STORABLE.sub("\ufffd", text)
    return text or "(no name)"


def model_name(value: Any) -> str:
    r"""Return the name of a model on one line without control characters.

    Examples
    --------
    >>> model_name("a\nb"), model_name("\x1b[31mred")
    ('a b', '�[31mred')
    """
    text = clean_name(value)
    return text if text.isprintable() else printable(" ".join(text.split()))


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Return whether one of the patterns is the name, or matches it with ``*`` and ``?``.

    Examples
    --------
    >>> matches("gpt-4o", ["gpt-*"]), matches("a[1]", ["a[1]"]), matches("b", ["a", "c"])
    (True, True, False)
    """
    return any(name == each or fnmatchcase(name, each.replace("[", "[[]")) for each in patterns)


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


MAX_SCORE = 1e150
"""A larger score counts as unscored, because its square would overflow."""
_CODES = {status: code for code, status in enumerate(STATUSES)}
SCORED = _CODES["scored"]
_KINDS = {
    "model": "i", "item": "i", "epoch": "i", "score": "d", "status": "b", "cost": "d",
    "latency": "d", "tokens_in": "d", "tokens_out": "d",
}  # fmt: skip
AMOUNTS = ("cost", "latency", "tokens_in", "tokens_out")
Codes = npt.NDArray[np.integer[Any]]


class EvalRows:
    """One row for each model, item and epoch, in reading order, and notes about reading."""

    def __init__(self) -> None:
        self.models: dict[str, int] = {}
        self.bare_names: dict[str, str] = {}
        """The name of a model without its settings."""
        self._raw_names: dict[str, str] = {}
        self.tasks: dict[str, int] = {}
        self.items: dict[tuple[int, str], int] = {}
        self.item_task = array("i")
        self.cluster_of: dict[int, str] = {}
        """The cluster of each item that has one."""
        self.notes: list[str] = []
        self.assumptions: list[str] = []
        """The notes that everybody should see."""
        self.repeated: tuple[str, int] | None = None
        """A key that items share, and the number of its values."""
        self.currency = ""
        """The currency of the costs, if the log states it."""
        self.metrics: dict[str, bool | None] = {}
        self.other_metrics: dict[str, None] = {}
        """Metrics of the logs that were not chosen."""
        self.metrics_of_tables: set[str] = set()
        """Metrics whose direction no tool defines."""
        self.unnamed_metric = ""
        """A metric that no column names."""
        self.seen_tasks: dict[str, None] = {}
        """All tasks of the logs, read or not."""
        self._contents: dict[int, tuple[int, str]] = {}
        self._blocks: list[dict[str, Any]] = []
        self.stated_model: str | None = None
        """The name of the only model of the files that are being read, if the user states it."""
        self._stated: dict[str, str] = {}

    def copy(self) -> EvalRows:
        """Return rows that can be extended without changing these."""
        new = copy(self)
        for name, value in vars(self).items():
            setattr(new, name, copy(value))
        return new

    def __len__(self) -> int:
        return sum(len(block["score"]) for block in self._blocks)

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of the rows: model, item, epoch, score, status or an amount."""
        parts = [block[name] for block in self._blocks]
        if not parts:
            return np.empty(0, dtype=np.dtype(_KINDS[name]))
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def model(self, name: Any, *, bare: str | None = None) -> int:
        """Return the code of a model, a new one for a new name."""
        if self.stated_model is not None:
            original = clean_name(name)
            first = self._stated.setdefault(self.stated_model, original)
            if first != original:
                raise TableError(
                    f"The files of model {self.stated_model!r} have several models ({first!r} and "
                    f"{original!r}): name a file of one model, or one of them, such as ",
                    use(models={self.stated_model: first}),
                    ".",
                )
            bare, name = original if bare is None else bare, self.stated_model
        raw = clean_name(name)
        label = model_name(raw)
        while self._raw_names.setdefault(label, raw) != raw:
            # two names that differ only in characters that are not shown
            label += "'"
        if bare is not None:
            self.bare_names.setdefault(label, clean_name(bare))
        return self.models.setdefault(label, len(self.models))

    def note_repeats(self, key: str, values: Iterable[Any]) -> None:
        """Note a key that items share; `values` has its value for each item."""
        values = list(values)
        groups = len(set(values))
        if MIN_GROUPS <= groups < len(values) and self.repeated is None:
            self.repeated = (key, groups)

    def set_clusters(self, items: Iterable[int], clusters: Iterable[Any], where: str) -> None:
        """Put items into groups, which must be the same for every model."""
        known = self.cluster_of
        for item, cluster in zip(items, clusters, strict=True):
            if cluster is None or cluster == "" or cluster != cluster:
                continue
            cluster = clean_name(cluster)
            if known.setdefault(item, cluster) != cluster:
                raise TableError(
                    f"{where}: item {list(self.items)[item][1]!r:.80} is in cluster "
                    f"{cluster!r:.80} here and in {known[item]!r:.80} elsewhere; an item must "
                    "belong to one cluster."
                )

    def check_contents(
        self,
        items: Iterable[int],
        contents: Iterable[str | None],
        where: str,
        advice: Advice | None = None,
    ) -> None:
        """Raise if two rows have different content under one name.

        - `items`, `contents`: The codes of items, and a part of the content of each.
        - `where`, `advice`: The file, and what to do, for the error message.
        """
        for item, content in zip(items, contents, strict=True):
            if content is None:
                continue
            digest, file = self._contents.setdefault(item, (hash(content), where))
            if digest != hash(content):
                task, name = list(self.items)[item]
                task_name = list(self.tasks)[task]
                raise TableError(
                    f"{where}: the content of item {name!r:.80} of task {task_name!r:.80} differs "
                    f"from {file if file != where else 'another row'}, so the two runs cannot be "
                    "paired: pass ",
                    advice or use(exclude=task_name),
                    ".",
                )

    def items_of(self, task: Any, names: Sequence[str]) -> list[int]:
        """Return the codes of items of one task."""
        task_code = self.tasks.setdefault(clean_name(task), len(self.tasks))
        joined_names = "".join(names)
        if not (joined_names.isascii() and joined_names.isprintable()):
            names = [clean_name(name) for name in names]
        code, items = self.items.setdefault, self.items
        codes = [code((task_code, name), len(items)) for name in names]
        self.item_task.extend([task_code] * (len(items) - len(self.item_task)))
        return codes

    def extend(
        self,
        model: Codes,
        item: Codes,
        *,
        epoch: Codes | None,
        score: Floats,
        status: npt.NDArray[np.int8],
        **amounts: Floats,
    ) -> None:
        """Add many rows; `status` holds codes into `STATUSES`."""
        count = len(score)
        finite = (score < MAX_SCORE) & (score > -MAX_SCORE)
        if not finite.all():
            status = np.where((status == SCORED) & ~finite, _CODES["unscored"], status)
            score = np.where(finite, score, NAN)
        unknown = np.broadcast_to(NAN, count)
        columns = {
            "model": model,
            "item": item,
            "epoch": np.broadcast_to(np.int32(0), count) if epoch is None else epoch,
            "score": score,
            "status": status,
            **{name: amounts.get(name, unknown) for name in AMOUNTS},
        }
        self._blocks.append(
            {name: np.asarray(each, np.dtype(_KINDS[name])) for name, each in columns.items()}
        )

    def rename(self, names: Mapping[str, str]) -> None:
        """Give models the names that the user states: new names to names in the logs."""
        for old in names.values():
            if old not in self.models:
                raise UnknownNameError("file or model", old, self.models, "the logs")
        new_names = {old: new for new, old in names.items()}
        after = [new_names.get(name, name) for name in self.models]
        twice = next((name for name in after if after.count(name) > 1), None)
        if twice is not None:
            raise TableError(f"Two models would be named {twice!r}: state another name.")
        self.bare_names = {new_names.get(name, name): self.bare_names.get(name, name)
                       for name in self.models}  # fmt: skip
        self.models = {name: code for code, name in enumerate(after)}

    def select(self, query: LogQuery) -> None:
        """Keep the models and tasks that match `only`, without those that match `exclude`."""
        only, exclude = query.only, query.exclude
        for pattern in (*only, *exclude):
            known = (*self.models, *self.tasks, *query.excluded)
            if not any(matches(name, (pattern,)) for name in known):
                raise UnknownNameError("model or task", pattern, known, "the logs")

        def chosen(names: Mapping[str, int]) -> npt.NDArray[np.bool_]:
            wanted = [name for name in names if matches(name, only)] or list(names)
            return np.array([name in wanted and not matches(name, exclude) for name in names])

        models, tasks = chosen(self.models), chosen(self.tasks)
        if not (models.all() and tasks.all()):
            task_of = np.array(self.item_task)
            keep = models[self.column("model")] & tasks[task_of[self.column("item")]]
            self._blocks = [{name: self.column(name)[keep] for name in _KINDS}]

    def note(self, sentence: str, *, shown: bool = False) -> None:
        """Add a sentence to the notes, and to those that everybody should see."""
        for notes in (self.notes, self.assumptions) if shown else (self.notes,):
            if sentence not in notes:
                notes.append(sentence)

    def metric(self, name: str, higher_is_better: bool | None = None) -> None:
        """Add a metric, and its direction if the log states it."""
        known = self.metrics.get(name)
        self.metrics[name] = known if higher_is_better is None else higher_is_better

    def settle_epochs(self) -> tuple[Any, Any]:
        """Number the epochs that the reader left open; return all epochs and the rows to keep.

        A row that occurs twice (the same model, item and epoch) is kept once if both have the
        same score, and is an error otherwise.
        """
        epoch = self.column("epoch")
        cells = [(self.column("model"), len(self.models)), (self.column("item"),
                 len(self.items))]  # fmt: skip
        if not epoch.any() and all_different(cells):
            # constant columns that take no memory
            one, every = np.ones((), dtype=epoch.dtype), np.ones((), dtype=bool)
            return np.broadcast_to(one, len(epoch)), np.broadcast_to(every, len(epoch))
        cell = cells[0][0].astype(np.int64)
        cell *= max(len(self.items), 1)
        cell += cells[1][0]
        open_ = epoch == 0
        if open_.any():
            import pandas as pd

            epoch = epoch.copy()
            epoch[open_] = pd.Series(cell[open_]).groupby(cell[open_]).cumcount() + 1
            repeated = int((epoch[open_] > 1).sum())
            if repeated:
                self.note(
                    f"{counted(repeated, 'row')} repeat a model and an item: each repetition "
                    "counts as an epoch.",
                    shown=True,
                )
        keep = np.ones(len(cell), dtype=bool)
        if all_different([*cells, (epoch, int(epoch.max(initial=1)) + 1)]):
            return epoch, keep
        import pandas as pd

        score, status = self.column("score"), self.column("status")
        frame = pd.DataFrame({"cell": cell, "epoch": epoch, "score": score, "status": status})
        twice = frame.duplicated(["cell", "epoch"]).to_numpy()
        differs = twice & ~frame.duplicated().to_numpy()
        if differs.any():
            row = int(differs.argmax())
            other = int(((cell == cell[row]) & (epoch == epoch[row])).argmax())
            raise self._conflicting_scores(row, other, int(differs.sum()))
        if twice.any():
            self.note(
                f"{counted(int(twice.sum()), 'row')} occurred twice with the same score and "
                f"{'counts' if twice.sum() == 1 else 'count'} once."
            )
        return epoch, ~twice

    def _conflicting_scores(self, row: int, other: int, count: int) -> TableError:
        score, status = self.column("score"), self.column("status")
        (task, name) = list(self.items)[self.column("item")[row]]
        model = list(self.models)[self.column("model")[row]]
        words = [
            f"{score[index]:g}" if status[index] == SCORED else STATUSES[status[index]]
            for index in (other, row)
        ]
        values = joined(words)
        more = f" ({count} such)" if count > 1 else ""
        return TableError(
            f"Item {name!r:.80} of task {list(self.tasks)[task]!r} occurs twice for model "
            f"{model!r:.80} in one epoch, with different scores ({values}){more}: number the "
            "epochs, or remove the rows that do not count."
        )


def only_means(scores: Floats, model: Codes) -> bool:
    """Return whether the scores are constant within every model, and not just right or wrong.

    Such numbers are means of whole models, not scores of items. A model with one row shows
    nothing.

    Examples
    --------
    >>> only_means(np.array([0.7, 0.7, 0.6, 0.6]), np.array([0, 0, 1, 1]))
    True
    >>> only_means(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1]))
    False
    """
    known = np.isfinite(scores[:ROWS_AT_ONCE])
    first = np.full(int(model.max(initial=0)) + 1, NAN)
    head, codes = scores[:ROWS_AT_ONCE][known], model[:ROWS_AT_ONCE][known]
    first[codes[::-1]] = head[::-1]
    # the beginning of a long table usually shows it
    if np.isin(head, (0.0, 1.0)).all() or not (head == first[codes]).all():
        return False
    known = np.isfinite(scores)
    first[model[known][::-1]] = scores[known][::-1]
    _, counts = np.unique(model[known], return_counts=True)
    return bool((scores[known] == first[model[known]]).all() and counts.min() > 1)


def all_different(columns: Sequence[tuple[Codes, int]]) -> bool:
    """Return whether no two rows of codes are equal; each column has codes from -1 to size - 1.

    Return False if there are too many possible rows.
    """
    count, span = len(columns[0][0]), prod(size + 1 for _, size in columns)

    def keys(start: int, stop: int) -> Any:
        key = np.zeros(stop - start, dtype=np.int64)
        for codes, size in columns:
            key *= size + 1
            key += codes[start:stop]
            key += 1
        return key

    if span <= max(16 * count, 1 << 20):
        seen = np.zeros(span, dtype=bool)
        for start in range(0, count, ROWS_AT_ONCE):
            seen[keys(start, min(start + ROWS_AT_ONCE, count))] = True
        return bool(np.count_nonzero(seen) == count)
    if span >= 1 << 62:
        return False
    ordered = np.sort(keys(0, count))
    return bool((ordered[1:] != ordered[:-1]).all())
