"""A methods paragraph that a paper can print, with the references it cites."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from bestofk._base.formatting import counted, shortened
from bestofk.decide.decision import Decision
from bestofk.decide.registry import RULES
from bestofk.decide.statements.wording import level_words
from bestofk.decide.stopping.result import Race
from bestofk.report.names import one_line
from bestofk.report.subject import UNNAMED, ReportSubject
from bestofk.run.by_dataset import StudyByDataset, preferred_words
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.multiple.registry import MULTIPLE_TESTS
from bestofk.stats.pairwise.registry import CLUSTERED_TESTS, LABELLED_TESTS, PAIRWISE_TESTS
from bestofk.version import __version__

if TYPE_CHECKING:
    from bestofk._base.registry import FunctionEntry
    from bestofk.stats.adjust import Correction

_TESTS = (PAIRWISE_TESTS, MULTIPLE_TESTS, CLUSTERED_TESTS, LABELLED_TESTS)
MAX_NAMES = 12
"""Learners that the paragraph names."""


class Cited(NamedTuple):
    """A method as a paper names it, with its references."""

    text: str
    entry: FunctionEntry | Correction | None = None


def _cited(name: str, text: str, *registries: Mapping[str, Any]) -> Cited:
    """Return a method with its references, if it is registered."""
    for registry in registries:
        if name in registry:
            return Cited(registry[name].called or text, registry[name])
    return Cited(text)


@cache
def bibliography() -> dict[str, str]:
    """Return the BibTeX entries of references.bib by key."""
    return _split(files("bestofk.report").joinpath("references.bib").read_text(encoding="utf-8"))


def _references(entry: FunctionEntry | Correction | None) -> dict[str, str]:
    """Return the BibTeX entries that a registered method cites, by key."""
    if entry is None:
        return {}
    known = {**_split(entry.bibtex), **bibliography()}
    return {key: known[key] for key in entry.citations}


def doi_of(entry: FunctionEntry | Correction) -> str | None:
    """Return the DOI of the first reference of a registered method that has one.

    Examples
    --------
    >>> doi_of(PAIRWISE_TESTS["wilcoxon"])
    '10.2307/3001968'
    """
    found = (re.search(r"doi = \{(.+?)\}", text) for text in _references(entry).values())
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


class Methods(NamedTuple):
    """The paragraph, and the references it cites."""

    text: str
    bibtex: str


Sentence = tuple[str | Cited, ...]


def methods_of(subject: ReportSubject) -> Methods:
    """Return the paragraph for a result."""
    sentences: list[Sentence] = [(_comparison(subject),)]
    if subject.decision is not None:
        sentences += _rule(subject.decision)
    if isinstance(subject.study, StudyByDataset):
        sentences.append(_rule_by_dataset(subject.study))
    if subject.race is not None:
        sentences.append((_stopping(subject.race),))
    if subject.study is not None and subject.study.left_out:
        learners = counted(len(subject.study.left_out), "learner")
        sentences.append((f"Because fits failed, {learners} had to be left out.",))
    sentences.append((f"All computations were made with bestofk {__version__}.",))
    words: list[str] = []
    cited: dict[str, str] = {}
    for part in [part for sentence in sentences for part in (*sentence, " ")][:-1]:
        if isinstance(part, str):
            words.append(part)
            continue
        references = _references(part.entry)
        cited |= references
        inside = "; ".join(map(reference, references.values()))
        words.append(f"{part.text} ({inside})" if inside else part.text)
    return Methods("".join(words), "\n\n".join(cited.values()))


def _comparison(subject: ReportSubject) -> str:
    """Return what was compared, on which data and by which design."""
    decision, scores, names = subject.decision, subject.scores, subject.learners
    compared = f"We compared {counted(len(names), subject.noun)} ({_shortened(names)})"
    if scores is None:
        design = "" if decision is None else f" on the basis of {decision.design}"
        return f"{compared}{design}."
    data = f" on {len(scores.datasets)} data sets"
    if len(scores.datasets) == 1:
        name = scores.datasets[0]
        data = "" if name in UNNAMED else f" on the data set {one_line(name)}"
    basis = f"by {scores.design.describe()}"
    if decision is not None and decision.on_items:
        basis = f"on the basis of {decision.design}"
    metric = "" if scores.loss_name == "loss" else f"; the metric was {scores.metric.name}"
    seed = "" if subject.study is None else f", random state {subject.study.record.random_state}"
    return f"{compared}{data} {basis}{metric}{seed}."


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


def _rule(order: Decision) -> list[Sentence]:
    """Return how the decision was made."""
    rule = _cited(order.rule, order.rule, RULES)
    test = _cited(order.test, f"the test {order.test}", *_TESTS)
    if order.best is not None:
        return _comparisons_with_best(order, rule, test)
    level, prefer = f"at level {order.alpha:g}", "without a preference."
    if order.preference.stated:
        prefer = f"with the preference {_shortened(order.by_preference)}."
    if not len(order.evidence):
        return [("The choice was made by ", rule, " with ", test, f" {level}, {prefer}")]
    verb = "ordered" if len(order.ranking) > 1 else "chosen from"
    return [
        (f"Pairs of {order.noun}s were compared by ", test, ", ", *_family(order), "."),
        (f"The {order.noun}s were {verb} by ", rule, f" {level} {prefer}"),
    ]


def _rule_by_dataset(study: StudyByDataset) -> Sentence:
    """Return how the decision on each data set was made."""
    decisions = [part.decision for part in study.parts.values() if part.decision is not None]
    first = decisions[0]
    return (
        "Each data set was decided by itself, by ",
        _cited(first.rule, first.rule, RULES),
        " with ",
        _cited(first.test, f"the test {first.test}", *_TESTS),
        f"{preferred_words(decisions)}, at level {first.alpha:g}.",
    )


def _comparisons_with_best(order: Decision, rule: Cited, test: Cited) -> list[Sentence]:
    """Return the rule of the candidates, the bounds, the recommendation, and the pairs."""
    noun, others = order.noun, len(order.by_preference) - 1
    against = "the other" if others == 1 else f"the {others} others"
    level = f"{order.alpha:g}" if others == 1 else f"{order.alpha:g}/{others}"
    sentences: list[Sentence] = [
        ("The decision was made by ", rule, f": each {noun} was compared with {against} by ",
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
        sentences.append(("Statements about pairs are ", *_family(order), "."))
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
    correction = _cited(evidence.family.correction, "", CORRECTIONS)
    return (f"{sides}, with p-values adjusted by ", correction, f" over {count}")
