"""The rules: one entry each, read by the command line, the docs, the lab and the tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bestofk._base.registry import FunctionEntry, Registry

MULTITEST = (
    "Yildiz and Alpaydin 2006, Ordering and finding the best of K > 2 supervised learning "
    "algorithms"
)


DecidesBy = Literal["best", "steps", "wins", "one challenge", "reasons"]
"""Which learners may be the best; candidates step by step, from a preference; significant wins;
whether one learner beats all that are preferred to it; or what its `reasons` say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(FunctionEntry):
    """A registered rule."""

    title: str = ""
    """Its name at the start of a sentence."""
    decides_by: DecidesBy = "reasons"
    takes_test: bool = False
    """It decides from pairwise tests with a correction, and the user may choose the test."""
    options: tuple[str, ...] = ()
    """Settings that it accepts: correction, family, control, margin, rope."""
    proved_with: str = ""
    """The only correction with which an error rate is proved; empty: with any that promises one."""
    takes: Literal["losses", "scores", "intervals"] = "losses"
    """It decides from losses, from scores of every instance, or from intervals of losses."""
    ruling: str = ""
    """Its rule, ``package.module:name``: evidence, whether a preference is stated, and the margin
    to a `Ruled`, for one table or many. Without a rule, `function` returns the `Decision` of a
    problem and settings."""
    many: str = ""
    """Without a rule: its function of many tables and settings, which returns `DecidedTables`;
    without it `order_many` takes the tables one by one."""

    @property
    def correction(self) -> str:
        """The correction by default."""
        if not self.takes_test:
            return "none"
        return self.proved_with or ("bonferroni" if self.decides_by == "best" else "holm")


RULES: Registry[Rule] = Registry(
    "rule",
    Rule(
        name="best",
        explanation=(
            "Finds the learners that may be the best, recommends one of them, and bounds how much "
            "worse than the best each learner can be.",
            "Use it for almost every decision; with a preference it recommends the most preferred "
            "of those that may be the best.",
            "Do not use it to claim that two learners differ: the pairs show that.",
        ),
        function="bestofk.decide.compare_scores:compare_scores",
        ruling="bestofk.decide.best:rule_of_best",
        summary="the learners that may be the best, and how much worse each one can be",
        paper="Edwards and Hsu 1983, Multiple comparisons with the best treatment",
        takes_test=True,
        options=("correction", "margin", "rope"),
        title="The best of K",
        called="comparisons with the best",
        citations=("edwards1983multiple", "hsu1984constrained", "yildiz2006ordering"),
        decides_by="best",
    ),
    Rule(
        name="multitest",
        explanation=(
            "Tests every pair and recommends the most preferred learner that no other learner "
            "significantly beats, then orders the rest the same way.",
            "Use it to repeat published results that use this rule.",
            "Do not use it to bound a difference: best does that, and corrects for fewer tests.",
        ),
        function="bestofk.decide.multitest_order:multitest",
        ruling="bestofk.decide.multitest_order:rule_of_multitest",
        summary="order all learners from pairwise tests and a preference; always decides",
        paper=MULTITEST,
        takes_test=True,
        options=("correction", "family", "control", "rope"),
        title="MultiTest",
        called="MultiTest",
        citations=("yildiz2006ordering",),
        decides_by="steps",
    ),
)


def decides_by(rule: str) -> DecidesBy:
    """Return how a rule decides; ``"reasons"`` if it is not registered."""
    return RULES[rule].decides_by if rule in RULES else "reasons"
