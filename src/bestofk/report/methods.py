"""Whose method it is: words for a methods paragraph, and the BibTeX that belongs to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted, number, shortened
from bestofk._base.registry import Assumption, Check
from bestofk.decide.decision import Decision
from bestofk.decide.problem import Problem
from bestofk.decide.registry import decides_by
from bestofk.decide.stopping.races import Race
from bestofk.decide.stopping.stopped_decision import StoppedDecision
from bestofk.losses.losses import Losses
from bestofk.report.names import latex_text
from bestofk.run.study import Study
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.multiple.registry import MULTIPLE_TESTS, MultipleTest
from bestofk.stats.pairwise.entry import PairwiseTest
from bestofk.version import __version__

if TYPE_CHECKING:
    from bestofk._base.registry import FunctionEntry
    from bestofk.stats.adjust import Correction


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A method as a paper names it, with the keys of its references."""

    words: str
    keys: tuple[str, ...] = ()
    bibtex: str = ""
    """Entries of keys that our references lack."""


def cited_test(name: str) -> Cited:
    """A test of two or of all learners; one without an entry is called by its name."""
    from bestofk.stats.multiple.registry import MULTIPLE_TESTS
    from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

    for registry in (PAIRWISE_TESTS, MULTIPLE_TESTS):
        if name in registry:
            return _cited(registry[name], f"the test {name}")
    return Cited(words=f"the test {name}")


def cited_procedure(name: str) -> Cited:
    """A procedure; one without an entry is called by its name."""
    from bestofk.decide.registry import PROCEDURES

    return _cited(PROCEDURES[name], name) if name in PROCEDURES else Cited(words=name)


def cited_correction(name: str) -> Cited:
    """A correction."""
    from bestofk.stats.adjust import CORRECTIONS

    return _cited(CORRECTIONS[name], name)


def _cited(entry: FunctionEntry | Correction, words: str) -> Cited:
    return Cited(words=entry.called or words, keys=entry.citations, bibtex=entry.bibtex)


class Bibliography:
    """The references of a text, as they are cited."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}
        self._entries = dict(bibliography())

    def cite(self, one: Cited) -> None:
        """Take up the references of a method."""
        self._entries |= {k: v for k, v in _split(one.bibtex).items() if k not in self._entries}
        self._keys |= dict.fromkeys(one.keys)

    def bibtex(self) -> str:
        """What was cited, each entry once; empty where nothing was."""
        return "".join(f"{self._entries[key]}\n\n" for key in self._keys)[:-1]

    def reference(self, key: str) -> str:
        """``Author and Author, year`` for running text."""
        return reference(self._entries[key])


@cache
def bibliography() -> dict[str, str]:
    """BibTeX entries by key."""
    return _split(files("bestofk.report").joinpath("references.bib").read_text(encoding="utf-8"))


def _split(text: str) -> dict[str, str]:
    entries = re.split(r"\n(?=@)", text.strip()) if text.strip() else []
    return {re.match(r"@\w+\{([^,]+),", entry)[1]: entry.strip() for entry in entries}  # type: ignore[index]


def reference(entry: str) -> str:
    """``Author and Author, year`` for running text, from BibTeX.

    Examples
    --------
    >>> [reference(bibliography()[key]) for key in ("nadeau2003inference", "yildiz2006ordering")]
    ['Nadeau and Bengio, 2003', 'Yıldız and Alpaydın, 2006']
    """
    people = re.search(r"author = \{(.+?)\},\n", entry)[1].split(" and ")  # type: ignore[index]
    names = [_plain(person.split(",")[0]) for person in people]
    year = re.search(r"year = \{(\d+)\}", entry)
    who = names[0] if len(names) == 1 else " and ".join(names[:2])
    if len(names) > 2:
        who = f"{names[0]} et al."
    return f"{who}, {year[1]}" if year else who


def _plain(name: str) -> str:
    """A name without the marks of TeX."""
    for mark, letter in ((r"{\i}", "ı"), (r"{\v{s}}", "š"), (r"{\'e}", "é"), (r"{\'a}", "á"),
                         (r"{\'i}", "í")):  # fmt: skip
        name = name.replace(mark, letter)
    return name


# What the tests take for granted, and how that stands here.


SKEWED = 1.0
"""Differences with a skewness beyond this are called lopsided: a rule of thumb."""
TOLERATED = 0.2
"""Share of lopsided pairs from which normality is called doubtful."""
FEW_DATASETS = 6
MOST_NUMBERS = 2_000_000
"""Differences that are looked at; of more, an even part of the pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAssumption:
    """A claim, how it stands (by design, fine, doubtful, cannot be checked), and why."""

    claim: str
    state: str
    why: str

    @property
    def tone(self) -> str:
        """How a page colours the state."""
        return {"by design": "fine", "looks fine": "fine", "doubtful": "doubtful"}.get(
            self.state, "open"
        )


