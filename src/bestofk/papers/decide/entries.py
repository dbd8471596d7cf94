"""Entries of the procedures that only the papers use."""

from __future__ import annotations

from bestofk.decide.registry import MULTITEST, Rule

RULES = (
    Rule(
        name="test-first",
        explanation=(
            "Recommends the learner with the smallest mean if it significantly beats every learner "
            "that you prefer to it.",
            "Use it to repeat published results that use this rule.",
            "Do not use it to order all learners: it gives only one name, and multitest detects "
            "more.",
        ),
        historical=True,
        function="bestofk.papers.decide.procedures.test_first:decide_test_first",
        many="bestofk.papers.decide.procedures.test_first:test_first_many",
        summary="the smallest mean, if it beats every learner preferred to it",
        paper=MULTITEST,
        takes_test=True,
        options=("correction",),
        title="TestFirst",
        called="TestFirst",
        citations=("yildiz2006ordering",),
        decides_by="one challenge",
        proved_with="bonferroni",
    ),
    Rule(
        name="anova-choice",
        explanation=(
            "Recommends the most preferred learner if analysis of variance sees no difference "
            "between all learners.",
            "Use it to repeat published results that use this rule.",
            "Do not use it to decide: one bad learner makes all others look different.",
        ),
        historical=True,
        function="bestofk.papers.decide.procedures.anova_choice:decide_anova",
        many="bestofk.papers.decide.procedures.anova_choice:anova_choice_many",
        summary="the most preferred, if ANOVA sees no difference at all",
        paper=MULTITEST,
        title="The ANOVA choice",
        called="the ANOVA choice",
        citations=("yildiz2006ordering",),
    ),
    Rule(
        name="newman-keuls-choice",
        explanation=(
            "Recommends the most preferred learner of those that Newman-Keuls cannot tell from the "
            "best.",
            "Use it to repeat published results that use this rule.",
            "Do not use it to decide: Newman-Keuls does not control the chance of any false claim "
            "for more than three learners.",
        ),
        historical=True,
        function="bestofk.papers.decide.procedures.anova_choice:decide_newman_keuls",
        many="bestofk.papers.decide.procedures.anova_choice:newman_keuls_choice_many",
        summary="the most preferred of those that Newman-Keuls cannot tell from the first",
        paper=MULTITEST,
        title="The Newman-Keuls choice",
        called="the Newman-Keuls choice",
        citations=("yildiz2006ordering",),
    ),
    Rule(
        name="most-wins",
        explanation=(
            "Recommends the learner with the most significant wins over the others.",
            "Use it to repeat published results that use this rule.",
            "Do not use it if you have a preference: it ignores costs and reports ties.",
        ),
        historical=True,
        function="bestofk.papers.decide.procedures.most_wins:decide_most_wins",
        summary="most significant wins over the others, equal counts reported",
        paper="Ler, Fundamentals of algorithm selection, section 6.2",
        takes_test=True,
        options=("correction", "family", "control", "rope"),
        title="Most wins",
        called="the number of significant wins",
        citations=("ler-fundamentals",),
        decides_by="wins",
    ),
    Rule(
        name="roc-hull",
        explanation=(
            "Finds the binary classifiers that are best for some class shares and costs.",
            "Use it if class shares or costs are unknown or will change.",
            "Do not use it to show that a difference is more than chance: it makes no test.",
        ),
        historical=True,
        function="bestofk.papers.decide.procedures.roc_hull:roc_hull",
        summary="binary classifiers that are best for some class shares and costs; in Python: "
        "papers.decide.select_by_scores",
        paper="Provost and Fawcett 2001, Robust classification for imprecise environments",
        takes="scores",
        title="The ROC convex hull",
        called="the ROC convex hull",
        citations=("provost2001robust",),
    ),
    Rule(
        name="multinomial-selection",
        explanation=(
            "Counts on how many test instances each classifier gives the true class the largest "
            "probability.",
            "Use it to repeat published results that use this rule.",
            "Do not use it for hard labels: it needs the probabilities of every classifier.",
        ),
        historical=True,
        function="bestofk.papers.decide.procedures.multinomial_selection:multinomial_selection",
        summary="most test instances on which it gives the true class the largest posterior; in "
        "Python: papers.decide.select_by_scores",
        paper="Alsing, Bauer and Miller 2002, A multinomial selection procedure",
        takes="scores",
        title="Multinomial selection",
        called="multinomial selection",
        citations=("alsing2002multinomial",),
    ),
    Rule(
        name="interval-order",
        explanation=(
            "Finds the learners that may be the best if their losses are intervals.",
            "Use it for repetitions of stochastic learners, or for a table with the columns low "
            "and high.",
            "Do not use it to bound a difference: intervals of losses give p-values, not bounds.",
        ),
        historical=True,
        function="bestofk.papers.decide.interval_table:order_intervals",
        summary="the learners that may be the best for all losses inside given intervals",
        paper="Otero et al. 2013, Bootstrap analysis of multiple repetitions of experiments using "
        "an interval-valued multiple comparison procedure",
        takes="intervals",
        title="The order of intervals",
        called="the order of intervals",
        citations=("otero2014bootstrap",),
    ),
)
