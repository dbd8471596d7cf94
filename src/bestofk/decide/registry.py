"""The procedures: one entry each, read by the command line, the docs, the lab and the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from bestofk._base.registry import FunctionEntry, Registry, resolve

_MULTITEST = (
    "Yildiz and Alpaydin 2006, Ordering and finding the best of K > 2 supervised learning "
    "algorithms"
)


DecidesBy = Literal["steps", "adequacy", "wins", "one challenge", "reasons"]
"""Candidates step by step, from a preference; what is shown to be good enough; significant wins;
whether one learner beats all that are preferred to it; or what its `reasons` say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure(FunctionEntry):
    """A registered procedure."""

    title: str = ""
    """Its name at the start of a sentence."""
    decides_by: DecidesBy = "reasons"
    takes_test: bool = False
    """It decides from pairwise tests with a correction, and the user may choose the test."""
    options: tuple[str, ...] = ()
    """Settings that it accepts: correction, family, control, margin, rope, guard."""
    proved_with: str = ""
    """The only correction with which an error rate is proved; empty: with any that promises one."""
    takes_losses: bool = True
    """It decides from losses; otherwise from scores or posteriors of every instance."""
    many: str = ""
    """The same procedure on a stack of tables; without it `order_many` takes them one by one."""

    def load_many(self) -> Callable[..., Any] | None:
        """Return the function of many tables, if there is one."""
        return resolve(self.many) if self.many else None