def assumptions_of(order: Decision) -> tuple[CheckedAssumption, ...]:
    """The assumptions of the test and of the correction, with their state."""
    found = []
    if order.problem is not None:
        found.append(_same_splits(order, order.problem))
        found += _of_test(order, order.problem)
        equal = _constant_pairs(order.problem)
        if equal is not None:
            found.append(equal)
    found.append(_correction(order))
    if isinstance(order, StoppedDecision):
        found.append(_as_planned(order.race))
    if not order.decidable:
        found.append(
            CheckedAssumption(
                claim="The test could have shown a difference.",
                state="doubtful",
                why=f"The smallest adjusted p-value possible is {order.smallest_possible:.2g}, "
                f"above alpha = {order.alpha:g}.",
            )
        )
    if order.test_choice is not None and order.test_choice.posterior:
        found.append(
            CheckedAssumption(
                claim="What stands for a p-value is a posterior probability.",
                state="doubtful",
                why="No error rate is promised for it.",
            )
        )
    return tuple(found)


def _of_test(order: Decision, problem: Problem) -> list[CheckedAssumption]:
    """What the entry of the test states, as it stands here; an unknown test states nothing."""
    entry: PairwiseTest | MultipleTest | None = None
    if order.test_choice is not None:
        entry = order.test_choice.entry
    elif order.test in MULTIPLE_TESTS:
        entry = MULTIPLE_TESTS[order.test]
    if entry is None or not entry.assumptions:
        return [_unstated(order, given=entry is None)]
    df = None if order.test_choice is None else order.test_choice.arguments.get("df")
    holds = {
        "always": True,
        "one data set": problem.n_datasets == 1 and problem.design.kind != "time",
        "windows in time": problem.n_datasets == 1 and problem.design.kind == "time",
        "groups": problem.n_datasets == 1 and problem.design.groups is not None,
        "several data sets": problem.n_datasets > 1,
        "df given": df is not None,
        "df not given": df is None,
    }
    subsets = problem.design.subsets
    words = {
        "test": order.test,
        "n": str(problem.sample(1).shape[1]),
        "units": _units(problem),
        "design": problem.design.describe(),
        "subsets": "" if subsets is None else f" on {subsets.describe()}",
        "df": "" if df is None else number(float(df)),
    }
    return [
        _CHECKS[one.check](one.claim.format(**words), one.why.format(**words), one, problem)
        for one in entry.assumptions
        if holds[one.when]
    ]


def _units(problem: Problem) -> str:
    if problem.n_datasets > 1:
        return "data sets"
    return "windows" if problem.design.kind == "time" else "instances"


