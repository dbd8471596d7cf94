"""A methods paragraph that a paper can print, as text and as LaTeX with citations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from bestofk._base.formatting import counted, shortened
from bestofk.decide.decision import Decision
from bestofk.decide.registry import PROCEDURES
from bestofk.decide.statements.wording import level_words
from bestofk.decide.stopping.result import Race
from bestofk.losses.losses import Scores
from bestofk.report.names import latex_escape, one_line
from bestofk.run.study import Study
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.multiple.registry import MULTIPLE_TESTS
from bestofk.stats.pairwise.registry import CLUSTERED_TESTS, LABELLED_TESTS, PAIRWISE_TESTS
from bestofk.version import __version__

if TYPE_CHECKING:
    from bestofk._base.registry import FunctionEntry
    from bestofk.stats.adjust import Correction

MAX_NAMES = 12
"""Learners that the paragraph names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A method as a paper names it, with the keys of its references."""

    text: str
    keys: tuple[str, ...] = ()
    bibtex: str = ""
    """Entries of keys that are not in references.bib."""


def cited_test(name: str) -> Cited:
    """Return a test with its references, if it is registered."""
    for registry in (PAIRWISE_TESTS, MULTIPLE_TESTS, CLUSTERED_TESTS, LABELLED_TESTS):
        if name in registry:
            return _cited(registry[name], f"the test {name}")
    return Cited(text=f"the test {name}")


def cited_procedure(name: str) -> Cited:
    """Return a procedure with its references, if it is registered."""
    return _cited(PROCEDURES[name], name) if name in PROCEDURES else Cited(text=name)


def cited_correction(name: str) -> Cited:
    """Return a correction with its references."""
    return _cited(CORRECTIONS[name], name)


def _cited(entry: FunctionEntry | Correction, text: str) -> Cited:
    return Cited(text=entry.called or text, keys=entry.citations, bibtex=entry.bibtex)


class Bibliography:
    """The references that a text cites."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}
        self._entries = dict(bibliography())

    def cite(self, method: Cited) -> None:
        """Add the references of a method."""
        self._entries = {**_split(method.bibtex), **self._entries}
        self._keys |= dict.fromkeys(method.keys)

    def bibtex(self) -> str:
        """Return the cited entries, each once."""
        return "".join(f"{self._entries[key]}\n\n" for key in self._keys)[:-1]

    def reference(self, key: str) -> str:
        """Return ``Author and Author, year`` for running text."""
        return reference(self._entries[key])


@cache
def bibliography() -> dict[str, str]:
    """Return the BibTeX entries of references.bib by key."""
    return _split(files("bestofk.report").joinpath("references.bib").read_text(encoding="utf-8"))


def doi_of(entry: FunctionEntry | Correction) -> str | None:
    """Return the DOI of the first reference of a registered method that has one.

    Examples
    --------
    >>> doi_of(PAIRWISE_TESTS["wilcoxon"])
    '10.2307/3001968'
    """
    known = {**_split(entry.bibtex), **bibliography()}
    found = (re.search(r"doi = \{(.+?)\}", known[key]) for key in entry.citations)
    return next((doi[1] for doi in found if doi), None)


def _split(text: str) -> dict[str, str]:
    entries = re.split(r"\n(?=@)", text.strip()) if text.strip() else []
    return {re.match(r"@\w+\{([^,]+),", entry)[1]: entry.strip() for entry in entries}  # type: ignore[index]


def reference(entry: str) -> str:
    """Return ``Author and Author, year`` for running text, from BibTeX.

    Examples
    --------
    >>> [reference(bibliography()[key]) for key in ("nadeau2003inference", "yildiz2006ordering")]
    ['Nadeau and Bengio, 2003', 'Yıldız and Alpaydın, 2006']
    """
    people = re.search(r"author = \{(.+?)\},\n", entry)[1].split(" and ")  # type: ignore[index]
    names = [_plain(person.split(",")[0]) for person in people]
    year = re.search(r"year = \{(\d+)\}", entry)
    authors = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    return f"{authors}, {year[1]}" if year else authors


def _plain(name: str) -> str:
    """Return a name without the accents of TeX."""
    for mark, letter in ((r"{\i}", "ı"), (r"{\v{s}}", "š"), (r"{\'e}", "é"), (r"{\'a}", "á"),
                         (r"{\'i}", "í")):  # fmt: skip
        name = name.replace(mark, letter)
    return name


# The paragraph: a sequence of texts and cited methods.


@dataclass(frozen=True, slots=True, kw_only=True)
class Methods:
    """The paragraph in two forms, and the references it cites."""

    plain_text: str
    latex: str
    bibtex: str


Part = str | Cited
Sentence = tuple[Part, ...]


def methods_of(
    order: Decision | None, losses: Scores | None, study: Study | None = None
) -> Methods:
    """Return the paragraph for a decision."""
    sentences: list[Sentence] = [(_comparison(order, losses, study),)]
    if order is not None:
        sentences += _procedure(order)
    if study is not None and study.race is not None:
        sentences.append((_stopping(study.race),))
    if study is not None and study.left_out:
        learners = counted(len(study.left_out), "learner")
        sentences.append((f"Because fits failed, {learners} had to be left out.",))
    sentences.append((f"All computations were made with bestofk {__version__}.",))
    parts = [part for sentence in sentences for part in (*sentence, " ")][:-1]
    references = Bibliography()
    for part in parts:
        if isinstance(part, Cited):
            references.cite(part)
    return Methods(
        plain_text="".join(_plain_part(part, references) for part in parts),
        latex="".join(map(_latex_part, parts)),
        bibtex=references.bibtex(),
    )


