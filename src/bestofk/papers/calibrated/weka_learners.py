"""The learners of Table 7 by the rules of the Weka that the paper had.

Where its sources from before 2004 differ from our own `nn`, `tan` and `voted-perceptron`:

- *nn* is IB1. Its training rows come as the run shuffled them, and it takes the first of tied ones;
  ours takes the lowest row of the data set, the same in every run.
- *vp* shuffles its training rows before its one pass, always with the seed 1; ours takes them as
  they come.
- *tan* is a Bayesian network that starts as naive Bayes and whose columns have at most two parents:
  the text on that limit in ``BayesNet`` says that 2 learns a tree augmented network, and a class of
  its own for that came in 2004 only. An arc is added only if it raises the Bayesian score (0.5 a
  cell), so that columns which have nothing to do with each other get few; ours links all columns.
  Of Weka's searches this is the one that no order of the columns restricts.

Shuffled rows make the runs less alike, so that the test rejects less often.

References
----------
R. R. Bouckaert, BayesNet.java (revision 1.7) and BayesNetB.java (1.1); E. Frank,
VotedPerceptron.java (1.9); S. Inglis, L. Trigg and E. Frank, IB1.java. Weka, University of Waikato.
"""

from __future__ import annotations

import numpy as np

from bestofk._base.checks import Floats
from bestofk.lab.problems.generator import DataProblem
from bestofk.papers.calibrated.experiments import ShuffledRun, shuffled_runs

SEED = 1
"""With which Weka's voted perceptron shuffles its training rows."""


def weka_losses(problem: DataProblem, *, sets: int, runs: int, seed: int) -> dict[str, Floats]:
    """(sets, runs, folds) error rates of nn, tan and vp on problems with two values a column."""
    found: dict[str, list[list[Floats]]] = {"nn": [], "tan": [], "vp": []}
    for data_set in shuffled_runs(problem, sets=sets, runs=runs, seed=seed):
        by_run = [run_losses(run) for run in data_set]
        for name, losses in found.items():
            losses.append([one[name] for one in by_run])
    return {name: np.array(losses) for name, losses in found.items()}


def run_losses(run: ShuffledRun) -> dict[str, Floats]:
    """Error rates by fold of the three learners in one run."""
    from bestofk.papers.calibrated import weka_kernel as kernel

    encoded, folds, sizes = run.encoded, run.folds, run.sizes()
    assert (encoded.cardinality == 2).all()
    codes = encoded.values.astype(np.int64)
    offset = 2 * np.arange(encoded.d + 1)
    inputs = np.column_stack([encoded.values, np.ones(encoded.n)])
    wrong = {
        "nn": kernel.first_neighbour_errors(codes, encoded.y, folds, len(sizes)),
        "tan": kernel.network_errors(
            codes, offset, encoded.y, encoded.n_classes, folds, len(sizes),
        ),
        "vp": kernel.voted_perceptron_errors(inputs, encoded.y == 1, folds, len(sizes), SEED),
    }  # fmt: skip
    return {name: counts / sizes for name, counts in wrong.items()}