def _same_splits(order: Decision, problem: Problem) -> CheckedAssumption:
    blocks = "data sets" if problem.n_datasets > 1 else "splits"
    if problem.design.kind == "test-set":
        blocks = "items" if order.noun == "model" else "test instances"
    if problem.bare or problem.design.kind == "scores":
        return CheckedAssumption(
            claim=f"All {order.noun}s met the same {blocks}.",
            state="cannot be checked",
            why="The numbers came without a record of how they were made; they are taken as "
            "paired, column by column.",
        )
    return CheckedAssumption(
        claim=f"All {order.noun}s met the same {blocks}.",
        state="by design",
        why=f"The table holds one loss of every {order.noun} for each of the {blocks}.",
    )


def _stated(claim: str, why: str, one: Assumption, _: Problem) -> CheckedAssumption:
    return CheckedAssumption(claim=claim, state=one.check, why=why)


def _skewed(claim: str, why: str, _: Assumption, problem: Problem) -> CheckedAssumption:
    skewness = _skewness(problem.sample(1))
    if not skewness.size:
        return CheckedAssumption(claim=claim, state="cannot be checked", why="Too few differences.")
    lopsided = int((np.abs(skewness) > SKEWED).sum())
    found = (
        f"The skewness of the differences is beyond {SKEWED:g} in {lopsided} of "
        f"{counted(skewness.size, 'pair')}"
    )
    if why:
        found += f", {number(float(np.abs(skewness).max()))} at most; {why}"
    doubtful = lopsided > TOLERATED * skewness.size
    return CheckedAssumption(
        claim=claim, state="doubtful" if doubtful else "looks fine", why=f"{found}."
    )


def _enough_units(claim: str, _: str, __: Assumption, problem: Problem) -> CheckedAssumption:
    n = problem.sample(1).shape[1]
    what = "data sets" if problem.n_datasets > 1 else "instances"
    return CheckedAssumption(
        claim=claim,
        state="doubtful" if n < FEW_DATASETS else "looks fine",
        why=f"With {n} {what} no one-sided p-value of this test can be below "
        f"{number(0.5**n) if n < 1000 else '1e-300'}.",
    )


def _equal_variances(claim: str, why: str, _: Assumption, problem: Problem) -> CheckedAssumption:
    spread = problem.sample(1).var(axis=1, ddof=1)
    low, high = float(spread.min()), float(spread.max())
    ratio = high / low if low > 0 else float("inf")
    found = f"The largest variance is {number(ratio)} times the smallest"
    return CheckedAssumption(
        claim=claim, state="doubtful", why=f"{found}, and {why}." if why else f"{found}."
    )


_CHECKS: dict[Check, Callable[[str, str, Assumption, Problem], CheckedAssumption]] = {
    "by design": _stated,
    "doubtful": _stated,
    "cannot be checked": _stated,
    "skewness": _skewed,
    "enough units": _enough_units,
    "equal variances": _equal_variances,
}


def _unstated(order: Decision, *, given: bool) -> CheckedAssumption:
    return CheckedAssumption(
        claim=f"What the test {order.test!r} assumes.",
        state="cannot be checked",
        why="It was given by the caller." if given else "Its entry states no assumptions.",
    )


def _as_planned(race: Race) -> CheckedAssumption:
    """That a race that was stopped decides as its plan."""
    whose = "Endless runs" if race.settle == "limit" else "The full plan"
    if race.exact:
        return CheckedAssumption(
            claim=f"{whose} would decide the same.",
            state="by design",
            why="No result of the rest can change it.",
        )
    return CheckedAssumption(
        claim=f"{whose} would decide the same, given the data.",
        state="by design" if race.settled else "doubtful",
        why="Runs over other random splits are alike by chance alone; the risk is at most "
        f"{race.risk_words()}, which adds to alpha."
        if race.settled
        else "It was not settled.",
    )


