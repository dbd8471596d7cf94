"""Phrases that statements share: names, means, intervals, families."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from bestofk._base.formatting import interval_words, number, printable, shortened
from bestofk.decide.preference import Name
from bestofk.losses.losses import Metric
from bestofk.stats.adjust import CORRECTIONS

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision, Standing
    from bestofk.decide.evidence import Evidence

MAX_NAMED = 6
"""Learners that a sentence names; it only counts the rest."""


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


def is_are(names: Sequence[object]) -> str:
    """Return ``is`` or ``are``."""
    return "is" if len(names) == 1 else "are"


def chain(names: Sequence[Name]) -> str:
    """Return an order in words, best first."""
    shown = [called(name) for name in names[: 4 * MAX_NAMED]]
    if len(names) > len(shown):
        shown.append(f"... ({len(names)} in all)")
    return ", ".join(shown)


def mean_words(name: Name, means: Mapping[Name, float], metric: Metric) -> str:
    """Return ``has the smallest mean error (0.07)``; of two, ``smaller ... (0.07 against 0.1)``."""
    value = number(float(metric.shown(means[name])))
    if len(means) == 2:
        other = next(mean for one, mean in means.items() if one != name)
        against = number(float(metric.shown(other)))
        return f"has the {metric.smaller} {metric.mean} ({value} against {against})"
    return f"has the {metric.smallest} {metric.mean} ({value})"


def level_words(alpha: float) -> str:
    """Return the level in words, such as ``95 %``."""
    return f"{100 * (1 - alpha):.6g} %"


def difference_words(decision: Decision, standing: Standing) -> str:
    """Return the interval of a difference, with a positive difference; may be empty."""
    low, high = standing.low, standing.high
    if standing.difference < 0:
        low, high = 0.0 - high, 0.0 - low
    interval = interval_words(low, high)
    return f"{level_words(decision.alpha)} interval {interval}" if interval else ""


def family_words(evidence: Evidence) -> str:
    """Describe the hypotheses that were tested together."""
    family, count = evidence.family, len(evidence)
    if evidence.alternative != "two-sided":
        pairs = "one pair" if count == 1 else f"{count} pairs"
        if family.name == "preference":
            return (
                f"one-sided against the preference in {pairs} (the opposite direction was not "
                "tested)"
            )
        return f"one-sided in {pairs}"
    if family.name == "control":
        control = called(evidence.names[family.control or 0])
        others = "the other" if count == 1 else f"the {count} others"
        return f"two-sided, {control} against {others}"
    return "two-sided" if count == 1 else f"two-sided over all {count} pairs"


def correction_words(evidence: Evidence) -> str:
    """Return `` with Holm's correction``; an empty text for a single pair."""
    if len(evidence) == 1 and evidence.family.size == 1:
        return ""
    return f" with {CORRECTIONS[evidence.family.correction].words}"
