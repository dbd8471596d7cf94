"""Scores, statuses and names as logs hold them: what is a number, and what is none."""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import TableError
from bestofk._base.formatting import counted, joined, printable, shortened

STATUSES = ("scored", "error", "limit", "unscored", "missing")
"""What became of a sample.

``scored``: there is a number. ``error``: the run of the sample failed. ``limit``: it was stopped
at a limit of time, tokens, messages or money (and may have been scored all the same). ``unscored``:
it ran, but its score is no number. ``missing``: it was planned and did not run.
"""

NAN = float("nan")
_UNHELD = re.compile("[\0\ud800-\udfff]")
_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_INSPECT = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def number_of(value: Any) -> float | None:
    """A score as a number: numbers, booleans, and both as text; None where it is neither.

    Examples
    --------
    >>> number_of(True), number_of("False"), number_of("0.25"), number_of([1, 2]), number_of("x")
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
        word = value.strip().lower()
        if word in _WORDS:
            return _WORDS[word]
        if "_" in word:
            return None
        try:
            return float(word)
        except ValueError:
            return None
    return None


def inspect_number(value: Any) -> float | None:
    """A score of Inspect: C is 1, P is 0.5, I and N are 0, and what `number_of` reads.

    Examples
    --------
    >>> inspect_number("C"), inspect_number("N"), inspect_number("maybe")
    (1.0, 0.0, None)
    """
    if isinstance(value, str) and value in _INSPECT:
        return _INSPECT[value]
    return number_of(value)


def amount(value: Any) -> float:
    """A cost, a time or a number of tokens; NaN where there is none, or a negative one."""
    kind = type(value)
    if kind is float or kind is int:
        return value if 0 <= value < 1e300 else NAN
    found = number_of(value) if kind is not bool and value is not None else None
    return found if found is not None and 0.0 <= found < 1e300 else NAN


def clean_name(value: Any) -> str:
    r"""A name from a log as text that any file can hold, without blanks around it.

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
        # NUL, and halves of surrogate pairs, which no file holds
        text = _UNHELD.sub("\ufffd", text)
    return text or "(no name)"


def model_name(value: Any) -> str:
    r"""The name of a model, which sentences, tables and pages show: on one line, without controls.

    Examples
    --------
    >>> model_name("a\nb"), model_name("\x1b[31mred")
    ('a b', '�[31mred')
    """
    text = clean_name(value)
    return text if text.isprintable() else printable(" ".join(text.split()))


def value_at(record: Any, path: str) -> Any:
    """What a dotted path leads to; None where it leads nowhere.

    Examples
    --------
    >>> value_at({"doc": {"passage.id": 7}}, "doc.passage.id"), value_at({"a": 1}, "b")
    (7, None)
    """
    if not isinstance(record, dict):
        return None
    if path in record:
        return record[path]
    head, dot, rest = path.partition(".")
    while dot:
        if head in record:
            found = value_at(record[head], rest)
            if found is not None:
                return found
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    return None


# Rows as the readers write them: names once, numbers in columns, and sentences on the way.


LARGEST = 1e150
"""A score beyond this is none: its square would be no number."""
_CODES = {status: code for code, status in enumerate(STATUSES)}
SCORED = _CODES["scored"]
_KINDS = {
    "learner": "i", "item": "i", "epoch": "i", "score": "d", "status": "b", "cost": "d",
    "latency": "d", "tokens_in": "d", "tokens_out": "d",
}  # fmt: skip
_AMOUNTS = ("cost", "latency", "tokens_in", "tokens_out")
Codes = npt.NDArray[np.integer[Any]]


