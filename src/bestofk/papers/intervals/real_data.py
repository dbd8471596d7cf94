"""Section 4.2: five learners on the 64 imbalanced data sets of KEEL, through `compare`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.papers.account import Request
from bestofk.papers.collections import locate

DATASETS = (
    "cleveland-0_vs_4", "ecoli-0-1-3-7_vs_2-6", "ecoli-0-1-4-6_vs_5", "ecoli-0-1-4-7_vs_2-3-5-6",
    "ecoli-0-1-4-7_vs_5-6", "ecoli-0-1_vs_2-3-5", "ecoli-0-1_vs_5", "ecoli-0-2-3-4_vs_5",
    "ecoli-0-2-6-7_vs_3-5", "ecoli-0-3-4-6_vs_5", "ecoli-0-3-4-7_vs_5-6", "ecoli-0-3-4_vs_5",
    "ecoli-0-4-6_vs_5", "ecoli-0-6-7_vs_3-5", "ecoli-0-6-7_vs_5", "ecoli-0_vs_1", "ecoli1",
    "ecoli2", "ecoli3", "ecoli4", "glass-0-1-2-3_vs_4-5-6", "glass-0-1-4-6_vs_2",
    "glass-0-1-5_vs_2", "glass-0-1-6_vs_2", "glass-0-1-6_vs_5", "glass-0-4_vs_5",
    "glass-0-6_vs_5", "glass0", "glass1", "glass2", "glass4", "glass5", "glass6", "haberman",
    "iris0", "led7digit-0-2-4-5-6-7-8-9_vs_1", "new-thyroid1", "new-thyroid2",
    "page-blocks-1-3_vs_4", "page-blocks0", "pima", "segment0", "shuttle-c0-vs-c4",
    "shuttle-c2-vs-c4", "vehicle0", "vehicle1", "vehicle2", "vehicle3", "vowel0", "wisconsin",
    "yeast-0-2-5-6_vs_3-7-8-9", "yeast-0-2-5-7-9_vs_3-6-8", "yeast-0-3-5-9_vs_7-8",
    "yeast-0-5-6-7-9_vs_4", "yeast-1-2-8-9_vs_7", "yeast-1-4-5-8_vs_7", "yeast-1_vs_7",
    "yeast-2_vs_4", "yeast-2_vs_8", "yeast1", "yeast3", "yeast4", "yeast5", "yeast6",
)  # fmt: skip
"""The 64 data sets of Table 6, by KEEL's names."""

LEARNERS = ("FOREST", "LDA", "1NN", "NNET", "C4.5")
"""FURIA has no implementation in Python; a small random forest, stochastic too, stands in."""
FOLDS = 5


def learners() -> dict[str, Any]:
    """The five learners by name."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # few units and few steps, as nets of the time had: it ends in local minima
    network = MLPClassifier(hidden_layer_sizes=(5,), solver="lbfgs", max_iter=100)
    chosen = (
        RandomForestClassifier(n_estimators=20),
        LinearDiscriminantAnalysis(),
        "nn",
        make_pipeline(StandardScaler(), network),
        "c4.5",
    )
    return dict(zip(LEARNERS, chosen, strict=True))


def balanced_error(y_true: npt.NDArray[Any], y_pred: npt.NDArray[Any]) -> float:
    """1 less the mean recall of the classes in the test rows: the paper's AUC, of hard labels.

    Examples
    --------
    >>> balanced_error(np.array(list("aaaab")), np.array(list("aaaba")))
    0.625
    """
    classes, place = np.unique(y_true, return_inverse=True)
    wrong = np.bincount(place, weights=y_true != y_pred, minlength=len(classes))
    return float((wrong / np.bincount(place)).mean())


def measured(request: Request, loss: Any, *, datasets: tuple[str, ...] = DATASETS) -> Any:
    """Losses of the five learners: an array (5, data sets, 5 folds, repetitions).

    The store of the request is that of `compare`: what it holds is not run again.
    """
    from threadpoolctl import threadpool_limits

    import bestofk as bk

    files = locate("keel", datasets, request.data)
    data = [
        bk.read_dataset(path, target="class", name=name, task="classification")
        for name, path in files.items()
    ]
    # several threads on matrices of this size only wait for each other
    with threadpool_limits(1):
        study = bk.compare(
            learners(),
            data=data,
            plan=f"kfold:{FOLDS}",
            repetitions=request.runs or 1,
            loss=loss,
            store=request.store,
            n_jobs=request.jobs,
            engine=request.engine,
            scheduler=request.scheduler,
            random_state=request.seed,
            progress=False,
        )
    dims = study.losses.dims
    wanted = ("algorithm", "dataset", "run", "fold", "repetition")
    values = np.asarray(study.losses.values)
    missing = tuple(k for k, name in enumerate(wanted) if name not in dims)
    ordered = np.transpose(values, [dims.index(name) for name in wanted if name in dims])
    return np.expand_dims(ordered, missing)[:, :, 0]
