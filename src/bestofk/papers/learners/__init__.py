"""Learners that only the papers use, and their entries."""

from bestofk.learners.registry import Learner

LEARNERS = (
    Learner(
        name="nmc",
        historical=True,
        estimator="bestofk.papers.learners.nearest_mean:NearestMean",
        summary="nearest mean: class means of numeric columns, class modes of nominal ones",
        paper="Yildiz and Alpaydin 2006",
        complexity="c d",
    ),
    Learner(
        name="tan",
        historical=True,
        estimator="bestofk.papers.learners.tan:TreeAugmentedNaiveBayes",
        summary="tree-augmented naive Bayes",
        paper="Friedman, Geiger and Goldszmidt 1997, Bayesian network classifiers",
        complexity="entries of the probability tables",
    ),
    Learner(
        name="voted-perceptron",
        historical=True,
        estimator="bestofk.papers.learners.voted_perceptron:VotedPerceptron",
        summary="voted perceptron, for two classes",
        paper="Freund and Schapire 1999, Large margin classification using the perceptron "
        "algorithm",
        complexity="vectors times their length",
    ),
    Learner(
        name="furia",
        historical=True,
        estimator="bestofk.papers.learners.furia:Furia",
        summary="unordered fuzzy rules, grown as in RIPPER",
        paper="Huehn and Huellermeier 2009, FURIA: an algorithm for unordered fuzzy rule induction",
        complexity="c and the antecedents of the rules",
    ),
)
