"""Values for every figure, for few and many learners, with names that are hard to draw."""

import tempfile
from dataclasses import replace
from functools import cache

import matplotlib as mpl
import numpy as np
import pytest

import bestofk as bk
from bestofk.decide.stopping.result import Race, RacedLearner
from bestofk.report.figures.labels import LINE_HEIGHT, text_width
from bestofk.run.study import Cost
from bestofk.stats import pairwise

SIZES = (2, 5, 6, 20, 60)
LONG = "GradientBoosting(" + ", ".join(f"parameter_{k}={k}" for k in range(12)) + ")"
STRANGE = (
    LONG[:200],
    "<script>alert('x')</script> & $x^2_{a}$ \\frac",
    "שכן קרוב",
    "الغابة العشوائية",
    "line\nbreak\tand \u202eturned",
    "",
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
    "Ångström-Čech Žižek É",
)


@pytest.fixture(autouse=True, scope="session")
def _no_screen():
    mpl.use("Agg")


NAMES = []
"""Names to use instead of those of `names_of`, if not empty."""


def names_of(n):
    """Return names that are long, right-to-left, or look like markup."""
    if NAMES:
        return NAMES[:n]
    strange = [name for name in STRANGE if name]
    forests = [f"random_forest(n_estimators={k}00, max_depth={k % 5 + 2})" for k in range(n)]
    return [strange[k] if k < len(strange) else forests[k] for k in range(n)]


def losses_of_many(n, *, runs=3, folds=4, datasets=1, seed=0, spread=0.03):
    rng = np.random.default_rng(seed + n)
    mean = 0.15 + 0.25 * rng.random((n, 1, 1, 1, 1))
    common = 0.02 * rng.standard_normal((1, datasets, runs, folds, 1))
    noise = spread * rng.standard_normal((n, datasets, runs, folds, 1))
    return bk.Scores(
        mean + common + noise,
        dims=("learner", "dataset", "run", "fold", "repetition"),
        learners=names_of(n),
        datasets=[f"set {d}" for d in range(datasets)] if datasets > 1 else None,
    )


def race_of_many(n):
    """Return a race of n learners: two run to the end, the others stop after some runs."""
    rng = np.random.default_rng(n)
    names = names_of(n)
    learners = []
    for k, name in enumerate(names):
        runs = 10 if k < 2 else 2 + k % 5
        course = 0.15 + 0.25 * rng.random() + 0.01 * rng.standard_normal(runs)
        learners.append(
            RacedLearner(
                learner=name,
                course=tuple(np.cumsum(course) / np.arange(1, runs + 1)),
                why="" if k < 2 else f"{names[0]} is better",
            )
        )
    return Race(
        learners=tuple(learners), settled=True, exact=False, target="best", risk=0.05,
        planned_runs=10, fits=sum(10 * raced.runs for raced in learners), planned_fits=100 * n,
    )  # fmt: skip


def gate_of_many(n):
    """Return the last of n builds, with a better one and some that are worse or undecided."""
    rng = np.random.default_rng(n)
    chance = rng.beta(0.7, 0.3, 300)
    with tempfile.TemporaryDirectory() as folder:
        for k, name in enumerate(names_of(n)):
            shift = 0.2 if k in (3, 4, 5, 6) else -0.1 * (k % 5 == 4)
            result = bk.gate(
                (rng.random(300) < chance + shift) * 1.0,
                (rng.random(300) < chance) * 1.0 if k == 0 else None,
                build=name, ledger=f"{folder}/gate.json",
            )  # fmt: skip
    return result


@cache
def small_study():
    return bk.compare(["max", "nmc"], "iris", cv="5x2", progress=False).outcome


def study_of_many(losses):
    """Return a study as `compare` does, with costs that span four powers of ten."""
    costs = np.logspace(-4, 0.5, len(losses.learners))
    return replace(
        small_study(),
        decision=bk.compare_scores(losses).outcome,
        losses=losses,
        costs={
            name: Cost(fit_time=cost, predict_time=cost / 10, size=1e6 * cost)
            for name, cost in zip(losses.learners, costs.tolist(), strict=True)
        },
    )


def values_of(n):
    """Return a value by figure, for n learners."""
    losses, over_datasets = losses_of_many(n), losses_of_many(n, runs=1, folds=1, datasets=3 * n)
    decision, by_datasets = (
        bk.compare_scores(losses, prefer="listed").outcome,
        bk.compare_scores(over_datasets).outcome,
    )
    study = study_of_many(losses)
    flat = losses.losses.reshape(n, -1)
    return {
        "forest": bk.compare_scores(losses, margin=0.02).outcome,
        "race": replace(study, race=race_of_many(n)),
        "losses": decision,
        "frontier": study,
        "matrix": decision,
        "critical-difference": decision,
        "critical-difference-ranks": by_datasets,
        "rank-intervals": decision,
        "heatmap": by_datasets,
        "ranks": by_datasets,
        "graph": decision,
        "steps": bk.compare_scores(
            losses.select(learners=losses.learners[:8]), prefer="listed", rule="multitest"
        ).outcome,
        "gate": gate_of_many(n),
        "difference": pairwise.correlated_t(flat[0], flat[1], rope=0.01, rho=0.25),
    }


@pytest.fixture(scope="session")
def examples():
    """Values by number of learners and by figure."""
    return {n: values_of(n) for n in SIZES}


@pytest.fixture(scope="session")
def renamed_examples():
    """A function that returns a value by figure, for learners with these names."""

    @cache
    def find(names):
        NAMES[:] = names
        try:
            return values_of(len(names))
        finally:
            NAMES.clear()

    return find


@pytest.fixture(scope="session")
def pictures(examples):
    """Pictures by number of learners and by figure."""
    from bestofk.report.figures.registry import FIGURES

    return {
        (n, kind): FIGURES[kind].layout(value)
        for n, kinds in examples.items()
        for kind, value in kinds.items()
    }


def box_of(word):
    """Return the corners of the rotated box around a line of words."""
    width = text_width(word.text, word.size, bold=word.bold)
    left = {"start": 0.0, "middle": -width / 2, "end": -width}[word.anchor]
    half = word.size * LINE_HEIGHT / 2
    corners = np.array([(left, -half), (left + width, -half), (left + width, half), (left, half)])
    turn = np.radians(word.rotation)
    rotation = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    return [word.x, word.y] + corners @ rotation


@pytest.fixture(scope="session")
def boxes():
    """A function that returns (words, 4, 2): the corners of the boxes around words."""
    return lambda words: np.array([box_of(word) for word in words])


@pytest.fixture(scope="session")
def overlaps():
    """A function that returns the pairs of words whose rotated boxes overlap."""

    def find(words, slack=0.15):
        corners = np.array([box_of(word) for word in words])
        low, high = corners.min(axis=1), corners.max(axis=1)
        near = ((low[:, None] < high[None] - slack) & (low[None] < high[:, None] - slack)).all(
            axis=2
        )
        pairs = []
        for a, b in np.argwhere(np.triu(near, 1)).tolist():
            if not _apart(corners[a], corners[b], slack):
                pairs.append((words[a].text, words[b].text))
        return pairs

    return find


def _apart(first, second, slack):
    """Return whether an axis separates two rectangles."""
    for box in (first, second):
        for k in range(2):
            axis = box[k + 1] - box[k]
            length = np.hypot(*axis)
            if length == 0:
                return True
            a, b = first @ axis / length, second @ axis / length
            if a.max() <= b.min() + slack or b.max() <= a.min() + slack:
                return True
    return False
