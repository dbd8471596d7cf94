"""The specification of a plan: ``"10x10"``, ``"holdout:0.33"`` and their keyword forms."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from bestofk.checks import probability, refuse, whole
from bestofk.errors import ArgumentError, UnknownNameError
from bestofk.plans.design import Subsets
from bestofk.plans.registry import PLANS

_RUNS_BY_FOLDS = re.compile(r"(group-)?(\d+)\s*[x×*]\s*(\d+)")
_BARE_FOLDS = re.compile(r"(\d+)[ -]?folds?|folds?[ -]?(\d+)")

_HALVES = re.compile(r"halves\s*:\s*(\d{1,9})\s*[x×*]\s*(\d{1,9})")
_MOST_SPLITS = 1_000_000
_LONGEST = 200
"""Characters of a specification."""
_LEAST = {"runs": 1, "folds": 2, "splits": 1, "samples": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """What a specification says, in the same fields for every form."""

    kind: str
    runs: int
    folds: int | None
    """Folds of a run, random splits or samples; None for leave-one-out, which takes every row."""
    test_fraction: float | None
    subsets: Subsets | None = None
    form: str = ""
    """The name of a registered plan that marks the rows by a function of its own."""
    grouped: bool = False
    """It cannot be made without groups."""
    column: str = ""
    """The column that says which fold tests a row."""

    def __str__(self) -> str:
        if self.column:
            return f"predefined:{self.column}"
        if self.kind == "time":
            return f"time:{self.folds}"
        if self.form:
            return ":".join([self.form, *map(repr, self._numbers(PLANS[self.form].takes))])
        if self.kind == "cv":
            runs = f"kfold:{self.folds}" if self.runs == 1 else f"{self.runs}x{self.folds}"
            return ("group-" if self.grouped else "") + runs + _written(self.subsets)
        if self.kind == "holdout":
            return f"holdout:{self.test_fraction!r}"
        if self.kind == "resample":
            return f"resample:{self.folds}:{self.test_fraction!r}"
        return "loo" if self.kind == "loo" else f"bootstrap:{self.folds}"

    def _numbers(self, takes: tuple[str, ...]) -> list[float | None]:
        """What was given, in the order of `takes`."""
        known = {"runs": self.runs, "test_fraction": self.test_fraction}
        return [known.get(argument, self.folds) for argument in takes]


def specify(spec: Any, given: dict[str, Any]) -> Specification:
    """`spec` (a full text, or a name with its numbers `given` by keyword) understood."""
    if not isinstance(spec, str):
        raise refuse("plan", f"a text such as {_examples()}", spec)
    if len(spec) > _LONGEST:
        raise refuse("plan", f"a text such as {_examples()}", spec)
    given = {name: value for name, value in given.items() if value is not None}
    runs, plus, rest = spec.partition("+")
    # a column may be called anything
    if plus and not _names_a_column(spec):
        return _with_subsets(specify(runs, given), rest, spec)
    name, written = _read(spec)
    takes = PLANS[name].takes
    if takes == ("column",) and not written:
        raise _malformed(spec, name)
    if not written and takes:
        welcome = (*PLANS[name].by_keyword, *takes)
        unknown = [argument for argument in given if argument not in welcome]
        missing = [argument for argument in takes if argument not in given]
        if unknown or missing:
            _refuse_keywords(spec, name, welcome, unknown, missing)
        values = given
    elif given:
        raise ArgumentError(
            f"plan {spec!r} is complete as it is: leave out {', '.join(given)}, or write "
            f"only the name and give its numbers by keyword."
        )
    else:
        values = dict(zip(takes, written, strict=True))
    return _checked(name, values, spec)


def _with_subsets(runs: Specification, text: str, spec: str) -> Specification:
    """The runs of cross-validation with what is written after the plus."""
    text = text.strip().lower()
    if runs.kind != "cv" or runs.folds is None:
        raise ArgumentError(
            f"plan {spec!r}: only runs of folds take '+halves' or '+nested', as in "
            f"{PLANS['halves'].example!r}; got {str(runs)!r} before the plus."
        )
    if text == "nested":
        if runs.folds < 3:
            raise ArgumentError(
                f"plan {spec!r}: nested cross-validation must have at least 3 folds; got "
                f"{runs.folds}."
            )
        pairs = runs.folds * (runs.folds - 1) // 2
        return replace(runs, subsets=Subsets(kind="nested", runs=runs.runs * pairs, folds=2))
    halves = _HALVES.fullmatch(text)
    if not halves:
        near = "nested" if text.startswith("n") else "halves"
        raise _malformed(spec, near)
    halvings = whole(int(halves[1]), f"halvings of plan {spec!r}", at_least=2)
    folds = whole(int(halves[2]), f"folds of the halves of plan {spec!r}", at_least=2)
    return replace(runs, subsets=Subsets(kind="halves", runs=2 * halvings, folds=folds))


def _written(subsets: Subsets | None) -> str:
    if subsets is None:
        return ""
    return "+nested" if subsets.kind == "nested" else f"+halves:{subsets.halvings}x{subsets.folds}"


def _read(spec: str) -> tuple[str, list[Any]]:
    """The name of the form and the numbers written after it (none, or all it takes)."""
    head, colon, tail = spec.strip().partition(":")
    head = head.rstrip().lower()
    crossed = _RUNS_BY_FOLDS.fullmatch(head)
    if crossed and not colon:
        return "group-rxk" if crossed[1] else "rxk", [int(crossed[2]), int(crossed[3])]
    if head not in PLANS or not PLANS[head].by_name:
        raise _unknown(spec, head, colon + tail)
    takes = PLANS[head].takes
    if not colon:
        return head, []
    if takes == ("column",):
        return head, [tail.strip()] if tail.strip() else []
    parts = tail.split(":")
    if len(parts) != len(takes):
        raise _malformed(spec, head)
    return head, [
        _number(part, argument, spec, head) for part, argument in zip(parts, takes, strict=True)
    ]


def _names_a_column(spec: str) -> bool:
    """Whether what follows the name of the form is the name of a column."""
    head = spec.partition(":")[0].strip().lower()
    return head in PLANS and PLANS[head].takes == ("column",)


def _number(text: str, argument: str, spec: str, name: str) -> int | float:
    try:
        return float(text) if argument == "test_fraction" else int(text)
    except ValueError:
        raise _malformed(spec, name) from None


def _checked(name: str, values: dict[str, Any], spec: str) -> Specification:
    clean: dict[str, Any] = {}
    for argument, value in values.items():
        where = f"{argument} of plan {spec!r}"
        if argument == "column":
            clean[argument] = str(value)
        elif argument == "test_fraction":
            clean[argument] = probability(value, where)
        else:
            clean[argument] = whole(value, where, at_least=_LEAST[argument])
    entry = PLANS[name]
    clean = {**entry.fixed, **clean}
    splits = clean.get("runs", 1)
    for argument in ("folds", "splits", "samples"):
        splits *= clean.get(argument, 1)
    if splits > _MOST_SPLITS:
        raise ArgumentError(
            f"plan {spec!r} must have at most {_MOST_SPLITS} splits; got {splits:.3g}."
        )
    return Specification(
        kind=entry.kind,
        runs=clean.get("runs", 1),
        folds=clean.get("folds", clean.get("splits", clean.get("samples"))),
        test_fraction=clean.get("test_fraction"),
        form=name if entry.function else "",
        grouped=entry.needs == "groups",
        column=clean.get("column", ""),
    )


def _refuse_keywords(
    spec: str, name: str, takes: tuple[str, ...], unknown: list[str], missing: list[str]
) -> None:
    example = PLANS[name].example
    if unknown:
        raise ArgumentError(
            f"plan {spec!r} takes {' and '.join(takes)}, as in {example!r}; got {unknown[0]}."
        )
    raise ArgumentError(
        f"plan {spec!r} must say {' and '.join(missing)}, as in {example!r} or by keyword; "
        "got only the name."
    )


def _malformed(spec: str, name: str) -> ArgumentError:
    entry = PLANS[name]
    return ArgumentError(
        f"plan must be written {entry.pattern!r}, as in {entry.example!r}; got {spec!r}."
    )


def _unknown(spec: str, head: str, tail: str) -> UnknownNameError:
    from difflib import get_close_matches

    bare = _BARE_FOLDS.fullmatch(head)
    if bare and not tail:
        return UnknownNameError("plan", spec, [f"kfold:{bare[1] or bare[2]}"])
    crossed = _RUNS_BY_FOLDS.search(head)
    if crossed:
        runs = f"{crossed[1] or ''}{crossed[2]}x{crossed[3]}"
        return UnknownNameError("plan", spec, [runs])
    names = [name for name, entry in PLANS.items() if entry.by_name]
    near = get_close_matches(head, names, n=2, cutoff=0.6)
    if near:
        meant = [
            name + tail if tail and PLANS[name].takes else PLANS[name].example for name in near
        ]
        return UnknownNameError("plan", spec, meant)
    return UnknownNameError("plan", spec, [entry.example for entry in PLANS.values()])


def _examples() -> str:
    return ", ".join(repr(entry.example) for entry in PLANS.values())
