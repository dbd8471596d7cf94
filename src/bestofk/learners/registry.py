"""The learners of the papers: one entry each, read by the command line, the docs and the laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bestofk.errors import ArgumentError
from bestofk.registry import Registry, resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    """What the library knows of one learner."""

    name: str
    estimator: str
    """Where its class is, as ``package.module:name``; imported on use."""
    summary: str
    paper: str
    numeric: bool = True
    """It uses numeric columns."""
    nominal: bool = True
    """It uses nominal columns as they are."""
    missing: bool = True
    """Missing cells need no filling beforehand."""
    multiclass: bool = True
    """It takes more than two classes."""
    whole_plan: bool = True
    """It evaluates all the splits of a plan at once."""
    unstable: bool = False
    """Its predictions depend much on which rows train it."""
    complexity: str = ""
    """Its number of parameters (c classes, d columns, n training rows)."""

    def load(self) -> type[Any]:
        """The class itself."""
        found: type[Any] = resolve(self.estimator)
        return found


LEARNERS = Registry(
    "learner",
    Learner(
        name="max",
        estimator="bestofk.learners.majority:Majority",
        summary="the most frequent class",
        paper="Yildiz and Alpaydin 2006",
        complexity="c",
    ),
    Learner(
        name="nmc",
        estimator="bestofk.learners.nearest_mean.nearest_mean:NearestMean",
        summary="nearest mean: class means of numeric columns, class modes of nominal ones",
        paper="Yildiz and Alpaydin 2006",
        complexity="c d",
    ),
    Learner(
        name="logistic",
        estimator="bestofk.learners.logistic.logistic:Logistic",
        summary="linear logistic (softmax) model with an L2 penalty",
        paper="Yildiz and Alpaydin 2006",
        complexity="c (d + 1), nominal columns counted as 1-of-n",
    ),
    Learner(
        name="c4.5",
        estimator="bestofk.learners.c45.c45:C45",
        summary="Quinlan's decision tree",
        paper="Quinlan 1993, C4.5: Programs for Machine Learning",
        unstable=True,
        complexity="nodes of the tree",
    ),
    Learner(
        name="nn",
        estimator="bestofk.learners.nearest_neighbour.nearest_neighbour:NearestNeighbour",
        summary="the nearest neighbour",
        paper="Cover and Hart 1967, Nearest neighbor pattern classification",
        unstable=True,
        complexity="n d",
    ),
    Learner(
        name="naive-bayes",
        estimator="bestofk.learners.naive_bayes.naive_bayes:NaiveBayes",
        summary="naive Bayes: nominal counts with Laplace, Gaussian numerics",
        paper="John and Langley 1995, Estimating continuous distributions in Bayesian classifiers",
        complexity="entries of the probability tables",
    ),
    Learner(
        name="tan",
        estimator="bestofk.learners.tan:TreeAugmentedNaiveBayes",
        summary="tree-augmented naive Bayes",
        paper="Friedman, Geiger and Goldszmidt 1997, Bayesian network classifiers",
        numeric=False,
        complexity="entries of the probability tables",
    ),
    Learner(
        name="voted-perceptron",
        estimator="bestofk.learners.voted_perceptron:VotedPerceptron",
        summary="voted perceptron, for two classes",
        paper="Freund and Schapire 1999, Large margin classification using the perceptron "
        "algorithm",
        multiclass=False,
        complexity="vectors times their length",
    ),
)


def learner(name: str, **params: Any) -> Any:
    """A learner of the papers as a scikit-learn estimator.

    Parameters
    ----------
    name : str
        One of the names in `LEARNERS`.
    **params
        Parameters of the estimator.

    Examples
    --------
    >>> learner("max")
    Majority()
    >>> learner("maks")
    Traceback (most recent call last):
    bestofk.errors.UnknownNameError: There is no learner 'maks': did you mean 'max'?
    """
    entry = LEARNERS[name]
    kind = entry.load()
    known = kind().get_params()
    for param in params:
        if param not in known:
            listed = ", ".join(known) or "none"
            raise ArgumentError(
                f"The parameters of learner {name!r} must be among: {listed}; got {param!r}."
            )
    return kind(**params)
