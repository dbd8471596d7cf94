"""Everything that bestofk says about a decision, as statements with a kind.

Terminal, page, JSON and notebook select statements by kind and format them. No other code takes
a sentence apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from bestofk._base.errors import Advice, Part
from bestofk._base.formatting import without_controls
from bestofk._base.registry import resolve
from bestofk._base.results import json_ready
from bestofk.decide.preference import Name

Kind = Literal[
    "verdict", "hint", "left out", "assumed", "standing", "ranking", "stop",
    "posterior", "preference", "estimand", "evidence", "caution", "judge", "more items",
    "bootstrap", "metric", "note", "replication", "preparation", "run", "data",
]  # fmt: skip
"""The kind of a statement; views select statements by it.

verdict      what to do, and why
hint         a cost that a preference would take into account
left out     learners, fits and scores that failed or do not count
assumed      what bestofk assumed about the input
standing     by which learner each of the others is ruled out
ranking      the order of the learners, and what decides it
stop         which learners stopped early, and why
posterior    Bayesian probabilities
preference   the preference, and where the data override it
estimand     the quantity that the result speaks of, and the population it applies to
evidence     the test, its level and its promise
caution      what is known against the test
judge        what human labels show about a judge
more items   the chance that more items decide, and the items that a difference needs
bootstrap    the Bootstrap-B test of repetitions
metric       what other metrics would recommend
note         anything else a reader must know
replication  how often other splits gave the same decision
preparation  what was done to the columns inside the folds
run          how it was run
data         what was understood of the data
"""
KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds, in the order of explanations."""
HEADLINE: tuple[Kind, ...] = ("verdict", "hint", "left out")
"""Kinds of the first paragraph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence of a result.

    - `kind`: See `Kind`.
    - `text`: The sentence.
    - `lead`: Its first words if they say what to do (``"Use nmc"``); `text` begins with them.
    - `reason`: Its part after the list of learners, for views that show the list themselves.
    - `short`: The statement in a few words, for views that have one line for it.
    - `parts`: The parts of `text`, if it contains advice, which each view writes in its own form.
    - `learners`: The learners it is about.
    - `numbers`: Its numbers by name, in the user's metric.
    """

    kind: Kind
    text: str
    lead: str = ""
    reason: str = ""
    short: str = ""
    parts: tuple[Part, ...] = ()
    learners: tuple[Name, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("text", "lead", "reason", "short"):
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

    def to_dict(self) -> dict[str, Any]:
        """Return the statement for strict JSON."""
        row = {"kind": self.kind, "text": self.text, "learners": list(self.learners)}
        return {**row, "numbers": json_ready(self.numbers)} if self.numbers else row


def with_advice(kind: Kind, *parts: Part, learners: tuple[Name, ...] = ()) -> Statement:
    """Return a statement that contains advice; its text gives the advice as in Python."""
    return Statement(kind=kind, text="".join(map(str, parts)), parts=parts, learners=learners)


def statements(kind: Kind, texts: Iterable[str]) -> tuple[Statement, ...]:
    """Return a statement for each text that is not empty."""
    return tuple(Statement(kind=kind, text=text) for text in texts if text)


def selected(given: Iterable[Statement], *kinds: Kind) -> tuple[Statement, ...]:
    """Return the statements of these kinds, in their order."""
    return tuple(one for one in given if one.kind in kinds)


def paragraph(given: Iterable[Statement]) -> str:
    """Join statements into one paragraph."""
    return " ".join(one.text for one in given)


def as_text(given: Iterable[Statement]) -> str:
    """Return statements as lines: the verdict and what was left out first, on one line."""
    listed = tuple(given)
    head = paragraph(selected(listed, *HEADLINE))
    rest = [one.text for one in listed if one.kind not in HEADLINE]
    return "\n".join([head, *rest] if head else rest)


_HERE = "bestofk.decide.statements"
_BUILDERS = {
    "verdict": f"{_HERE}.verdict:verdict_statements",
    "standing": f"{_HERE}.details:standing_statements",
    "ranking": f"{_HERE}.details:ranking_statements",
    "posterior": f"{_HERE}.details:posterior_statements",
    "preference": f"{_HERE}.details:preference_statements",
    "estimand": f"{_HERE}.estimand:estimand_statements",
    "evidence": f"{_HERE}.details:evidence_statements",
    "caution": f"{_HERE}.details:caution_statements",
    "bootstrap": f"{_HERE}.details:bootstrap_statements",
    "note": f"{_HERE}.details:note_statements",
}
"""Kind: the function that makes the statements of that kind, in the order of explanations."""
_STOPPED_BUILDERS = {
    "verdict": f"{_HERE}.stopped:verdict_statements",
    "standing": f"{_HERE}.stopped:standing_statements",
    "ranking": f"{_HERE}.stopped:ranking_statements",
    "stop": f"{_HERE}.stopped:stop_statements",
    "preference": f"{_HERE}.stopped:preference_statements",
    "estimand": f"{_HERE}.estimand:estimand_statements",
    "evidence": f"{_HERE}.stopped:evidence_statements",
    "caution": f"{_HERE}.details:caution_statements",
    "note": f"{_HERE}.details:note_statements",
}
"""The same for a decision that was made before its plan was complete."""

Builder = Callable[[Any], tuple[Statement, ...]]


def builders_of(decision: Any) -> dict[str, Builder]:
    """Return the functions that make the statements of a decision, by kind."""
    paths = _STOPPED_BUILDERS if hasattr(decision, "race") else _BUILDERS
    return {kind: resolve(path) for kind, path in paths.items()}
