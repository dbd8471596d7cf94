"""A comparison over several data sets stops when the remaining ones cannot matter."""

import numpy as np
import pytest

import bestofk as bk
from bestofk.data.reading import read_data

SERIAL = bk.Execution(engine="serial", progress=False)

LEARNERS = ["max", "nmc", "nn"]
PLANNED = 8


@pytest.fixture(scope="module")
def data():
    """Two classes that lie apart, so that nmc and nn are far ahead of max."""
    datasets = []
    for seed in range(PLANNED):
        rng = np.random.default_rng(seed)
        y = np.arange(24) % 2
        X = rng.normal(0, 1.2, (24, 2)) + 2.0 * y[:, np.newaxis]
        datasets.append(read_data(X, np.where(y, "yes", "no"), name=f"set {seed}"))
    return datasets


def raced(data, **options):
    defaults = {
        "prefer": "listed",
        "test": "wilcoxon",
        "cv": "2x3",
        "stop": "settled",
        "n_jobs": 1,
        "execution": SERIAL,
    }
    return bk.compare(LEARNERS, data=data, **{**defaults, **options})


def facts(study):
    """All that is said, but for what was measured by a clock."""
    clock = ("fit_time", "predict_time")
    said = study.to_dict()
    said["table"] = [{k: v for k, v in row.items() if k not in clock} for row in said["table"]]
    return said


@pytest.fixture(scope="module")
def serial(data):
    return raced(data)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"test": "sign", "prefer": None},
        {"prefer": None, "settings": bk.Settings(family="control", control="nmc")},
        {
            "stop": bk.StopRule(target="order"),
            "settings": bk.Settings(family="all", correction="bergmann-hommel"),
        },
        {"cv": "kfold:3", "execution": bk.Execution(repetitions=2)},
    ],
)
def test_all_data_sets_decide_the_same(data, options):
    stopped = raced(data, **options)
    full = raced(data, **{**options, "stop": None})
    assert stopped.outcome.race.settled
    assert stopped.outcome.race.exact
    assert stopped.outcome.race.unit == "data set"
    assert stopped.recommended == full.recommended
    assert stopped.decision.ranking in (full.decision.ranking, full.decision.ranking[:1])
    assert set(stopped.decision.claims) <= set(full.decision.evidence.claims())
    used = stopped.scores.losses
    assert np.array_equal(used[~np.isnan(used)], full.scores.losses[~np.isnan(used)])
    assert stopped.outcome.race.fits == (~np.isnan(used)).sum()


def test_fits_are_saved_and_every_word_is_about_data_sets(serial):
    race = serial.outcome.race
    assert race.fits < race.planned_fits == 3 * PLANNED * 6
    assert race.risk == 0
    out = next(one for one in race.learners if one.stopped)
    assert "the rest of the plan cannot change the decision" in serial.headline
    assert race.planned_runs == PLANNED
    text = serial.explain()
    assert f"stopped after data set {out.runs}: " in text
    assert "each pair is compared on the data sets that both learners completed" in text
    assert "over different numbers of runs" not in text


def test_two_workers_and_a_store_say_the_same(serial, data, tmp_path):
    store = tmp_path / "study.db"
    again = raced(data, store=store, n_jobs=2, execution=bk.Execution(engine="processes"))
    assert facts(again) == facts(serial)
    reopened = bk.open_study(store)
    assert facts(reopened) == facts(serial)
    assert reopened.explain() == again.explain()


def test_losses_without_a_bound_are_run_in_full_where_the_smallest_mean_decides():
    rng = np.random.default_rng(0)
    data = [
        read_data(X := rng.normal(size=(12, 1)), X[:, 0] + rng.normal(size=12), name=f"{n}")
        for n in range(7)
    ]
    learners = ["ridge=sklearn.linear_model:Ridge()", "mean=sklearn.dummy:DummyRegressor()"]
    study = bk.compare(
        learners, data, test="wilcoxon", cv="kfold:3", stop="settled", execution=SERIAL
    )
    assert study.outcome.race.fits == study.outcome.race.planned_fits