class EvalRows:
    """One row for each learner, item and epoch, in the order in which they were read."""

    def __init__(self) -> None:
        self.learners: dict[str, int] = {}
        self.models: dict[str, str] = {}
        """The model behind a learner, where its label says more."""
        self._raw_names: dict[str, str] = {}
        self.tasks: dict[str, int] = {}
        self.items: dict[tuple[int, str], int] = {}
        self.clusters: dict[str, int] = {}
        self.item_task = array("i")
        self.item_cluster = array("i")
        self.account: list[str] = []
        self.unused: list[str] = []
        self.warnings: list[str] = []
        self.metrics: dict[str, bool | None] = {}
        self._prints: dict[int, int] = {}
        self._prints_by: dict[int, str] = {}
        self._written: dict[str, array[Any]] = _empty()
        """Rows that came one by one."""
        self._blocks: list[dict[str, Any]] = []
        """Rows that came together, and those before them."""
        self.totals: Counter[str] = Counter()
        """How often something worth a sentence happened, by the words for it."""

    def __len__(self) -> int:
        return len(self._written["score"]) + sum(len(block["score"]) for block in self._blocks)

    def column(self, name: str) -> npt.NDArray[Any]:
        """One column of the rows: learner, item, epoch, score, status or an amount."""
        parts = [block[name] for block in self._blocks]
        last = self._written[name]
        if len(last) or not parts:
            parts.append(np.array(last, dtype=np.dtype(_KINDS[name])))
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def learner(self, name: Any, *, model: str | None = None) -> int:
        """The code of a learner, a new one where the name is new."""
        raw = clean_name(name)
        label = model_name(raw)
        while self._raw_names.setdefault(label, raw) != raw:
            # two names that differ in what is not shown
            label += "'"
        if model is not None:
            self.models.setdefault(label, clean_name(model))
        return self.learners.setdefault(label, len(self.learners))

    def item(
        self,
        task: Any,
        name: Any,
        *,
        cluster: Any = None,
        fingerprint: Any = None,
        where: str = "",
    ) -> int:
        """The code of an item of a task.

        Parameters
        ----------
        task, name : object
            What it is known by.
        cluster : object, optional
            The group of items that it belongs to, the same whenever the item comes.
        fingerprint : str, optional
            A hash of its content: where it differs from before, these are two items under one
            name, and nothing can be compared.
        where : str
            The file, for that sentence.
        """
        at = self.tasks.get(task)
        if at is None:
            at = self.tasks.setdefault(clean_name(task), len(self.tasks))
        key = (at, name if type(name) is str else clean_name(name))
        code = self.items.get(key)
        if code is None:
            key = (at, clean_name(key[1]))
            code = self.items.get(key)
        if code is None:
            code = len(self.items)
            self.items[key] = code
            self.item_task.append(at)
            self.item_cluster.append(-1)
        if cluster is not None and cluster == cluster and str(cluster).strip():
            group = self.clusters.setdefault(clean_name(cluster), len(self.clusters))
            before = self.item_cluster[code]
            if before == -1:
                self.item_cluster[code] = group
            elif before != group:
                raise TableError(
                    f"{where}: item {key[1]!r:.80} of task {task!r} is in cluster "
                    f"{clean_name(cluster)!r:.80} here and in {list(self.clusters)[before]!r:.80} "
                    "elsewhere: an item belongs to one cluster."
                )
        if fingerprint is not None:
            known = type(fingerprint) is str or type(fingerprint) is int
            print_ = hash(fingerprint if known else clean_name(fingerprint))
            if self._prints.setdefault(code, print_) != print_:
                first = self._prints_by.get(code)
                raise TableError(
                    f"{where}: item {key[1]!r:.80} of task {task!r} has another content "
                    f"(hash {str(fingerprint)[:12]!r}) than in {first or 'the file before'}: "
                    "the two runs did not ask the same questions, so they cannot be paired; "
                    "run them with the same version of the task, or leave that task out."
                )
            if where:
                self._prints_by.setdefault(code, where)
        return code

    def items_of(self, task: Any, names: Sequence[str]) -> list[int]:
        """The codes of many items of one task, which have neither cluster nor fingerprint yet."""
        new_task = clean_name(task) not in self.tasks
        at = self.tasks.setdefault(clean_name(task), len(self.tasks))
        joined_names = "".join(names)
        # most names need nothing done
        plain = joined_names.isascii() and joined_names.isprintable()
        words = names if plain else [clean_name(name) for name in names]
        if new_task:
            first = len(self.items)
            found = {(at, word): code for code, word in enumerate(words, start=first)}
            if len(found) == len(words):
                self.items.update(found)
                self.item_task.extend([at] * len(words))
                self.item_cluster.extend([-1] * len(words))
                return list(range(first, first + len(words)))
        codes = []
        for word in words:
            code = self.items.setdefault((at, word), len(self.items))
            if code == len(self.item_task):
                self.item_task.append(at)
                self.item_cluster.append(-1)
            codes.append(code)
        return codes

    def add(
        self,
        learner: int,
        item: int,
        *,
        epoch: int = 0,
        score: float = NAN,
        status: str = "scored",
        cost: float = NAN,
        latency: float = NAN,
        tokens_in: float = NAN,
        tokens_out: float = NAN,
    ) -> None:
        """One row; a score that is no number turns ``"scored"`` into ``"unscored"``."""
        code = _CODES[status]
        if code == SCORED and not -LARGEST < score < LARGEST:
            code = _CODES["unscored"]
            score = NAN
        to = self._written
        to["learner"].append(learner)
        to["item"].append(item)
        to["epoch"].append(epoch)
        to["score"].append(score)
        to["status"].append(code)
        to["cost"].append(cost)
        to["latency"].append(latency)
        to["tokens_in"].append(tokens_in)
        to["tokens_out"].append(tokens_out)

    def extend(
        self,
        learner: Codes,
        item: Codes,
        *,
        epoch: Codes | None,
        score: Floats,
        status: npt.NDArray[np.int8],
        **amounts: Floats,
    ) -> None:
        """Many rows at once; `status` holds codes into `STATUSES`."""
        if len(self._written["score"]):
            self._blocks.append({name: np.array(held) for name, held in self._written.items()})
            self._written = _empty()
        count = len(score)
        finite = np.abs(score) < LARGEST
        if not finite.all():
            status = np.where((status == SCORED) & ~finite, _CODES["unscored"], status)
            score = np.where(finite, score, NAN)
        none = np.broadcast_to(NAN, count)
        columns = {
            "learner": learner,
            "item": item,
            "epoch": np.zeros(count) if epoch is None else epoch,
            "score": score,
            "status": status,
            **{name: amounts.get(name, none) for name in _AMOUNTS},
        }
        self._blocks.append(
            {name: np.asarray(each, np.dtype(_KINDS[name])) for name, each in columns.items()}
        )

    def rename_learners(self, names: Mapping[str, str]) -> None:
        """Give learners other names; those that would share one keep theirs."""
        wanted = [names.get(name, name) for name in self.learners]
        if len(set(wanted)) == len(wanted):
            self.models = {names.get(name, name): model for name, model in self.models.items()}
            self.learners = {name: code for code, name in enumerate(wanted)}

    def note(self, sentence: str) -> None:
        """A sentence for the account."""
        if sentence not in self.account:
            self.account.append(sentence)

    def warn(self, sentence: str) -> None:
        """A sentence for the account that the user should see at once."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)
            self.note(sentence)

    def count(self, words: str, by: int = 1) -> None:
        """Something that is told once with its number: ``{n} samples had no answer``."""
        self.totals[words] += by

    def metric(self, name: str, higher_is_better: bool | None = None) -> None:
        """What the scores are, and which way they point where the log says it."""
        before = self.metrics.get(name)
        if name in self.metrics and before is not None and higher_is_better is not None:
            if before != higher_is_better:
                raise TableError(
                    f"the logs disagree on metric {name!r}: higher is better in one, lower in "
                    "another."
                )
            return
        self.metrics[name] = before if before is not None else higher_is_better

    def tell_counts(self) -> None:
        """Turn the counts into sentences."""
        for words, count in self.totals.items():
            self.note(words.replace("{n}", str(count)))
        self.totals.clear()

    def settle_epochs(self) -> tuple[Any, Any]:
        """Epochs with those that were left to be counted, and the rows to keep.

        A row that comes twice (the same learner, item and epoch) is kept once where both say the
        same, and is an error where they do not.
        """
        item = self.column("item")
        epoch = self.column("epoch")
        cell = self.column("learner").astype(np.int64)
        cell *= max(len(self.items), 1)
        cell += item
        open_ = epoch == 0
        if open_.any():
            epoch = epoch.copy()
            order = np.argsort(cell[open_], kind="stable")
            epoch[np.flatnonzero(open_)[order]] = _turns(cell[open_][order])
            repeated = int((epoch[open_] > 1).sum())
            if repeated:
                self.note(
                    f"{counted(repeated, 'row')} repeat a model and an item: each repetition "
                    "is an epoch of that item."
                )
        keep = np.ones(len(cell), dtype=bool)
        span = int(epoch.max(initial=1)) + 1
        cells = len(self.learners) * len(self.items)
        if cells * span <= max(16 * len(cell), 1 << 20):
            seen = np.zeros(cells * span, dtype=bool)
            key = cell * span
            key += epoch
            seen[key] = True
            if np.count_nonzero(seen) == len(cell):
                return epoch, keep
        elif cells < (1 << 62) // span:
            key = np.sort(cell * span + epoch)
            if (key[1:] != key[:-1]).all():
                return epoch, keep
        order = np.lexsort((epoch, cell))
        twice = (cell[order][1:] == cell[order][:-1]) & (epoch[order][1:] == epoch[order][:-1])
        if twice.any():
            score, status = self.column("score"), self.column("status")
            first, second = order[:-1][twice], order[1:][twice]
            same = (status[first] == status[second]) & (
                (score[first] == score[second]) | (np.isnan(score[first]) & np.isnan(score[second]))
            )
            if not same.all():
                row = int(second[~same][0])
                raise self._two_scores(row, int(first[~same][0]), int((~same).sum()))
            keep[second] = False
            self.note(
                f"{counted(len(second), 'row')} came twice with the same score and "
                f"{'was' if len(second) == 1 else 'were'} kept once."
            )
        return epoch, keep

    def _two_scores(self, row: int, other: int, count: int) -> TableError:
        score, status = self.column("score"), self.column("status")
        (task, name) = list(self.items)[self.column("item")[row]]
        learner = list(self.learners)[self.column("learner")[row]]
        values = joined(
            [
                f"{score[at]:g}" if status[at] == SCORED else STATUSES[status[at]]
                for at in (other, row)
            ]
        )
        more = f" ({count} such)" if count > 1 else ""
        return TableError(
            f"item {name!r:.80} of task {list(self.tasks)[task]!r} comes twice for model "
            f"{learner!r:.80} in one epoch, with different scores ({values}){more}: number the "
            "epochs, or leave out the rows that do not count."
        )

    def tell_learners(self) -> None:
        """How many learners there are, by name."""
        names = [repr(name) for name in self.learners]
        self.note(f"{counted(len(names), 'model')}: {shortened(names, 12)}.")


def _empty() -> dict[str, array[Any]]:
    return {name: array(kind) for name, kind in _KINDS.items()}


def _turns(sorted_cells: Any) -> Any:
    """1, 2, 3, ... within each stretch of equal cells."""
    count = len(sorted_cells)
    if not count:
        return np.empty(0, dtype=np.int64)
    new = np.ones(count, dtype=bool)
    new[1:] = sorted_cells[1:] != sorted_cells[:-1]
    start = np.flatnonzero(new)
    return np.arange(count) - np.repeat(start, np.diff(np.append(start, count))) + 1
