"""The learners of Table 7 by the rules of the Weka version that the paper used.

Weka's sources from before 2004 differ from the built-in `nn`, `tan` and `voted-perceptron`:

- *nn* is IB1. It gets its training rows in the shuffled order of the run and uses the first of tied
  rows. The built-in learner uses the lowest row of the data set, the same in every run.
- *vp* shuffles its training rows before its one pass, always with the seed 1. The built-in learner
  uses the given order.
- *tan* is a Bayesian network that starts as naive Bayes; columns have at most two parents. The
  documentation of that limit in ``BayesNet`` says that 2 learns a tree augmented network; a class
  for it appeared only in 2004. An arc is added only if it raises the Bayesian score (0.5 per
  cell), so independent columns get few arcs. The built-in learner links all columns. Of Weka's
  searches, this is the only one that does not depend on the order of the columns.

Shuffled rows make the runs less similar, so the test rejects less often.

References
----------
R. R. Bouckaert, BayesNet.java (revision 1.7) and BayesNetB.java (1.1); E. Frank,
VotedPerceptron.java (1.9); S. Inglis, L. Trigg and E. Frank, IB1.java. Weka, University of Waikato.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes
from bestofk.learners.kernels.library import Kernel
from bestofk.papers.calibrated.experiments import ShuffledRun, shuffled_runs
from bestofk.papers.lab.problems.generator import DataProblem
from bestofk.papers.learners.tan import gamma_table

SEED = 1
"""The seed with which Weka's voted perceptron shuffles its training rows."""


def weka_losses(problem: DataProblem, *, sets: int, splitting: str, seed: int) -> Floats:
    """Return error rates (sets, runs, folds, learners) of nn, tan and vp by a plan.

    The problem has binary columns. A random split is a run of two folds.
    """
    runs = shuffled_runs(problem, sets=sets, splitting=splitting, seed=seed)
    return np.array([
        [np.stack(list(run_losses(run).values()), axis=-1) for run in data_set] for data_set in runs
    ])  # fmt: skip


def run_losses(run: ShuffledRun) -> dict[str, Floats]:
    """Return error rates by fold of the three learners in one run."""
    encoded, folds, sizes = run.encoded, run.folds, run.sizes()
    assert (encoded.cardinality == 2).all()
    codes = encoded.values.astype(np.int64)
    offset = 2 * np.arange(encoded.d + 1)
    inputs = np.column_stack([encoded.values, np.ones(encoded.n)])
    wrong = {
        "nn": first_neighbour_errors(codes, encoded.y, folds, len(sizes)),
        "tan": network_errors(
            codes, offset, encoded.y, encoded.n_classes, folds, len(sizes),
        ),
        "vp": voted_perceptron_errors(inputs, encoded.y == 1, folds, len(sizes), SEED),
    }  # fmt: skip
    return {name: counts / sizes for name, counts in wrong.items()}


_NEIGHBOUR = Kernel("weka_first_neighbour", "*i64 *i64 i64 i64 *i64 i64 &i64")
_PERCEPTRON = Kernel("weka_perceptron", "*f64 *bool i64 i64 *i64 i64 i64 &i64")
_NETWORK = Kernel("weka_network", "*i64 *i64 *i64 i64 i64 i64 *f64 *i64 i64 &i64")


def first_neighbour_errors(codes: Codes, y: Codes, folds: Codes, n_folds: int) -> Codes:
    """Count the errors of predicting the class of the first nearest training row."""
    wrong = np.empty(n_folds, dtype=np.int64)
    _NEIGHBOUR(codes, y, *codes.shape, folds, n_folds, wrong)
    return wrong


def voted_perceptron_errors(
    inputs: Floats, second: npt.NDArray[np.bool_], folds: Codes, n_folds: int, seed: int
) -> Codes:
    """Count the errors of the voted perceptron on training rows shuffled with one seed."""
    wrong = np.empty(n_folds, dtype=np.int64)
    _PERCEPTRON(inputs, second, *inputs.shape, folds, n_folds, seed, wrong)
    return wrong


def network_errors(
    codes: Codes, offset: Codes, y: Codes, n_classes: int, folds: Codes, n_folds: int
) -> Codes:
    """Count the errors of naive Bayes with arcs between columns.

    In each fold, the arc that raises the score most is added until none raises it.
    """
    n, d = codes.shape
    gammas = gamma_table(n, int(np.diff(offset).max()))
    wrong = np.empty(n_folds, dtype=np.int64)
    _NETWORK(codes, offset, y, n, d, n_classes, gammas, folds, n_folds, wrong)
    return wrong