def _plain_part(part: Part, references: Bibliography) -> str:
    if isinstance(part, str):
        return part
    if not part.keys:
        return part.text
    return f"{part.text} ({'; '.join(map(references.reference, part.keys))})"


def _latex_part(part: Part) -> str:
    if isinstance(part, str):
        return latex_escape(part)
    citation = f"~\\cite{{{','.join(part.keys)}}}" if part.keys else ""
    return latex_escape(part.text) + citation


def _comparison(order: Decision | None, losses: Scores | None, study: Study | None) -> str:
    """Return what was compared, on which data and by which design."""
    names = order.by_preference if order else losses.learners  # type: ignore[union-attr]
    learners = f"{counted(len(names), order.noun if order else 'learner')} ({_shortened(names)})"
    if losses is None:
        return f"We compared {learners}."
    if losses.datasets == ("data",):
        data = ""
    elif len(losses.datasets) == 1:
        data = f" on the data set {one_line(losses.datasets[0])}"
    else:
        data = f" on {len(losses.datasets)} data sets"
    basis = f"by {losses.design.describe()}"
    if order is not None and order.on_items:
        basis = f"on the basis of {order.design}"
    metric = "" if losses.loss_name == "loss" else f"; the metric was {losses.metric.name}"
    seed = f", random state {study.random_state}" if study is not None else ""
    return f"We compared {learners}{data} {basis}{metric}{seed}."


def _shortened(names: Sequence[object]) -> str:
    return shortened([one_line(name) for name in names], MAX_NAMES)


def _stopping(race: Race) -> str:
    """Return when learners were stopped, and the risk of that."""
    target = "the recommended learner" if race.target == "best" else "the whole order"
    risk = f"with a risk of at most {100 * race.risk:.4g} % of deciding unlike the full plan"
    if race.risk == 0:
        risk = "so that no further result could change it"
    return (
        f"Learners were stopped as soon as {target} was settled, {risk}; "
        f"{race.fits:,} of {race.planned_fits:,} fits were made."
    )


def _procedure(order: Decision) -> list[Sentence]:
    """Return how the decision was made."""
    procedure, test = cited_procedure(order.procedure), cited_test(order.test)
    level = f"at level {order.alpha:g}"
    if order.best is not None:
        sentences = _comparisons_with_best(order, procedure, test)
    elif not len(order.evidence):
        return [
            ("The choice was made by ", procedure, " with ", test, f" {level}, ", _prefer(order))
        ]
    else:
        verb = "ordered" if len(order.ranking) > 1 else "chosen from"
        sentences = [
            (f"Pairs of {order.noun}s were compared by ", test, ", ", *_family(order), "."),
            (f"The {order.noun}s were {verb} by ", procedure, f" {level} ", _prefer(order)),
        ]
    return sentences


def _prefer(order: Decision) -> str:
    if not order.preference.stated:
        return "without a preference."
    return f"with the preference {_shortened(order.by_preference)}."


def _comparisons_with_best(order: Decision, procedure: Cited, test: Cited) -> list[Sentence]:
    """Return the rule of the candidates, the bounds, the recommendation, and the pairs."""
    noun, others = order.noun, len(order.by_preference) - 1
    against = "the other" if others == 1 else f"the {others} others"
    level = f"{order.alpha:g}" if others == 1 else f"{order.alpha:g}/{others}"
    sentences: list[Sentence] = [
        ("The decision was made by ", procedure, f": each {noun} was compared with {against} by ",
         test, f", two-sided, at level {level}, and may be the best if no other was shown to be "
         "better."),
    ]  # fmt: skip
    if any(row.at_most is not None for row in order.standings):
        sentences.append(
            (f"The intervals of the same level bound how much worse than the best each {noun} is, "
             f"with {level_words(order.alpha)} confidence for all at once.",)
        )  # fmt: skip
    within = "" if order.margin is None else f" or is at most {order.margin:g} worse than the best"
    which = f"the {noun} with the {order.metric.smallest} {order.metric.mean} that may be the best"
    if order.preference.stated:
        which = (
            f"the first of {_shortened(order.by_preference)} (our preference) that may be the best"
        )
    sentences.append((f"We recommend {which}{within}.",))
    if others > 1:
        sentences.append(("Claims about pairs are ", *_family(order), "."))
    return sentences


def _family(order: Decision) -> Sentence:
    """Return the sides of the tests of pairs, and their correction."""
    evidence = order.pair_evidence
    sides = "one-sided" if evidence.alternative != "two-sided" else "two-sided"
    count = counted(len(evidence), "comparison")
    if evidence.family.size == 1:
        return (f"{sides}, one comparison",)
    if not CORRECTIONS[evidence.family.correction].adjusts:
        return (f"{sides}, without correction for the {count}",)
    correction = cited_correction(evidence.family.correction)
    return (f"{sides}, with p-values adjusted by ", correction, f" over {count}")