def _correction(order: Decision) -> CheckedAssumption:
    pairs = counted(len(order.evidence), "comparison")
    claim = "Alpha is the error of the whole result, in every claim."
    if len(order.evidence) == 0:
        return CheckedAssumption(
            claim=claim, state="by design", why="One test of all learners was made."
        )
    if not CORRECTIONS[order.correction].adjusts:
        doubtful = len(order.evidence) > 1
        return CheckedAssumption(
            claim=claim,
            state="doubtful" if doubtful else "by design",
            why=f"{pairs} at level {order.alpha:g} each, without correction.",
        )
    if not CORRECTIONS[order.correction].any_dependence:
        return CheckedAssumption(
            claim="The comparisons are independent or positively dependent.",
            state="cannot be checked",
            why=f"The correction over {pairs} needs it; Holm's correction does not.",
        )
    return CheckedAssumption(
        claim=claim,
        state="by design",
        why=f"The correction over {pairs} holds under any dependence between them.",
    )


def _constant_pairs(problem: Problem) -> CheckedAssumption | None:
    """Pairs whose losses never differ, or always by the same."""
    values = problem.sample(1)
    centred = values - values[:, :1]
    # learners that differ by a constant have the same centred row
    same = len(values) - len(np.unique(np.round(centred, 12), axis=0))
    if not same or values.shape[1] < 2:
        return None
    return CheckedAssumption(
        claim="Learners differ by more than a constant.",
        state="doubtful",
        why=f"{counted(same, 'learner')} had in every split the loss of another learner, or that "
        "plus a constant: the spread of their difference is zero.",
    )