PROCEDURES: Registry[Procedure] = Registry(
    "procedure",
    Procedure(
        name="multitest",
        explanation=(
            "Tests every pair and recommends the most preferred learner that no other learner "
            "significantly beats, then orders the rest the same way.",
            "Use it for almost every decision; without a preference it recommends the best mean.",
            "Do not use it to show that a learner is good enough: cheapest-adequate does that.",
        ),
        function="bestofk.decide.procedures.multitest:multitest",
        many="bestofk.decide.procedures.multitest:multitest_many",
        summary="order all learners from pairwise tests and a preference; always decides",
        paper=_MULTITEST,
        doi="10.1109/TPAMI.2006.61",
        takes_test=True,
        options=("correction", "family", "control", "margin", "rope", "guard"),
        title="MultiTest",
        called="MultiTest",
        citations=("yildiz2006ordering",),
        decides_by="steps",
    ),
    Procedure(
        name="cheapest-adequate",
        explanation=(
            "Recommends the most preferred learner that is shown to be at most a margin worse than "
            "every other learner.",
            "Use it with --margin if you may only choose a learner that is proven to be good "
            "enough.",
            "Do not use it with little data: then it may find no adequate learner.",
        ),
        function="bestofk.decide.procedures.cheapest_adequate:cheapest_adequate",
        many="bestofk.decide.procedures.cheapest_adequate:cheapest_adequate_many",
        summary="the most preferred that is shown not to be worse by more than a margin",
        paper="bestofk; non-inferiority over all pairs by Holm 1979 and Shaffer 1986",
        doi="10.1080/01621459.1986.10478341",
        takes_test=True,
        options=("correction", "margin", "rope"),
        title="Cheapest adequate",
        called="the cheapest adequate learner, by tests of non-inferiority over all pairs",
        citations=("holm1979simple", "shaffer1986modified"),
        decides_by="adequacy",
    ),
    Procedure(
        name="test-first",
        explanation=(
            "Recommends the learner with the smallest mean if it significantly beats every learner "
            "that you prefer to it.",
            "Use it to repeat published results that use this procedure.",
            "Do not use it to order all learners: it gives only one name, and multitest detects "
            "more.",
        ),
        historical=True,
        function="bestofk.decide.procedures.test_first:test_first",
        many="bestofk.decide.procedures.test_first:test_first_many",
        summary="the smallest mean, if it beats every learner preferred to it",
        paper=_MULTITEST,
        doi="10.1109/TPAMI.2006.61",
        takes_test=True,
        options=("correction",),
        title="TestFirst",
        called="TestFirst",
        citations=("yildiz2006ordering",),
        decides_by="one challenge",
        proved_with="bonferroni",
    ),
    Procedure(
        name="anova-choice",
        explanation=(
            "Recommends the most preferred learner if analysis of variance sees no difference "
            "between all learners.",
            "Use it to repeat published results that use this procedure.",
            "Do not use it to decide: one bad learner makes all others look different.",
        ),
        historical=True,
        function="bestofk.decide.procedures.anova_choice:anova_choice",
        many="bestofk.decide.procedures.anova_choice:anova_choice_many",
        summary="the most preferred, if ANOVA sees no difference at all",
        paper=_MULTITEST,
        doi="10.1109/TPAMI.2006.61",
        title="The ANOVA choice",
        called="the ANOVA choice",
        citations=("yildiz2006ordering",),
    ),
    Procedure(
        name="newman-keuls-choice",
        explanation=(
            "Recommends the most preferred learner of those that Newman-Keuls cannot tell from the "
            "best.",
            "Use it to repeat published results that use this procedure.",
            "Do not use it to decide: Newman-Keuls does not control the chance of any false claim "
            "for more than three learners.",
        ),
        historical=True,
        function="bestofk.decide.procedures.anova_choice:newman_keuls_choice",
        many="bestofk.decide.procedures.anova_choice:newman_keuls_choice_many",
        summary="the most preferred of those that Newman-Keuls cannot tell from the first",
        paper=_MULTITEST,
        doi="10.1109/TPAMI.2006.61",
        title="The Newman-Keuls choice",
        called="the Newman-Keuls choice",
        citations=("yildiz2006ordering",),
        family="anova-choice",
    ),
    Procedure(
        name="most-wins",
        explanation=(
            "Recommends the learner with the most significant wins over the others.",
            "Use it to repeat published results that use this procedure.",
            "Do not use it if you have a preference: it ignores costs and reports ties.",
        ),
        historical=True,
        function="bestofk.decide.procedures.most_wins:most_wins",
        many="bestofk.decide.procedures.most_wins:most_wins_many",
        summary="most significant wins over the others, equal counts reported",
        paper="Ler, Fundamentals of algorithm selection, section 6.2",
        takes_test=True,
        options=("correction", "family", "control", "margin", "rope"),
        title="Most wins",
        called="the number of significant wins",
        citations=("ler-fundamentals",),
        decides_by="wins",
    ),
    Procedure(
        name="roc-hull",
        explanation=(
            "Finds the binary classifiers that are best for some class shares and costs.",
            "Use it if class shares or costs are unknown or will change.",
            "Do not use it to show that a difference is more than chance: it makes no test.",
        ),
        historical=True,
        function="bestofk.decide.procedures.roc_hull:roc_hull",
        summary="binary classifiers that are best for some class shares and costs",
        paper="Provost and Fawcett 2001, Robust classification for imprecise environments",
        doi="10.1023/A:1007601015854",
        takes_losses=False,
        title="The ROC convex hull",
        called="the ROC convex hull",
        citations=("provost2001robust",),
    ),
    Procedure(
        name="multinomial-selection",
        explanation=(
            "Counts on how many test instances each classifier gives the true class the largest "
            "probability.",
            "Use it to repeat published results that use this procedure.",
            "Do not use it for hard labels: it needs the probabilities of every classifier.",
        ),
        historical=True,
        function="bestofk.decide.procedures.multinomial_selection:multinomial_selection",
        summary="most test instances on which it gives the true class the largest posterior",
        paper="Alsing, Bauer and Miller 2002, A multinomial selection procedure",
        doi="10.1016/S0031-3203(01)00203-3",
        takes_losses=False,
        title="Multinomial selection",
        called="multinomial selection",
        citations=("alsing2002multinomial",),
    ),
)


def decides_by(procedure: str) -> DecidesBy:
    """Return how a procedure decides; ``"reasons"`` if it is not registered."""
    return PROCEDURES[procedure].decides_by if procedure in PROCEDURES else "reasons"
