"""The registry of problems, used by the command line, the docs and the lab."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from bestofk._base.errors import Advice, ArgumentError
from bestofk._base.registry import Registry, resolve
from bestofk.papers.lab.problems.generator import DataProblem, TableProblem

Problem = DataProblem | TableProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemEntry:
    """The registered facts of one problem generator."""

    name: str
    maker: str
    """Its class or function as ``package.module:name``; imported on use."""
    summary: str
    paper: str
    draws: str = "data"
    """``"data"`` for data sets, ``"losses"`` for loss tables."""

    def load(self) -> Any:
        """Import the class or function."""
        return resolve(self.maker)


PROBLEMS: Registry[ProblemEntry] = Registry(
    "problem",
    ProblemEntry(
        name="binary",
        maker="bestofk.papers.lab.problems.classes:BinaryAttributes",
        summary="independent binary attributes and a class that is independent of them",
        paper="Bouckaert 2003, Choosing between two learning algorithms based on calibrated tests",
    ),
    ProblemEntry(
        name="network",
        maker="bestofk.papers.lab.problems.networks:network",
        summary="a Bayesian network for the paper's Sets 2 to 4",
        paper="Bouckaert 2003, Choosing between two learning algorithms based on calibrated tests",
    ),
    ProblemEntry(
        name="blocks",
        maker="bestofk.papers.lab.problems.classes:ColumnBlocks",
        summary="K copies of one learner, each with its own columns: equal, with signal",
        paper="Fisher 1935, The design of experiments",
    ),
    ProblemEntry(
        name="given",
        maker="bestofk.papers.lab.problems.given_rows:GivenRows",
        summary="your data as they are, for the replicability of a test",
        paper="Bouckaert 2003, Choosing between two learning algorithms based on calibrated tests",
    ),
    ProblemEntry(
        name="shuffled",
        maker="bestofk.papers.lab.problems.given_rows:ShuffledLabels",
        summary="your data with shuffled labels: nothing can be learnt",
        paper="Fisher 1935, The design of experiments",
    ),
    ProblemEntry(
        name="normal",
        maker="bestofk.papers.lab.problems.drawn_losses:NormalLosses",
        summary="independent normal losses, for which theory gives the error rates",
        paper="Student 1908, The probable error of a mean",
        draws="losses",
    ),
    ProblemEntry(
        name="right-or-wrong",
        maker="bestofk.papers.lab.problems.drawn_losses:RightOrWrong",
        summary="right or wrong on the instances of one test set, or of k folds",
        paper="Cochran 1950, The comparison of percentages in matched samples",
        draws="losses",
    ),
    ProblemEntry(
        name="many-data-sets",
        maker="bestofk.papers.lab.problems.drawn_losses:ManyDataSets",
        summary="losses on many data sets: normal, skewed, tied, of unequal variances",
        paper="Demsar 2006, Statistical comparisons of classifiers over multiple data sets",
        draws="losses",
    ),
)


def problem(text: str, **settings: Any) -> Problem:
    """Return a problem generator.

    Parameters
    ----------
    text : str
        A name of `PROBLEMS`, optionally with settings in parentheses.
    **settings
        More settings, such as ``data=`` for *given* and *shuffled*.

    Examples
    --------
    >>> problem("binary(rows=100, class_probability=0.3)").describe()
    '100 rows, 10 binary attributes and a class (probability 0.3), all independent'
    >>> problem("binery")
    Traceback (most recent call last):
    bestofk._base.errors.UnknownNameError: There is no problem 'binery': did you mean 'binary'?
    """
    from bestofk.learners.specification import parse_call

    name, arguments, text_settings = parse_call(text, "problem")
    if arguments:
        raise ArgumentError(
            f"Every parameter of problem {text!r:.200} must be written as name=value; got "
            f"{arguments[0]!r:.80}."
        )
    maker = PROBLEMS[name].load()
    settings = {**text_settings, **settings}
    parameters = inspect.signature(maker).parameters
    for setting in settings:
        if setting not in parameters:
            raise ArgumentError(
                f"The settings of problem {name!r} must be among: {', '.join(parameters)}; got "
                f"{setting!r}."
            )
    for setting, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and setting not in settings:
            raise ArgumentError(f"Problem {name!r} needs ", Advice(setting, ...))
    result: Problem = maker(**settings)
    return result


def as_problem(value: Any) -> Problem:
    """Return a problem, which may be given as its text."""
    if isinstance(value, DataProblem | TableProblem):
        return value
    if isinstance(value, str):
        return problem(value)
    raise ArgumentError(
        f"problem must be a name such as 'binary' or a result of bestofk.papers.lab.problem; got "
        f"{value!r:.60}."
    )