def _skewness(values: Floats) -> Floats:
    """Of the differences of all pairs (or an even part of very many) that vary at all."""
    n_learners, n = values.shape
    if n < 3:
        return np.zeros(0)
    first, second = np.triu_indices(n_learners, 1)
    step = max(1, -(-len(first) * n // MOST_NUMBERS))
    differences = values[first[::step]] - values[second[::step]]
    differences -= differences.mean(axis=1, keepdims=True)
    spread = np.sqrt((differences**2).mean(axis=1))
    varies = spread > 1e-12
    cubes: Floats = (differences[varies] ** 3).mean(axis=1) / spread[varies] ** 3
    return cubes


# A methods paragraph that a paper can print, as text and as LaTeX with citations.


_MARK = "\ue000"
"""Encloses the keys of a citation: a private character that no sentence of ours holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Methods:
    """The paragraph in two forms, and the references it cites."""

    plain_text: str
    latex: str
    bibtex: str


def methods_of(
    order: Decision | None, losses: Losses | None, study: Study | None = None
) -> Methods:
    """The paragraph for a decision."""
    cited = Bibliography()
    sentences = [_what(order, losses, study)]
    if order is not None:
        sentences += _how(order, cited)
    if study is not None and study.race is not None:
        sentences.append(_stopping(study.race))
    if study is not None and study.left_out:
        left = counted(len(study.left_out), "learner")
        sentences.append(f"Because fits failed, {left} had to be left out.")
    sentences.append(f"All computations were made with bestofk {__version__}.")
    marked = " ".join(sentence.replace("\n", " ") for sentence in sentences if sentence)
    pieces = marked.split(_MARK)
    plain = "".join(
        f" ({'; '.join(map(cited.reference, piece.split(',')))})" if place % 2 else piece
        for place, piece in enumerate(pieces)
    )
    latex = "".join(
        f"~\\cite{{{piece}}}" if place % 2 else _latex(piece) for place, piece in enumerate(pieces)
    )
    return Methods(plain_text=plain, latex=latex, bibtex=cited.bibtex())


def _latex(piece: str) -> str:
    """`latex_text` that keeps the blanks around."""
    before = " " if piece.startswith(" ") else ""
    after = " " if piece.endswith(" ") and piece.strip() else ""
    return f"{before}{latex_text(piece)}{after}"


def _cite(one: Cited, cited: Bibliography) -> str:
    if not one.keys:
        return one.words
    cited.cite(one)
    return f"{one.words}{_MARK}{','.join(one.keys)}{_MARK}"


def _what(order: Decision | None, losses: Losses | None, study: Study | None) -> str:
    names = [str(name) for name in order.by_preference] if order else list(losses.algorithms)  # type: ignore[union-attr]
    who = f"{counted(len(names), order.noun if order else 'learner')} ({shortened(names, 12)})"
    if losses is None:
        return f"We compared {who}."
    where = (
        f"on the data set {losses.datasets[0]}"
        if len(losses.datasets) == 1
        else f"on {len(losses.datasets)} data sets"
    )
    if losses.datasets == ("data",):
        where = ""
    model = order is not None and order.noun == "model"
    design = order.design if order is not None and model else losses.design.describe()
    what = "" if losses.loss_name == "loss" else f"; the metric was {losses.metric.name}"
    seed = f", seed {study.random_state}" if study is not None else ""
    by = "on the basis of" if model else "by"
    return f"We compared {' '.join(filter(None, [who, where]))} {by} {design}{what}{seed}."


def _stopping(race: Race) -> str:
    """When learners were stopped, and what that costs."""
    what = "the recommended learner" if race.target == "best" else "the whole order"
    whose = "endless runs" if race.settle == "limit" else "the full plan"
    used = f"{race.fits:,} of {race.planned_fits:,} fits were made"
    if race.settle == "limit":
        used = f"{race.fits:,} fits were made"
    rate = (
        "that no further result could change"
        if race.risk == 0
        else f"as {whose} would decide but for a risk of at most {race.risk_words()}"
    )
    return f"Learners were stopped as soon as {what} was settled, {rate}; {used}."


def _judge_of_repetitions() -> Cited:
    from bestofk.stats.multiple.registry import MULTIPLE_TESTS

    return next(
        cited_test(entry.name) for entry in MULTIPLE_TESTS.values() if entry.needs_repetitions
    )


def _how(order: Decision, cited: Bibliography) -> list[str]:
    procedure = _cite(cited_procedure(order.procedure), cited)
    test = _cite(cited_test(order.test), cited)
    prefer = "without a preference"
    if order.preference.stated:
        prefer = f"with the preference {shortened([str(name) for name in order.by_preference], 12)}"
    evidence = order.evidence
    if not len(evidence):
        return [
            f"The choice was made by {procedure} with {test} at level {order.alpha:g}, {prefer}."
        ]
    sides = "one-sided" if evidence.alternative != "two-sided" else "two-sided"
    family = counted(len(evidence), "comparison")
    if evidence.family.size == 1:
        adjusted = "one comparison"
    elif not CORRECTIONS[order.correction].adjusts:
        adjusted = f"without correction for the {family}"
    else:
        correction = _cite(cited_correction(order.correction), cited)
        adjusted = f"with p-values adjusted by {correction} over {family}"
    sentences = [f"Pairs of {order.noun}s were compared by {test}, {sides}, {adjusted}."]
    if decides_by(order.procedure) == "steps" and not order.preference.stated:
        sentences.append(
            f"The {order.noun} with the {order.metric.smallest} {order.metric.mean} was "
            f"recommended; claims of significance are at level {order.alpha:g} over all of them."
        )
    else:
        verb = "ordered" if len(order.ranking) > 1 else "chosen from"
        sentences.append(
            f"The {order.noun}s were {verb} by {procedure} at level {order.alpha:g} {prefer}."
        )
        if decides_by(order.procedure) == "steps" and order.guard:
            sentences.append(
                f"A candidate was passed over where a preferred {order.noun} that was struck out "
                f"had the {order.metric.smaller} {order.metric.mean}."
            )
    if order.margin is not None:
        sentences.append(f"Differences of up to {order.margin:g} were taken not to matter.")
    if order.bootstrap is not None:
        judged = _cite(_judge_of_repetitions(), cited)
        sentences.append(f"Repetitions of stochastic learners were judged by {judged}.")
    return sentences
