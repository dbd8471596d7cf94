"""Early stopping: the same runs and the same decision on every engine, resumed or not."""

import json
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import Interrupted
from bestofk.decide.evidence import Family
from bestofk.decide.stopping import PlannedT, StopRule, replay
from bestofk.run.progress import Progress

sys.path.insert(0, str(Path(__file__).parents[1]))
import strange_learners as strange

SERIAL = bk.Execution(engine="serial", progress=False)

pytestmark = pytest.mark.usefixtures("preloaded_workers")
LEARNERS = {
    "max": "max", "nmc": "nmc(scale=None)", "naive-bayes": "naive-bayes", "c4.5": "c4.5",
}  # fmt: skip
"""Without scaling, nmc is in the middle on wine."""


def raced(**options):
    given = {"data": "wine", "prefer": "listed", "cv": "10x10", "stop": "settled",
             "progress": False, "n_jobs": 1}  # fmt: skip
    return bk.compare(**{"learners": LEARNERS, **given, **options})


def told(study):
    """All that is said, but for what was measured by a clock."""
    clock = ("fit_time", "predict_time")
    said = study.to_dict()
    said["table"] = [{k: v for k, v in row.items() if k not in clock} for row in said["table"]]
    return said


@pytest.fixture(scope="module")
def serial():
    return raced(execution=bk.Execution(engine="serial"))


@pytest.fixture(scope="module")
def full():
    return bk.compare(LEARNERS, "wine", prefer="listed", cv="10x10", progress=False, n_jobs=1)


def test_the_runs_are_those_of_a_replay_on_the_full_plan(serial, full):
    # the statistics alone, on the losses of all runs; the sizes are those of ten folds of 178 rows
    losses = full.scores.losses[:, 0, :, :, 0]
    sizes = full.scores.design.n_test
    test = PlannedT(
        runs=10, folds=10, df=99, test_share=sum(sizes) / sum(full.scores.design.n_train),
        span=1.0, step=1 / np.mean(sizes),
    )  # fmt: skip
    family = Family(name="best", learners=4, alpha=0.05, correction="bonferroni")
    alone = replay(losses, test, family, StopRule(), floor=(1 / np.mean(sizes)) ** 2)
    assert list(serial.outcome.race.runs.values()) == alone.runs.tolist()
    assert serial.recommended == full.recommended
    assert set(serial.decision.claims) <= set(full.decision.evidence.claims())
    used = serial.scores.losses
    assert np.array_equal(used[~np.isnan(used)], full.scores.losses[~np.isnan(used)])
    assert serial.outcome.race.fits == (~np.isnan(used)).sum() < 400


class Breaks(Progress):
    """Breaks off after so many fits."""

    def __init__(self, after):
        self.left = after

    def item(self, *, label, failed):
        del label, failed
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def test_what_a_store_holds_beyond_the_race_changes_nothing(serial, full, tmp_path):
    store = tmp_path / "study.db"
    whole = bk.compare(
        LEARNERS, "wine", prefer="listed", cv="10x10", progress=False, store=store, n_jobs=1
    )
    found = raced(store=store)
    assert told(found) == told(serial)
    # both decisions are kept, and each is found again
    assert told(bk.open_study(store)) == told(serial)
    assert told(bk.open_study(store, decision=1)) == told(whole) == told(full)


@pytest.mark.parametrize(
    "options",
    [
        {"stop": bk.StopRule(target="order")},
        {"prefer": None},
        {"prefer": "fit_time", "cv": "10x5+nested"},
        {"prefer": None, "settings": bk.Settings(family="control", control="nmc")},
        {"cv": "6x5", "execution": bk.Execution(repetitions=2)},
        {"scoring": "log-loss", "learners": ["max", "naive-bayes", "c4.5"], "prefer": None},
    ],
)
def test_reopened_it_says_the_same(tmp_path, options):
    store = tmp_path / "study.db"
    made = raced(store=store, **options)
    again = bk.open_study(store)
    assert again.to_dict() == made.to_dict()
    assert again.explain() == made.explain()


def test_where_all_runs_are_needed_the_decision_is_the_ordinary_one():
    # losses of any size without risk: no claim is sure before the end
    options = {"data": "diabetes", "cv": "3x3", "progress": False, "n_jobs": 1}
    learners = ["ridge=sklearn.linear_model:Ridge()", "mean=sklearn.dummy:DummyRegressor()"]
    plain = bk.compare(learners, **options)
    same = bk.compare(learners, stop=bk.StopRule(risk=0.0), **options)
    assert same.outcome.race.fits == same.outcome.race.planned_fits == 18
    assert type(same.decision) is type(plain.decision)
    assert bk.Result(same.decision).to_dict() == bk.Result(plain.decision).to_dict()
    assert "All 18 fits of the plan were needed." in same.explain()
    assert not any(one.stopped for one in same.outcome.race.learners)


