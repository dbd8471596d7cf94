"""The estimand: the quantity that estimate, interval, test and sentences of a result speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bestofk.decide.statements import Statement

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision
    from bestofk.decide.problem import Problem


class Estimand(NamedTuple):
    """The quantity that a comparison estimates.

    - `subject` {"learners", "models"}: Learners, trained again and again, or models that were
      fitted once.
    - `quantity` {"mean", "typical"}: The difference of the means, or the typical (median)
      difference.
    - `training_size`: Training rows of a fit; None if they are unknown or differ between data sets.
    - `population`: Where the result holds: ``"rows"``, ``"groups"``, ``"data sets"``, ``"items"``,
      ``"clusters"``, ``"time"``, ``"seeds"`` or ``"splits"``.
    """

    subject: str
    quantity: str
    training_size: int | None
    population: str


def estimand_of(decision: Decision) -> Estimand | None:
    """Return the estimand of a decision; None if its losses are not known."""
    problem, choice = decision.problem, decision.test_choice
    if problem is None:
        return None
    entry = None if choice is None else choice.entry
    fitted = decision.noun == "model" or (entry is not None and entry.about == "fitted models")
    return Estimand(
        subject="models" if fitted else "learners",
        quantity="mean" if entry is None else entry.estimand,
        training_size=None if fitted else _training_size(problem),
        population=_population(problem),
    )


def _training_size(problem: Problem) -> int | None:
    sizes = problem.design.n_train
    if sizes is None or problem.n_datasets > 1:
        return None
    return round(sum(sizes) / len(sizes))


def _population(problem: Problem) -> str:
    if problem.n_datasets > 1:
        return "data sets"
    if problem.subject.noun == "model":
        subject = problem.subject
        return "clusters" if subject.n_clusters is not None and subject.clustered else "items"
    if problem.design.kind in ("time", "seeds"):
        return problem.design.kind
    if problem.design.kind == "scores" or problem.bare:
        return "splits"
    return "rows" if problem.design.groups is None else "groups"


_POPULATION_WORDS = {
    "rows": "for new rows from the same source",
    "groups": "for new groups of rows from the same source",
    "data sets": "over data sets like these",
    "items": "for new items like these",
    "clusters": "for new clusters of items like these",
    "time": "for later times, if the process stays as it is",
    "seeds": "over new seeds, on the same test set",
    "splits": "over splits like these",
}


def estimand_statements(decision: Decision) -> tuple[Statement, ...]:
    """State the quantity that the result speaks of, and the population to which it applies."""
    estimand = estimand_of(decision)
    if estimand is None:
        return ()
    metric = decision.metric.name
    where = _POPULATION_WORDS[estimand.population]
    between = {"learners": "learners", "models": "these fitted models"}[estimand.subject]
    if decision.on_items:
        between = "these models"
    if estimand.training_size is not None:
        between += f" trained on about {estimand.training_size:,} rows"
    again = ""
    if estimand.subject == "models" and not decision.on_items:
        again = " The learners, trained on other rows, could differ from these models."
    if estimand.quantity == "typical":
        quantity, tail = f"typical (median) difference in {metric}", ", not the mean difference"
        short = f"typical difference of {between}"
    else:
        quantity, tail = f"mean difference in {metric}", ""
        short = f"{decision.metric.mean} of {between}"
    return (
        Statement(
            kind="estimand",
            text=f"Estimand: the {quantity} between {between}, {where}{tail}.{again}",
            short=short if estimand.population == "rows" else f"{short} {where}",
            numbers=estimand._asdict(),
        ),
    )
