"""The generators of problems: one entry each, read by the command line, the docs and the lab."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from bestofk._base.errors import ArgumentError
from bestofk._base.registry import Registry, resolve
from bestofk.lab.problems.drawn_losses import TableProblem
from bestofk.lab.problems.generator import DataProblem

Problem = DataProblem | TableProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemEntry:
    """What the library knows of one generator of problems."""

    name: str
    maker: str
    """Where its class or function is, as ``package.module:name``; imported on use."""
    summary: str
    paper: str
    draws: str = "data"
    """``"data"`` sets, or ``"losses"`` directly."""

    def load(self) -> Any:
        """What makes the problem from its settings."""
        return resolve(self.maker)


PROBLEMS: Registry[ProblemEntry] = Registry(
    "problem",
    ProblemEntry(
        name="binary",
        maker="bestofk.lab.problems.classes:BinaryAttributes",
        summary="independent binary attributes and a class that has nothing to do with them",
        paper="Bouckaert 2003, Choosing between two learning algorithms based on calibrated tests",
    ),
    ProblemEntry(
        name="network",
        maker="bestofk.lab.problems.networks:network",
        summary="a Bayesian network: of the paper's Sets 2 to 4, from a file, or drawn",
        paper="Bouckaert 2003, Choosing between two learning algorithms based on calibrated tests",
    ),
    ProblemEntry(
        name="gaussian",
        maker="bestofk.lab.problems.classes:GaussianClasses",
        summary="two normal classes of known Bayes error",
        paper="Fukunaga 1990, Introduction to statistical pattern recognition",
    ),
    ProblemEntry(
        name="blocks",
        maker="bestofk.lab.problems.given_rows:ColumnBlocks",
        summary="K learners of one kind, each with its own columns: equal, with signal",
        paper="Fisher 1935, The design of experiments",
    ),
    ProblemEntry(
        name="shuffled",
        maker="bestofk.lab.problems.given_rows:ShuffledLabels",
        summary="my data with shuffled labels: nothing can be learnt",
        paper="Fisher 1935, The design of experiments",
    ),
    ProblemEntry(
        name="degraded",
        maker="bestofk.lab.problems.given_rows:Degraded",
        summary="my data, one learner against itself made worse by a given amount",
        paper="Dietterich 1998, Approximate statistical tests",
    ),
    ProblemEntry(
        name="normal",
        maker="bestofk.lab.problems.drawn_losses:NormalLosses",
        summary="independent normal losses: theory tells what the tests do",
        paper="Student 1908, The probable error of a mean",
        draws="losses",
    ),
    ProblemEntry(
        name="right-or-wrong",
        maker="bestofk.lab.problems.drawn_losses:RightOrWrong",
        summary="right or wrong on the instances of one test set, or of k folds",
        paper="Cochran 1950, The comparison of percentages in matched samples",
        draws="losses",
    ),
    ProblemEntry(
        name="many-data-sets",
        maker="bestofk.lab.problems.drawn_losses:ManyDataSets",
        summary="losses on many data sets: normal, skewed, tied, of unequal variances",
        paper="Demsar 2006, Statistical comparisons of classifiers over multiple data sets",
        draws="losses",
    ),
    ProblemEntry(
        name="local-minima",
        maker="bestofk.lab.problems.drawn_losses:LocalMinima",
        summary="binomial losses on many data sets, stochastic learners at times trapped",
        paper="Otero et al. 2013, Bootstrap analysis of multiple repetitions of experiments",
        draws="losses",
    ),
)


def problem(text: str, **settings: Any) -> Problem:
    """A generator of problems.

    Parameters
    ----------
    text : str
        A name of `PROBLEMS`, with settings in parentheses where wanted.
    **settings
        More settings, such as ``data=`` for *shuffled* and *degraded*.

    Examples
    --------
    >>> problem("binary(rows=100, class_probability=0.3)").describe()
    '100 rows, 10 binary attributes and a class (probability 0.3) that have nothing to do with \
each other'
    >>> problem("binery")
    Traceback (most recent call last):
    bestofk._base.errors.UnknownNameError: There is no problem 'binery': did you mean 'binary'?
    """
    from bestofk.learners.specification import call_of

    name, written = call_of(text, "problem")
    maker = PROBLEMS[name].load()
    settings = {**written, **settings}
    known = inspect.signature(maker).parameters
    for setting in settings:
        if setting not in known:
            raise ArgumentError(
                f"The settings of problem {name!r} must be among: {', '.join(known)}; got "
                f"{setting!r}."
            )
    for setting, parameter in known.items():
        if parameter.default is inspect.Parameter.empty and setting not in settings:
            raise ArgumentError(
                f"Problem {name!r} must be given {setting}"
                + (", your rows (on the command line: --data)." if setting == "data" else ".")
            )
    made: Problem = maker(**settings)
    return made


def as_problem(given: Any) -> Problem:
    """A problem, from itself or from its text."""
    if isinstance(given, DataProblem | TableProblem):
        return given
    if isinstance(given, str):
        return problem(given)
    raise ArgumentError(
        f"problem must be a name such as 'binary' or what bestofk.lab.problem makes; got "
        f"{given!r:.60}."
    )