@pytest.mark.parametrize(
    "options",
    [
        {"groups": True, "cv": "group-6x5"},
        {"sample_weight": True},
        {"test": "use-all-data", "settings": bk.Settings(test_options={"df": 10})},
        {"settings": bk.Settings(family="all", correction="bergmann-hommel")},
        {"cv": "6x5+nested"},
        {"prefer": {"max": 1, "nmc": 1, "c4.5": 1}},
    ],
)
def test_without_risk_the_full_plan_decides_the_same(options):
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True, as_frame=True)
    rng = np.random.default_rng(3)
    columns = {"groups": rng.integers(0, 40, len(y)), "sample_weight": 0.5 + rng.random(len(y))}
    given = {"cv": "6x5", "prefer": "listed", "progress": False, "n_jobs": 1, **options}
    given |= {name: columns[name] for name in columns.keys() & options.keys()}
    learners = ["max", "nmc", "c4.5"]
    full = bk.compare(learners, X, y, **given)
    stopped = bk.compare(learners, X, y, stop=bk.StopRule(risk=0.0), **given)
    assert stopped.outcome.race.settled
    assert stopped.outcome.race.exact
    assert stopped.recommended == full.recommended
    assert set(stopped.decision.claims) <= set(full.decision.evidence.claims())
    assert stopped.decision.ranking in (full.decision.ranking, full.decision.ranking[:1])
    if stopped.outcome.race.fits < stopped.outcome.race.planned_fits:
        assert "the rest of the plan cannot change the decision" in stopped.headline
    assert "risk" not in stopped.headline


@pytest.mark.parametrize(("seed", "cost_of_c", "family"), [(1, 1, "all"), (2, 2, "preference")])
def test_learners_of_one_price_come_by_their_means_of_the_whole_plan(seed, cost_of_c, family):
    # the first run alone has another one ahead
    from sklearn.datasets import make_classification
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier

    X, y = make_classification(60, 4, n_informative=2, n_redundant=0, flip_y=0.3, random_state=seed)
    learners = {"a": KNeighborsClassifier(3), "b": KNeighborsClassifier(5), "c": GaussianNB()}
    options = {
        "prefer": {"a": 1, "b": 1, "c": cost_of_c},
        "cv": "4x5",
        "alpha": 0.3,
        "settings": bk.Settings(family=family),
        "execution": SERIAL,
    }
    full = bk.compare(learners, X, y, **options)
    for risk in (0.0, 0.05):
        stopped = bk.compare(learners, X, y, stop=bk.StopRule(risk=risk), **options)
        assert stopped.recommended == full.recommended
        assert set(stopped.decision.claims) <= set(full.decision.evidence.claims())


def test_a_learner_that_fails_is_left_out_and_the_others_race_on():
    failing = {"max": "max", "nmc": "nmc(scale=None)", "broken": strange.Raises(),
               "naive-bayes": "naive-bayes"}  # fmt: skip
    study = bk.compare(failing, "wine", stop="settled", prefer="listed", execution=SERIAL)
    assert study.recommended == "naive-bayes"
    assert list(study.outcome.left_out) == ["broken"]
    assert "broken" not in study.outcome.race.runs
    # 25 losses a run, and the 25 failures of the first run
    assert study.outcome.race.fits == 25 * sum(study.outcome.race.runs.values()) + 25


def test_a_failure_on_the_way_leaves_the_decision_to_the_whole_plan():
    from sklearn.naive_bayes import GaussianNB

    class Once(GaussianNB):
        fits = 0

        def fit(self, X, y):
            Once.fits += 1
            if Once.fits == 13:
                raise ValueError("no luck")
            return super().fit(X, y)

    learners = {"once": Once(), "max": "max", "c4.5": "c4.5"}
    options = {"data": "wine", "prefer": "listed", "cv": "4x10", "execution": SERIAL}
    stopped = bk.compare(learners, stop="settled", **options)
    Once.fits = 0
    full = bk.compare(learners, **options)
    assert stopped.outcome.race is None
    assert bk.Result(stopped.decision).to_dict() == bk.Result(full.decision).to_dict()
    assert len(stopped.outcome.failures) == 1


