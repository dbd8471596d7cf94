"""Phrases that statements share: names, means, intervals, families."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from bestofk._base.formatting import (
    in_words,
    joined,
    number,
    printable,
    rounded,
    shortened,
)
from bestofk.decide.preference import Name
from bestofk.losses.losses import Metric
from bestofk.stats.adjust import CORRECTIONS

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision, Standing
    from bestofk.decide.evidence import Evidence

MAX_NAMED = 6
"""Learners that a sentence names; it only counts the rest."""
MAX_DECIMALS = 8
"""Decimals of a difference; smaller ones are written with an exponent."""
MAX_IN_HEADLINE = 3
"""Learners that a list in the first sentences names; the table has all."""


def called(name: Name) -> str:
    """Return the display name of a learner; ``learner 3`` for unnamed arrays."""
    if isinstance(name, str):
        # a line break in a name must not start a new paragraph
        return printable(" ".join(name.splitlines()))
    return f"learner {name}"


def listing(items: Iterable[str]) -> str:
    """Return the words as a list in a sentence; cut long lists and count the rest."""
    return shortened(list(items), MAX_NAMED)


def named(names: Iterable[Name]) -> str:
    """Return the learners as a list in a sentence."""
    return listing(map(called, names))


def short_list(names: Sequence[Name]) -> str:
    """Return the learners as a short list; count those beyond `MAX_IN_HEADLINE`."""
    if len(names) <= MAX_IN_HEADLINE:
        return joined([called(name) for name in names])
    shown = [called(name) for name in names[: MAX_IN_HEADLINE - 1]]
    return joined([*shown, f"{in_words(len(names) - len(shown))} others"])


def is_are(names: Sequence[object]) -> str:
    """Return ``is`` or ``are``."""
    return "is" if len(names) == 1 else "are"


def chain(names: Sequence[Name]) -> str:
    """Return an order in words, best first."""
    shown = [called(name) for name in names[: 4 * MAX_NAMED]]
    if len(names) > len(shown):
        shown.append(f"... ({len(names)} in all)")
    return ", ".join(shown)


def mean_texts(
    losses: Mapping[Name, float], metric: Metric, uncertainty: float | None = None
) -> dict[Name, str]:
    """Return the means of learners as text, in the user's metric."""
    shown = rounded([float(metric.shown(loss)) for loss in losses.values()], uncertainty)
    return dict(zip(losses, shown, strict=True))


def shown_means(decision: Decision) -> dict[Name, str]:
    """Return the mean of every learner as all views print it: rounded by the uncertainty."""
    return mean_texts(decision.mean_losses, decision.metric, uncertainty_of(decision))


def uncertainty_of(decision: Decision) -> float | None:
    """Return half the width of the median bound, by which all views round; None if unknown."""
    rows = decision.standings
    widths = [(row.at_most - (row.at_least or 0.0)) / 2 for row in rows if row.at_most is not None]
    widths = sorted(width for width in widths if width > 0)
    if widths:
        return widths[len(widths) // 2]
    sizes = [abs(row.difference) for row in rows if row.difference]
    return max(min(sizes), max(sizes) / 100) if sizes else None


def mean_words(
    name: Name, losses: Mapping[Name, float], metric: Metric, uncertainty: float | None = None
) -> str:
    """Return ``has the lowest mean error (0.07)``; of two, ``lower ... (0.07 vs 0.1)``."""
    texts = mean_texts(losses, metric, uncertainty)
    shared = list(losses.values()).count(losses[name]) > 1
    if len(texts) != 2 or shared:
        has = "shares" if shared else "has"
        return f"{has} the {metric.smallest} {metric.mean} ({texts[name]})"
    other = next(text for one, text in texts.items() if one != name)
    against = ", nearly equal" if other == texts[name] else f" vs {other}"
    return f"has the {metric.smaller} {metric.mean} ({texts[name]}{against})"


def _bound_text(value: float, uncertainty: float | None, *, up: bool) -> str:
    """Return a bound, rounded up or down so that it still holds.

    Examples
    --------
    >>> _bound_text(0.0361, 0.075, up=True), _bound_text(0.0369, 0.075, up=False)
    ('0.037', '0.036')
    >>> _bound_text(0.000312, 0.075, up=True), _bound_text(0.0, 0.075, up=True)
    ('0.001', '0')
    """
    if value == 0.0 or not uncertainty:
        return number(value)
    decimals = max(0, 1 - floor(log10(uncertainty)))
    if decimals > MAX_DECIMALS:
        return f"{value:.1e}"
    # a bound of 0.3 is not 0.30000000000000004
    scaled = round(value * 10**decimals, 9)
    return f"{(ceil(scaled) if up else floor(scaled)) / 10**decimals:.{decimals}f}"


def at_most_text(decision: Decision, at_most: float | None) -> str:
    """Return an upper bound of how much worse a learner is; empty without one."""
    return "" if at_most is None else _bound_text(at_most, uncertainty_of(decision), up=True)


def worse_than_best(decision: Decision, row: Standing) -> str:
    """Return ``at most 0.006`` or ``0.006 to 0.073``; empty without a bound."""
    high = at_most_text(decision, row.at_most)
    if not high or high == "0":
        return high
    low = _bound_text(row.at_least or 0.0, uncertainty_of(decision), up=False)
    return f"{low} to {high}" if float(low) > 0 else f"at most {high}"


def level_words(alpha: float) -> str:
    """Return the level in words, such as ``95 %``."""
    return f"{100 * (1 - alpha):.6g} %"


def family_words(evidence: Evidence) -> str:
    """Return the hypotheses that were tested together, such as ``of all 15 pairs``."""
    family, count = evidence.family, len(evidence)
    if family.of_best and count > 1:
        return f"of each of the {family.learners} against the others"
    pairs = "of one pair" if count == 1 else f"of {count} pairs"
    if evidence.alternative != "two-sided":
        against = " against the preference" if family.name == "preference" else ""
        return f"{pairs}, one-sided{against}"
    if family.name == "control":
        return f"of {called(evidence.names[family.control or 0])} against the others"
    return pairs if count == 1 else f"of all {count} pairs"


def correction_words(evidence: Evidence) -> str:
    """Return `` with Holm's correction``; an empty text for a single pair."""
    if evidence.family.of_best or (len(evidence) == 1 and evidence.family.size == 1):
        return ""
    return f" with {CORRECTIONS[evidence.family.correction].words}"
