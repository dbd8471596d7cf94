"""Everything that bestofk says about a decision, as statements with a kind.

Terminal, page, JSON and notebook select statements by kind and format them. No other code takes
a sentence apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from bestofk._base.errors import Advice, Part
from bestofk._base.formatting import without_controls

Kind = Literal[
    "data", "verdict", "left out", "reason", "evidence", "also", "caution", "note", "run"
]
"""The kind of a statement; views select statements by it.

data      what is predicted from what
verdict   what to do, and why
left out  learners, fits and scores that failed or do not count
reason    what rules out the others, where the data override a preference, what stopped a race
evidence  the test, its level and its promise, and the quantity that the result speaks of
also      what options requested: probabilities, other metrics, other splits, a judge, more items
caution   what the data show against the test
note      what was assumed, and anything else a reader must know
run       how it was run, and what was understood of the data
"""
KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds, in the order of explanations."""
HEADLINE: tuple[Kind, ...] = ("verdict", "left out")
"""Kinds of the first paragraph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence of a result, or several about one thing.

    - `kind`: See `Kind`.
    - `text`: The sentences.
    - `lead`: The beginning of `text` that suffices for a view with little space.
    - `parts`: The parts of `text`, if it contains advice, which each view writes in its own form.
    """

    kind: Kind
    text: str
    lead: str = ""
    parts: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        for name in ("text", "lead"):
            # names may contain them
            object.__setattr__(self, name, without_controls(getattr(self, name)))

    @property
    def rest(self) -> str:
        """The text after the lead."""
        return self.text[len(self.lead) :]

    def __str__(self) -> str:
        return self.text

    def written(self, show: Callable[[Advice], str]) -> str:
        """Return the text with each advice as `show` writes it."""
        if not self.parts:
            return self.text
        parts = (show(part) if isinstance(part, Advice) else part for part in self.parts)
        return without_controls("".join(parts))


def with_advice(kind: Kind, *parts: Part) -> Statement:
    """Return a statement that contains advice; its text gives the advice as in Python."""
    return Statement(kind=kind, text="".join(map(str, parts)), parts=parts)


def statements(kind: Kind, texts: Iterable[str]) -> tuple[Statement, ...]:
    """Return a statement for each text that is not empty."""
    return tuple(Statement(kind=kind, text=text) for text in texts if text)


def in_order(given: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return statements in the order of explanations."""
    return tuple(sorted(given, key=lambda one: KINDS.index(one.kind)))


class Stated:
    """A result with statements."""

    __slots__ = ()

    command = "scores"
    """The command that returns such a result."""
    decision: Any
    """The decision, or None if there is none."""

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything there is to say, the verdict first."""
        raise NotImplementedError

    def select(self, *kinds: Kind) -> tuple[Statement, ...]:
        """Return the statements of these kinds; see `bestofk.decide.statements`."""
        return tuple(one for one in self.statements if one.kind in kinds)

    @property
    def headline(self) -> str:
        """What to do, and what was left out, in the first sentences."""
        return " ".join(one.text for one in self.select(*HEADLINE))

    def explain(self) -> str:
        """Return all statements, one paragraph per line; the data and the headline first."""
        first = [one.text for one in self.select("data")]
        rest = [one.text for one in self.statements if one.kind not in ("data", *HEADLINE)]
        return "\n".join(filter(None, [*first, self.headline, *rest]))

    def _cells(self) -> Mapping[str, Mapping[str, str]]:
        """Return further columns of the printed table: cells by title and learner."""
        return {}

    def _tables(self) -> Mapping[str, Mapping[str, Any]]:
        """Return tables that are shown besides that of the learners: columns by title."""
        return {}

    def _measured(self) -> Mapping[str, Mapping[Any, Any]]:
        """Return further columns of the table: values by title and learner."""
        return {} if self.decision is None else dict(self.decision._measured())

    def _pair_columns(self) -> dict[str, Any]:
        """Return the columns of the pairs."""
        columns: dict[str, Any] = self.decision._pair_columns()
        return columns

    def _scores(self) -> Any:
        """Return the scores behind the decision, if there are any."""
        return None if self.decision is None else self.decision._scores()

    def _by_metric(self) -> Mapping[str, Any]:
        """Return the decisions by other metrics."""
        return {}

    def _json(self) -> dict[str, Any]:
        """Return further entries of the JSON object."""
        return {}
