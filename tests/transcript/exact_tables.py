"""Tables of losses with exact means, so that sentences have short numbers."""

import numpy as np

import bestofk as bk

NAMES = ("nmc", "logistic", "c4.5", "nn", "naive-bayes", "forest", "svm", "boosting")
DIMS = ("learner", "dataset", "run", "fold", "repetition")


def around(means, shape, spread, seed):
    """Values of that shape for each learner, with exactly that mean and about that spread."""
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape))
    noise = rng.normal(size=(len(means), size))
    noise -= noise.mean(axis=1, keepdims=True)
    spreads = np.broadcast_to(np.asarray(spread, dtype=float), len(means))
    values = np.asarray(means, dtype=float)[:, None] + spreads[:, None] * noise
    return values.reshape(len(means), *shape)


def folds(means, *, spread=0.01, runs=10, folds=10, seed=1, names=NAMES, loss="zero-one", **more):
    """Runs of cross-validation on one data set."""
    values = around(means, (1, runs, folds, 1), spread, seed)
    return bk.Scores(
        values, dims=DIMS, learners=names[: len(means)], datasets=["wine"], loss_name=loss, **more
    )


def sets(means, *, n=12, spread=0.01, seed=1, names=NAMES, loss="zero-one", **more):
    """One mean on each of n data sets."""
    values = around(means, (n,), spread, seed)
    return exactly(values, names=names, loss=loss, **more)


def exactly(values, *, names=NAMES, loss="zero-one", **more):
    """These losses on data sets."""
    values = np.asarray(values, dtype=float)
    return bk.Scores(
        values, dims=("learner", "dataset"), learners=names[: len(values)], loss_name=loss,
        **more,
    )  # fmt: skip


def instances(wrong, *, names=NAMES, loss="zero-one"):
    """Losses on the instances of one test set."""
    wrong = np.asarray(wrong, dtype=float)
    return bk.Scores(
        wrong, dims=("learner", "instance"), learners=names[: len(wrong)], loss_name=loss
    )
