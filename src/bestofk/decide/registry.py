"""The procedures: one entry each, read by the command line, the docs, the lab and the tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bestofk._base.registry import FunctionEntry, Registry

_MULTITEST = (
    "Yildiz and Alpaydin 2006, Ordering and finding the best of K > 2 supervised learning "
    "algorithms"
)


DecidesBy = Literal["best", "steps", "wins", "one challenge", "reasons"]
"""Which learners may be the best; candidates step by step, from a preference; significant wins;
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
    """Settings that it accepts: correction, family, control, margin, rope."""
    proved_with: str = ""
    """The only correction with which an error rate is proved; empty: with any that promises one."""
    takes_losses: bool = True
    """It decides from losses; otherwise from scores or posteriors of every instance."""
    rule: str = ""
    """Its rule, ``package.module:name``: evidence, whether a preference is stated, and the margin
    to a `Ruled`, for one table or many."""
    decision: str = ""
    """Without a rule: its function of a problem and settings, which returns a `Decision`; by
    default `function`."""
    many: str = ""
    """Without a rule: its function of a stack of tables and settings, which returns `Decided`;
    without it `order_many` takes the tables one by one."""

    @property
    def correction(self) -> str:
        """The correction by default."""
        if not self.takes_test:
            return "none"
        return self.proved_with or ("bonferroni" if self.decides_by == "best" else "holm")


PROCEDURES: Registry[Procedure] = Registry(
    "procedure",
    Procedure(
        name="best",
        explanation=(
            "Finds the learners that may be the best, recommends one of them, and bounds how much "
            "worse than the best each learner can be.",
            "Use it for almost every decision; with a preference it recommends the most preferred "
            "of those that may be the best.",
            "Do not use it to claim that two learners differ: the pairs show that.",
        ),
        function="bestofk.decide.order:order",
        rule="bestofk.decide.best:rule_of_best",
        summary="the learners that may be the best, and how much worse each one can be",
        paper="Edwards and Hsu 1983, Multiple comparisons with the best treatment",
        doi="10.1080/01621459.1983.10477047",
        takes_test=True,
        options=("correction", "margin", "rope"),
        title="The best of K",
        called="comparisons with the best",
        citations=("edwards1983multiple", "hsu1984constrained", "yildiz2006ordering"),
        decides_by="best",
    ),
    Procedure(
        name="multitest",
        explanation=(
            "Tests every pair and recommends the most preferred learner that no other learner "
            "significantly beats, then orders the rest the same way.",
            "Use it to repeat published results that use this procedure.",
            "Do not use it to bound a difference: best does that, and corrects for fewer tests.",
        ),
        function="bestofk.decide.procedures.multitest:multitest",
        rule="bestofk.decide.procedures.multitest:rule_of_multitest",
        summary="order all learners from pairwise tests and a preference; always decides",
        paper=_MULTITEST,
        doi="10.1109/TPAMI.2006.61",
        takes_test=True,
        options=("correction", "family", "control", "rope"),
        title="MultiTest",
        called="MultiTest",
        citations=("yildiz2006ordering",),
        decides_by="steps",
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
        decision="bestofk.decide.procedures.test_first:decide_test_first",
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
        decision="bestofk.decide.procedures.anova_choice:decide_anova",
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
        decision="bestofk.decide.procedures.anova_choice:decide_newman_keuls",
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
        decision="bestofk.decide.procedures.most_wins:decide_most_wins",
        many="bestofk.decide.procedures.most_wins:most_wins_many",
        summary="most significant wins over the others, equal counts reported",
        paper="Ler, Fundamentals of algorithm selection, section 6.2",
        takes_test=True,
        options=("correction", "family", "control", "rope"),
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
