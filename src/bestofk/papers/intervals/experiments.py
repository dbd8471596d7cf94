"""The experiments of section 4.1 (simulated errors) and section 4.2 (five learners).

Section 4.1 simulates errors of five algorithms on 32 data sets, tests every simulation, and counts
the outcomes. Section 4.2 compares five learners on 64 data sets.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, one_of
from bestofk.papers import stats as paper_tests
from bestofk.papers.array_task import ArrayPiece, obtain
from bestofk.papers.comparison import Request
from bestofk.papers.data import content, locate, read_in_file_order, sources
from bestofk.papers.printed_figures import printed_table
from bestofk.stats import multiple, pairwise
from bestofk.stats.adjust import adjust
from bestofk.stats.null_distributions.sign_flips import magnitudes, scaled_pairs
from bestofk.stats.null_distributions.sums import TIE

ALGORITHMS, DATASETS, FOLDS, REPETITIONS = 5, 32, 5, 30
DETERMINISTIC = (2, 3)
"""A3 and A4 have one result per fold for all repetitions."""
STEPS = tuple(round(0.005 * k, 3) for k in range(21))
"""The values of dp; the paper prints the last one as 1."""
BEST_ERROR, FIRST_MEAN = 0.20, 0.30
TRAP_PROBABILITY, TRAPPED_ERROR = 0.1, 0.75
MIN_TEST_SIZE, MAX_TEST_SIZE = 10, 20
FIRST, SECOND = np.triu_indices(ALGORITHMS, 1)
PAIRS = len(FIRST)
RESAMPLES = 4_999
"""Random rearrangements of a bootstrap test; exact ones take several times as long."""
_SIGNS_AT_ONCE = 1 << 10
READINGS: dict[str, tuple[str, str | tuple[str, float]]] = {
    "Bootstrap-B": ("paper", ("median-radius", 0.1)),
    "Bootstrap-B, quantiles": ("paper", "central"),
    "Bootstrap-B, vertex": ("vertex", ("median-radius", 0.1)),
}
"""Interpretations of the paper's Bootstrap-B: (rule, interval of repetitions)."""
COUNTINGS = ("named", "as_printed")
OUTCOMES = ("ok", "no", "err", "inc")
ALPHA = 0.05
_JUDGED_BY = {"named": np.arange(PAIRS), "as_printed": FIRST}
"""Index of the p-value that decides each pair.

All pairs of A_1 come first, so (A_1, A_{i+1}) has the index i - 1. Pair (A_i, A_j) seems to have
been judged with that index, because No Sig is constant along each row of Tables 3 and 5.
"""
SIMULATIONS = 100
DETAIL = 0.03
"""The dp of Tables 1, 3 and 5."""
VERSION = 1
"""Increase it if the same names would give other numbers."""
KINDS = {"plain": 0, "outliers": 1, "table 1": 3, "null": 5}
"""Kinds of simulations, with their part of the seed."""
Verdicts = npt.NDArray[np.int8]
"""Indices into `OUTCOMES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnWinners:
    """The best algorithm and the test set size on each of 32 data sets.

    - `winners`, `sizes` (32,): The algorithm with error 0.20, and the number of objects in a test
      set.
    - `errors` (5, 32): Theoretical error of each algorithm on each data set.
    """

    winners: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    errors: Floats


def problem_of(
    dp: float, winners: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
) -> DrawnWinners:
    """Return the problem with these winners and the mean error 0.30 + (i - 1) dp of A_i.

    If A_i has w_i wins, its error on the other data sets is (32 m_i - 0.2 w_i) / (32 - w_i).

    Examples
    --------
    >>> problem = problem_of(0.03, np.arange(32) % 5, np.full(32, 15))
    >>> problem.errors.mean(axis=1).round(12).tolist()
    [0.3, 0.33, 0.36, 0.39, 0.42]
    """
    wins = np.bincount(winners, minlength=ALGORITHMS)
    means = FIRST_MEAN + dp * np.arange(ALGORITHMS)
    others = (DATASETS * means - BEST_ERROR * wins) / (DATASETS - wins)
    won = winners[np.newaxis] == np.arange(ALGORITHMS)[:, np.newaxis]
    return DrawnWinners(
        winners=winners, sizes=sizes, errors=np.where(won, BEST_ERROR, others[:, np.newaxis])
    )


def draw_problem(dp: float, rng: np.random.Generator) -> DrawnWinners:
    """Draw winners uniformly from the algorithms and sizes from 10 to 20 for each data set.

    An algorithm that wins too often cannot have its mean: A5 at dp = 0.1 with more than 12 wins
    would need errors above 1 elsewhere. Such winners are drawn again.
    """
    while True:
        winners = rng.integers(0, ALGORITHMS, size=DATASETS)
        problem = problem_of(
            dp, winners, rng.integers(MIN_TEST_SIZE, MAX_TEST_SIZE + 1, size=DATASETS)
        )
        if (problem.errors < 1).all() and (problem.errors > 0).all():
            return problem


def simulate(
    problem: DrawnWinners, simulations: int, rng: np.random.Generator, *, outliers: bool = False
) -> Floats:
    """Simulate errors (simulations, 5, 32, 5 folds, 30 repetitions) by equations (33) to (37).

    With `outliers`, each repetition of a stochastic algorithm is trapped in a local minimum with
    probability 0.1 and has the error 0.75 there.
    """
    sizes = problem.sizes[:, np.newaxis, np.newaxis]
    shape = (simulations, DATASETS, FOLDS, REPETITIONS)
    losses = np.empty((simulations, ALGORITHMS, *shape[1:]))
    for a, errors in enumerate(problem.errors):
        p = errors[:, np.newaxis, np.newaxis]
        if a in DETERMINISTIC:
            losses[:, a] = rng.binomial(sizes, p, size=(*shape[:3], 1)) / sizes
            continue
        losses[:, a] = rng.binomial(sizes, p, size=shape) / sizes
        if outliers:
            losses[:, a][rng.random(shape) < TRAP_PROBABILITY] = TRAPPED_ERROR
    return losses


def simulate_means(problem: DrawnWinners, simulations: int, rng: np.random.Generator) -> Floats:
    """Simulate means over folds and repetitions directly, shape (simulations, 5, 32).

    Without outliers, the sum of the errors of a data set is binomial.
    """
    rounds = np.full((ALGORITHMS, 1), REPETITIONS)
    rounds[list(DETERMINISTIC)] = 1
    objects = problem.sizes * FOLDS * rounds
    drawn = rng.binomial(objects, problem.errors, size=(simulations, *problem.errors.shape))
    return np.asarray(drawn / objects)


def simulate_null(simulations: int, rng: np.random.Generator) -> Floats:
    """Simulate means of five equal algorithms, shape (simulations, 5, 32).

    The algorithms are exchangeable: all are stochastic, every simulation draws the winner of
    every data set, and no mean is fixed, so every order of the algorithms is equally likely.
    """
    winners = rng.integers(0, ALGORITHMS, size=(simulations, 1, DATASETS))
    sizes = rng.integers(MIN_TEST_SIZE, MAX_TEST_SIZE + 1, size=(simulations, 1, DATASETS))
    other = (FIRST_MEAN * ALGORITHMS - BEST_ERROR) / (ALGORITHMS - 1)
    errors = np.where(winners == np.arange(ALGORITHMS)[:, np.newaxis], BEST_ERROR, other)
    objects = sizes * FOLDS * REPETITIONS
    return np.asarray(rng.binomial(objects, errors) / objects)


# Tests of every simulation


class Scalar(NamedTuple):
    """P-values of the scalar tests for S simulations.

    - `anova`, `friedman` (S,): P-values of the hypothesis that all five algorithms are equal.
    - `bootstrap_a` (S, 5): P-values of each algorithm against the mean of all.
    - `t`, `wilcoxon`, `bootstrap_a_pairs` (S, 10): Unadjusted p-values of each pair.
    - `differences` (S, 10): Mean of the first algorithm of the pair minus that of the second.
    """

    anova: Floats
    friedman: Floats
    bootstrap_a: Floats
    t: Floats
    wilcoxon: Floats
    bootstrap_a_pairs: Floats
    differences: Floats


class Ranges(NamedTuple):
    """Interval-valued p-values of Bootstrap-B; the last axis contains both ends.

    `algorithms` (S, 5, 2) and `pairs` (S, 10, 2) are not adjusted. `differences` (S, 10) are
    between the midpoints of the two mean intervals.
    """

    algorithms: Floats
    pairs: Floats
    differences: Floats


SHAPES: dict[Any, tuple[tuple[int, ...], ...]] = {
    Scalar: ((), (), (ALGORITHMS,), (PAIRS,), (PAIRS,), (PAIRS,), (PAIRS,)),
    Ranges: ((ALGORITHMS, 2), (PAIRS, 2), (PAIRS,)),
}
"""Shapes of the fields for one simulation."""


def packed(*evidence: Scalar | Ranges) -> Floats:
    """Return all fields as the columns of one array, which a store keeps."""
    fields = [field for one in evidence for field in one]
    return np.column_stack([field.reshape(len(field), -1) for field in fields])


def unpacked(columns: Floats, *kinds: Any) -> list[Any]:
    """Invert `packed`; keep leading axes before the columns."""
    lead, found, start = columns.shape[:-1], [], 0
    for kind in kinds:
        fields = []
        for shape in SHAPES[kind]:
            stop = start + math.prod(shape)
            fields.append(columns[..., start:stop].reshape(*lead, *shape))
            start = stop
        found.append(kind(*fields))
    return found


def scalar_evidence(cells: Floats, rng: np.random.Generator) -> Scalar:
    """Run all scalar tests on the data-set means of S simulations, shape (S, 5, 32)."""
    a, b = cells[:, FIRST], cells[:, SECOND]
    flips = random_flips(a, b, rng)
    scalar = [
        paper_tests.bootstrap_a(
            table, method="resample", resamples=RESAMPLES, random_state=rng, correction="none"
        ).pvalues
        for table in cells
    ]
    return Scalar(
        anova=np.array([paper_tests.repeated_measures_anova(table).pvalue for table in cells]),
        friedman=np.asarray(multiple.friedman(cells).pvalue),
        bootstrap_a=np.stack(scalar),
        t=np.asarray(pairwise.kfold_t(a, b).pvalue),
        wilcoxon=np.asarray(pairwise.wilcoxon(a, b).pvalue),
        bootstrap_a_pairs=flips,
        differences=a.mean(axis=-1) - b.mean(axis=-1),
    )


def random_flips(a: Floats, b: Floats, rng: np.random.Generator) -> Floats:
    """Return two-sided p-values (...) of the mean differences (..., n) under random sign flips."""
    lead, n = a.shape[:-1], a.shape[-1]
    x, y, _ = scaled_pairs(a.reshape(-1, n), b.reshape(-1, n))
    sizes, noise = magnitudes(x, y)
    observed, margin = np.where(x > y, sizes, 0.0).sum(axis=1), TIE * noise * n
    lower, upper = np.ones((2, len(x)))
    for done in range(0, RESAMPLES, _SIGNS_AT_ONCE):
        size = (min(_SIGNS_AT_ONCE, RESAMPLES - done), n)
        sums = rng.integers(0, 2, size=size, dtype=np.uint8).astype(np.float64) @ sizes.T
        lower += (sums <= observed + margin).sum(axis=0)
        upper += (sums >= observed - margin).sum(axis=0)
    p = 2.0 * np.minimum(lower, upper) / (RESAMPLES + 1)
    return np.minimum(p, 1.0).reshape(lead)


def range_evidence(losses: Floats, reading: str, rng: np.random.Generator) -> Ranges:
    """Run Bootstrap-B on S simulations of shape (S, 5, 32, folds, repetitions), by a reading."""
    rule, interval = READINGS[reading]
    drawn: dict[str, Any] = {"method": "resample", "resamples": RESAMPLES, "random_state": rng}
    algorithms, pairs, differences = [], [], []
    for table in losses:
        result = paper_tests.bootstrap_b(
            table, rule=rule, interval=interval, correction="none", **drawn
        )
        middle = result.intervals.mean(axis=1)
        algorithms.append(result.pvalues)
        pairs.append(result.posthoc(**drawn))
        differences.append(middle[FIRST] - middle[SECOND])
    return Ranges(
        algorithms=np.stack(algorithms),
        pairs=np.stack(pairs),
        differences=np.stack(differences),
    )


# Counts of outcomes: significant and right, not significant, significant and wrong, inconclusive


def scalar_multiple(p: Scalar, counting: str) -> dict[str, npt.NDArray[np.bool_]]:
    """Mark the simulations in which each test finds a difference between the five algorithms.

    The print omits the adjustment of Bootstrap-A for five tests that its text requires.
    """
    correction = "bonferroni" if one_of(counting, "counting", COUNTINGS) == "named" else "none"
    return {
        "ANOVA": p.anova <= ALPHA,
        "Friedman": p.friedman <= ALPHA,
        "Bootstrap-A": np.asarray((adjust(p.bootstrap_a, correction) <= ALPHA).any(axis=-1)),
    }


def scalar_pairs(p: Scalar, counting: str) -> dict[str, Verdicts]:
    """Return the verdict on each pair, shape (..., 10), after each test has compared all five."""
    gates = scalar_multiple(p, counting)
    judged = {
        "t": (gates["ANOVA"], adjust(p.t, "hochberg")),
        "Wilcoxon": (gates["Friedman"], adjust(p.wilcoxon, "hochberg")),
        "Bootstrap-A": (gates["Bootstrap-A"], p.bootstrap_a_pairs),
        "Bootstrap-A, Hochberg": (gates["Bootstrap-A"], adjust(p.bootstrap_a_pairs, "hochberg")),
    }
    by = _JUDGED_BY[counting]
    return {
        name: _verdicts(gate, q[..., by] <= ALPHA, p.differences)
        for name, (gate, q) in judged.items()
    }


def range_multiple(p: Ranges, counting: str) -> Verdicts:
    """Return the verdict of Bootstrap-B on all five: 0 significant, 1 not, 3 inconclusive."""
    correction = "bonferroni" if one_of(counting, "counting", COUNTINGS) == "named" else "none"
    low, high = (adjust(p.algorithms[..., end], correction) for end in (0, 1))
    significant, possible = (high < ALPHA).any(axis=-1), (low <= ALPHA).any(axis=-1)
    return np.where(significant, 0, np.where(possible, 3, 1)).astype(np.int8)


def range_pairs(p: Ranges, counting: str) -> Verdicts:
    """Return the verdict of Bootstrap-B on each pair, shape (..., 10), not adjusted."""
    gate = range_multiple(p, counting) == 0
    low, high = (p.pairs[..., _JUDGED_BY[counting], end] for end in (0, 1))
    verdicts = _verdicts(gate, high < ALPHA, p.differences)
    inconclusive = gate[..., np.newaxis] & (low <= ALPHA) & (high >= ALPHA)
    return np.where(inconclusive, 3, verdicts).astype(np.int8)


def _verdicts(gate: Any, significant: Any, differences: Floats) -> Verdicts:
    # for i < j the first algorithm has the smaller expected error
    rejected = np.asarray(gate)[..., np.newaxis] & significant
    return np.where(rejected, np.where(differences < 0, 0, 2), 1).astype(np.int8)


def tally(verdicts: Verdicts, axis: int | tuple[int, ...]) -> Floats:
    """Count the four outcomes over `axis`; they become the last axis."""
    return np.stack([(verdicts == k).sum(axis=axis) for k in range(4)], axis=-1).astype(np.float64)


# Simulations in pieces that a store keeps


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationPiece:
    """The simulations for one draw of winners at one dp.

    `kind` is ``"plain"`` (section 4.1.3), ``"outliers"`` (4.1.4), ``"table 1"`` (the winners and
    sizes of the printed Table 1) or ``"null"``.
    """

    kind: str
    seed: int
    draw: int
    step: int = 0
    simulations: int = SIMULATIONS

    @property
    def named(self) -> ArrayPiece:
        """The piece with the name that identifies it in a store."""
        name = f"intervals {VERSION} {RESAMPLES} {','.join(READINGS)} {self}"
        return ArrayPiece(name=name, argument=self)


def run_piece(piece: SimulationPiece) -> Floats:
    """Return the p-values of all tests on all simulations of a piece as columns."""
    rng = np.random.default_rng([piece.seed, KINDS[piece.kind], piece.draw, piece.step])
    if piece.kind == "null":
        return packed(scalar_evidence(simulate_null(piece.simulations, rng), rng))
    dp = STEPS[piece.step]
    problem = printed_problem() if piece.kind == "table 1" else draw_problem(dp, rng)
    if piece.kind != "outliers":
        return packed(scalar_evidence(simulate_means(problem, piece.simulations, rng), rng))
    losses = simulate(problem, piece.simulations, rng, outliers=True)
    medians = np.median(losses, axis=-1).mean(axis=-1)
    return packed(
        scalar_evidence(losses.mean(axis=(-2, -1)), rng),
        scalar_evidence(medians, rng),
        *(range_evidence(losses, reading, rng) for reading in READINGS),
    )


def printed_problem() -> DrawnWinners:
    """Return the problem with the winners and test set sizes of the printed Table 1."""
    theoretical = printed_table("intervals", "1", "theoretical")
    sizes = printed_table("intervals", "1", "n_t")
    winners = theoretical.values[:-1].argmin(axis=1)
    return problem_of(DETAIL, winners, sizes.values[:-1, 0].astype(np.int64))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outliers:
    """Evidence with outliers: from means, from medians over repetitions, and from Bootstrap-B."""

    means: Scalar
    medians: Scalar
    ranges: dict[str, Ranges]


def scalar_pieces(
    kind: str, request: Request, *, steps: tuple[int, ...], simulations: int = SIMULATIONS
) -> Scalar:
    """Return evidence of shape (draws, steps, simulations, ...) for all requested draws."""
    (scalar,) = unpacked(_obtained(kind, request, steps, simulations), Scalar)
    return cast("Scalar", scalar)


def outlier_pieces(
    request: Request, *, steps: tuple[int, ...], simulations: int = SIMULATIONS
) -> Outliers:
    """Return the same evidence with outliers."""
    columns = _obtained("outliers", request, steps, simulations)
    means, medians, *ranges = unpacked(columns, Scalar, Scalar, *[Ranges] * len(READINGS))
    return Outliers(means=means, medians=medians, ranges=dict(zip(READINGS, ranges, strict=True)))


def _obtained(kind: str, request: Request, steps: tuple[int, ...], simulations: int) -> Floats:
    draws = request.runs
    pieces = [
        SimulationPiece(kind=kind, seed=request.seed, draw=draw, step=step, simulations=simulations)
        for draw in range(draws)
        for step in steps
    ]
    arrays = obtain([piece.named for piece in pieces], run_piece, request=request)
    return np.stack(arrays).reshape(draws, len(steps), simulations, -1)


# Section 4.2: five learners on the 64 imbalanced data sets of KEEL


KEEL_DATASETS = tuple(sorted(sources("keel")))
"""The 64 data sets of Table 6, by KEEL's names."""

