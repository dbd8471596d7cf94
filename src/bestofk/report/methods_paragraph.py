"""A methods paragraph that a paper can print, as text and as LaTeX with citations."""

from __future__ import annotations

from dataclasses import dataclass

from bestofk.adjust import CORRECTIONS
from bestofk.losses.losses import Losses
from bestofk.ordering.registry import decides_by
from bestofk.ordering.result import Order
from bestofk.report.citations import (
    Bibliography,
    Cited,
    cited_correction,
    cited_procedure,
    cited_test,
)
from bestofk.report.names import latex_text
from bestofk.run.study import Study
from bestofk.stopping.race_result import Race
from bestofk.version import __version__
from bestofk.wording import counted, shortened

_MARK = "\ue000"
"""Encloses the keys of a citation: a private character that no sentence of ours holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Methods:
    """The paragraph in two forms, and the references it cites."""

    plain_text: str
    latex: str
    bibtex: str


def methods_of(order: Order | None, losses: Losses | None, study: Study | None = None) -> Methods:
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


def _what(order: Order | None, losses: Losses | None, study: Study | None) -> str:
    names = [str(name) for name in order.prior] if order else list(losses.algorithms)  # type: ignore[union-attr]
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
    from bestofk.multiple.registry import MULTIPLE_TESTS

    return next(
        cited_test(entry.name) for entry in MULTIPLE_TESTS.values() if entry.needs_repetitions
    )


def _how(order: Order, cited: Bibliography) -> list[str]:
    procedure = _cite(cited_procedure(order.procedure), cited)
    test = _cite(cited_test(order.test), cited)
    prior = "without a preference"
    if order.preference.stated:
        prior = f"with the preference {shortened([str(name) for name in order.prior], 12)}"
    evidence = order.evidence
    if not len(evidence):
        return [
            f"The choice was made by {procedure} with {test} at level {order.alpha:g}, {prior}."
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
        verb = "ordered" if len(order.order) > 1 else "chosen from"
        sentences.append(
            f"The {order.noun}s were {verb} by {procedure} at level {order.alpha:g} {prior}."
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
