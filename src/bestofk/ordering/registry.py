"""The procedures: one entry each, read by the command line, the docs, the lab and the tests."""

from __future__ import annotations

from dataclasses import dataclass

from bestofk.registry import FunctionEntry, Registry

_MULTITEST = (
    "Yildiz and Alpaydin 2006, Ordering and finding the best of K > 2 supervised learning "
    "algorithms"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure(FunctionEntry):
    """What the library knows of one procedure."""

    takes_test: bool = False
    """It decides from pairwise tests, which may be chosen, with a correction."""
    options: tuple[str, ...] = ()
    """What of the decision may be chosen: correction, family, control, margin, rope, guard."""
    takes_losses: bool = True
    """It decides from losses; otherwise it wants scores or posteriors of every instance."""


PROCEDURES: Registry[Procedure] = Registry(
    "procedure",
    Procedure(
        name="multitest",
        function="bestofk.ordering.procedures.multitest:multitest",
        summary="order all learners from pairwise tests and a preference; always decides",
        paper=_MULTITEST,
        doi="10.1109/TPAMI.2006.61",
        takes_test=True,
        options=("correction", "family", "control", "margin", "rope", "guard"),
    ),
    Procedure(
        name="cheapest-adequate",
        function="bestofk.ordering.procedures.cheapest_adequate:cheapest_adequate",
        summary="the most preferred that is shown not to be worse by more than a margin",
        paper="bestofk; non-inferiority over all pairs by Holm 1979 and Shaffer 1986",
        doi="10.1080/01621459.1986.10478341",
        takes_test=True,
        options=("correction", "margin", "rope"),
    ),
    Procedure(
        name="test-first",
        function="bestofk.ordering.procedures.test_first:test_first",
        summary="the smallest mean, if it beats every learner preferred to it",
        paper=_MULTITEST,
        doi="10.1109/TPAMI.2006.61",
        takes_test=True,
        options=("correction",),
    ),
    Procedure(
        name="anova-choice",
        function="bestofk.ordering.procedures.anova_choice:anova_choice",
        summary="the most preferred, if ANOVA sees no difference at all",
        paper=_MULTITEST,
        doi="10.1109/TPAMI.2006.61",
    ),
    Procedure(
        name="newman-keuls-choice",
        function="bestofk.ordering.procedures.anova_choice:newman_keuls_choice",
        summary="the most preferred of those that Newman-Keuls cannot tell from the first",
        paper=_MULTITEST,
        doi="10.1109/TPAMI.2006.61",
    ),
    Procedure(
        name="most-wins",
        function="bestofk.ordering.procedures.most_wins:most_wins",
        summary="most significant wins over the others, equal counts reported",
        paper="Ler, Fundamentals of algorithm selection, section 6.2",
        takes_test=True,
        options=("correction", "family", "control", "margin", "rope"),
    ),
    Procedure(
        name="roc-hull",
        function="bestofk.ordering.procedures.roc_hull:roc_hull",
        summary="binary classifiers that are best for some class shares and costs",
        paper="Provost and Fawcett 2001, Robust classification for imprecise environments",
        doi="10.1023/A:1007601015854",
        takes_losses=False,
    ),
    Procedure(
        name="multinomial-selection",
        function="bestofk.ordering.procedures.multinomial_selection:multinomial_selection",
        summary="most test instances on which it gives the true class the largest posterior",
        paper="Alsing, Bauer and Miller 2002, A multinomial selection procedure",
        doi="10.1016/S0031-3203(01)00203-3",
        takes_losses=False,
    ),
)