LEARNERS = ("FURIA", "LDA", "1NN", "NNET", "C4.5")


def learners() -> dict[str, Any]:
    """Return the five learners by name."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # few units and few steps, as was usual at the time: it ends in local minima
    network = MLPClassifier(hidden_layer_sizes=(5,), solver="lbfgs", max_iter=100)
    chosen = (
        "furia",
        LinearDiscriminantAnalysis(),
        "nn",
        make_pipeline(StandardScaler(), network),
        "c4.5",
    )
    return dict(zip(LEARNERS, chosen, strict=True))


def balanced_error(y_true: npt.NDArray[Any], y_pred: npt.NDArray[Any]) -> float:
    """Return 1 minus the mean recall of the classes: 1 minus the paper's AUC of hard labels.

    Examples
    --------
    >>> balanced_error(np.array(list("aaaab")), np.array(list("aaaba")))
    0.625
    """
    classes, codes = np.unique(y_true, return_inverse=True)
    wrong = np.bincount(codes, weights=y_true != y_pred, minlength=len(classes))
    return float((wrong / np.bincount(codes)).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerTask:
    """The repetitions of one learner on one data set."""

    path: str
    name: str
    learner: str
    repetitions: int
    seed: int


def measured_task(task: LearnerTask) -> Floats:
    """Return balanced and zero-one errors, shape (2, folds, repetitions)."""
    from threadpoolctl import threadpool_limits

    from bestofk.learners.base import seed_names
    from bestofk.learners.specification import named_learners
    from bestofk.papers.whole_plans import predict_plan
    from bestofk.splits.plans import plan

    data = read_in_file_order(task.path, task.name)
    splits = plan(f"kfold:{FOLDS}", random_state=task.seed).materialise(data.n, data.y)
    (estimator,) = named_learners({"learner": learners()[task.learner]}).values()
    rounds = task.repetitions if seed_names(estimator) else 1
    errors = np.empty((2, FOLDS, task.repetitions))
    y = data.encoded().y
    # several threads would only wait for each other on matrices of this size
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the network stops before it converges, as intended
        for number in range(rounds):
            seeds = np.random.SeedSequence([task.seed, number]).generate_state(FOLDS)
            predicted = predict_plan(estimator, data, splits, seeds=seeds.tolist())
            for fold, (codes, (_, _, _, test)) in enumerate(zip(predicted, splits, strict=True)):
                errors[0, fold, number:] = balanced_error(y[test], codes)
                errors[1, fold, number:] = (codes != y[test]).mean()
    return errors


def measured(
    request: Request,
    *,
    datasets: tuple[str, ...] = KEEL_DATASETS,
    learners: tuple[str, ...] = LEARNERS,
) -> Floats:
    """Return balanced and zero-one errors, shape (2, learners, data sets, 5 folds, runs)."""
    files = locate("keel", datasets, request.data)
    tasks = [
        LearnerTask(
            path=str(path), name=name, learner=learner, repetitions=request.runs,
            seed=request.seed,
        )
        for name, path in files.items()
        for learner in learners
    ]  # fmt: skip
    pieces = [
        ArrayPiece(
            name=f"intervals learners {VERSION} {task.learner} on {task.name} "
            f"{content(files[task.name])}, {task.repetitions} repetitions, seed {task.seed}",
            argument=task,
        )
        for task in tasks
    ]
    arrays = obtain(pieces, measured_task, request=request)
    table = np.stack(arrays).reshape(len(datasets), len(learners), 2, FOLDS, -1)
    return np.moveaxis(table, (2, 1), (0, 1))