def test_the_budget_ends_it_and_says_what_is_open(tmp_path):
    from sklearn.naive_bayes import GaussianNB

    store = tmp_path / "study.db"
    learners = {"a": GaussianNB(), "b": GaussianNB(var_smoothing=1e-8), "c": "nmc"}
    options = {"data": "wine", "cv": "10x10", "stop": "settled", "progress": False, "n_jobs": 1}
    settled = bk.compare(learners, budget=3600, **options)
    assert settled.outcome.race.settled
    # run 1 alone is in the store, and there is no time for more
    with pytest.raises(Interrupted):
        bk.compare(
            learners,
            store=store,
            **{**options, "progress": Breaks(31)},
            execution=bk.Execution(engine="serial"),
        )
    cut = bk.compare(learners, budget=1e-9, store=store, **options)
    assert not cut.outcome.race.settled
    assert "Open: " in cut.headline
    assert " against " in cut.headline
    assert "If you must choose now" in cut.headline
    assert not cut.decision.claims
    assert told(bk.open_study(store)) == told(cut)


class Hears(Progress):
    def __init__(self):
        self.heard, self.total = [], []

    def start(self, *, total, done, unit="fits", times=None):
        del done, unit
        self.total.append(total)

    def standing(self, *, text):
        self.heard.append(text)


def test_who_watches_hears_who_is_out_and_what_is_open():
    hears = Hears()
    study = raced(progress=hears, stop=bk.StopRule(target="order"))
    assert hears.total == [400]
    assert hears.heard[0].startswith("0 out, 4 left; open: ")
    assert hears.heard[-1] == "settled"
    assert hears.heard[1] == "2 out (naive-bayes, c4.5), 2 left; open: max against nmc"
    assert study.outcome.race.settled


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cv": "5x2"}, "cv='10x10'"),
        ({"cv": "holdout:0.3"}, "cv='10x10'"),
        ({"cv": "10x10", "test": "folds"}, "cv='10x10'"),
        ({"margin": 0.1}, "margin needs all runs"),
        ({"settings": bk.Settings(rope=0.1)}, "rope needs all runs"),
        ({"stop": "soon"}, "stop must be"),
        ({"data": ["wine", "iris"], "test": "wilcoxon"}, "at least 7 are needed"),
    ],
)
def test_what_cannot_be_curtailed_is_refused_before_the_first_fit(options, words):
    class Never(Progress):
        def start(self, *, total, done, unit="fits", times=None):
            raise AssertionError((total, done, unit))

    with pytest.raises(bk.BestOfKError, match=words):
        raced(progress=Never(), **options)


KILLED = """
import os, signal, sys
import bestofk as bk
from bestofk.run.progress import Progress

class Kills(Progress):
    left = 33
    def item(self, *, label, failed):
        Kills.left -= 1
        if Kills.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

bk.compare(sys.argv[2:], data="wine", prefer="listed", cv="10x10", stop="settled", n_jobs=2,
           progress=Kills(), store=sys.argv[1])
"""


def test_one_that_was_killed_is_taken_up_again(serial, tmp_path, fork_server):
    store = tmp_path / "study.db"
    killed = fork_server.run(
        ["-c", KILLED, store, *(f"{n}={spec}" for n, spec in LEARNERS.items())]
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    # a budget that is long enough changes nothing
    again = raced(store=store, n_jobs=2, budget=3600)
    assert again.outcome.race == serial.outcome.race
    assert bk.Result(again.decision).to_dict() == bk.Result(serial.decision).to_dict()
    assert told(bk.open_study(store)) == told(serial)


def test_what_a_race_did_not_need_is_not_to_do(serial, tmp_path):
    from click.testing import CliRunner

    from bestofk.cli.show import show

    store = tmp_path / "study.db"
    left = 400 - raced(store=store).outcome.race.fits
    shown = CliRunner().invoke(show, [str(store)]).output
    assert f"{400 - left} of 400 done, {left} not needed\n" in shown
    assert "to do" not in shown
    told_json = json.loads(CliRunner().invoke(show, [str(store), "--json"]).output)
    (study,) = told_json["studies"]
    assert (study["missing"], study["not_needed"]) == (0, left)
    # broken off, they are to do
    other = tmp_path / "other.db"
    with pytest.raises(Interrupted):
        raced(store=other, progress=Breaks(41), execution=bk.Execution(engine="serial"))
    assert re.search(r"\d+ of 400 done, \d+ to do", CliRunner().invoke(show, [str(other)]).output)
