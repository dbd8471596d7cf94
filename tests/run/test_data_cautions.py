"""Cautions about the data at hand appear if the data show them, and their advice works."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import bestofk as bk

IRIS, SPECIES = load_iris(return_X_y=True)
WINE, CULTIVAR = load_wine(return_X_y=True)
RARE = np.array(["no"] * 147 + ["yes"] * 3)
# sorted by class: three folds are the three classes, and no fold trains on its test class
SORTED = "100% of the test rows of 'data' have a class that no training row of their split has"
# standard deviations of proline (col 12) 314.9 and of nonflavanoid phenols (col 7) 0.1245
SCALES = "vary 2,530 times as much as those of"
MAJORITY = "98.0% of the rows of 'data' are 'no'"  # 147 of 150


@pytest.mark.parametrize(
    ("learners", "X", "y", "options", "caution"),
    [
        ("max,nmc", IRIS, SPECIES, {"cv": KFold(3)}, SORTED),
        ("max,nmc", IRIS, SPECIES, {"cv": StratifiedKFold(3)}, None),
        ([SVC(C=10), "max"], WINE, CULTIVAR, {}, SCALES),
        ([make_pipeline(SimpleImputer(), SVC(C=10)), "max"], WINE, CULTIVAR, {}, SCALES),
        ([GridSearchCV(SVC(), {"C": [1, 2]}, cv=2), "max"], WINE, CULTIVAR, {}, SCALES),
        (["make_pipeline(StandardScaler(), SVC(C=10))", "max"], WINE, CULTIVAR, {}, None),
        (
            [GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1]}, cv=2), "max"],
            WINE,
            CULTIVAR,
            {},
            None,
        ),
        ([SVC(C=10), "max"], IRIS, SPECIES, {}, None),
        ([SVC().fit(IRIS, SPECIES), "max"], IRIS, SPECIES, {}, "compare_fitted scores"),
        ("max,naive-bayes", IRIS, RARE, {}, MAJORITY),
        ("max,naive-bayes", IRIS, RARE, {"scoring": "balanced_accuracy"}, None),
        ("max,naive-bayes", IRIS, RARE, {"scoring": "average_precision"}, None),
    ],
)
def test_a_caution_appears_only_if_the_data_show_it(learners, X, y, options, caution):
    study = bk.compare(learners, X, y, progress=False, **{"cv": "kfold:3", **options})
    notes = [note for note in study.outcome.notes if not note.startswith("The splits are")]
    if caution is None:
        assert notes == []
        return
    (note,) = notes
    assert caution in note
    assert note in study.explain()


def test_the_advice_on_untrained_classes_and_scales_works():
    study = bk.compare("max,nmc", IRIS, SPECIES, cv=KFold(3), progress=False)
    plan = study.outcome.notes[0].split("the plan ")[1].split()[0]
    errors = bk.compare("max,nmc", IRIS, SPECIES, cv=plan, progress=False).scores.losses
    assert study.scores.losses.min() == 1.0
    assert errors[1].mean() < 0.2
    study = bk.compare([SVC(C=10), "max"], WINE, CULTIVAR, cv="kfold:3", progress=False)
    learner = study.outcome.notes[0].split("use ")[1].rstrip(".")
    better = bk.compare([learner, "max"], WINE, CULTIVAR, cv="kfold:3", progress=False)
    assert better.scores.losses[0].mean() < study.scores.losses[0].mean() / 2
