"""The decision after early stopping claims what is certain, and nothing else."""

import html
import re

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk.decide.stopping import StoppedDecision
from bestofk.report.figures import figure_kinds

LEARNERS = ["max", "nmc", "logistic", "c4.5", "nn", "naive-bayes"]


@pytest.fixture(scope="module")
def full():
    return bk.compare(LEARNERS, "breast-cancer", cv="10x10", prefer="listed", progress=False)


@pytest.fixture(scope="module")
def study():
    return bk.compare(
        LEARNERS, data="breast-cancer", cv="10x10", prefer="listed", progress=False, stop="settled"
    )


def test_claims_are_claims_of_the_full_plan_and_the_rest_is_open(study, full):
    decision = study.decision
    assert isinstance(decision, StoppedDecision)
    assert set(decision.claims) <= set(full.decision.evidence.claims())
    assert decision.recommended == full.recommended
    assert len(decision.claims) < len(full.decision.evidence.claims())
    assert not decision.evidence.better[decision.evidence.unsettled].any()


def test_the_numbers_of_a_pair_are_those_of_the_test_on_common_runs(study):
    # the published formula, with the factor of the 100 folds of the plan
    evidence, losses = study.decision.evidence, study.scores
    design = losses.design
    share = sum(design.n_test) / sum(design.n_train)
    for row, pair in enumerate(zip(evidence.first, evidence.second, strict=True)):
        at = [losses.learners.index(evidence.names[k]) for k in pair]
        a, b = losses.losses[at, 0, :, :, 0]
        d = (a - b)[~np.isnan(a - b)]
        assert d.size % 10 == 0
        assert evidence.estimate[row] == pytest.approx(d.mean())
        t = d.mean() / np.sqrt((1 / 100 + share) * d.var(ddof=1))
        assert evidence.pvalue[row] == pytest.approx(2 * stats.t.sf(abs(t), 99))


def test_means_come_with_their_runs_the_best_first(study):
    decision = study.decision
    runs = study.outcome.race.runs
    assert len(set(runs.values())) > 1
    for name in LEARNERS:
        k = study.scores.learners.index(name)
        used = study.scores.losses[k]
        assert decision.runs_of(name) == runs[name] == (~np.isnan(used)).sum() / 10
        assert decision.means[name] == pytest.approx(np.nanmean(used))
    means = [one.mean for one in decision.standings]
    assert means == sorted(means)
    assert runs[decision.smallest_mean] == runs[decision.recommended]
    assert "do not compare means over different numbers of runs" in study.explain()
    table = study.table
    assert table["runs"].tolist() == [runs[name] for name in table["name"]]


def test_stopped_decision_names_unsettled_learners_and_has_no_bounds(study):
    text = study.explain()
    unsettled = [one for one in study.decision.standings if one.verdict == "not settled"]
    assert unsettled
    assert all(one.at_most is None for one in study.decision.standings)
    assert "with a probability of at least 95 %" in study.headline
    assert "against the others, alpha = 0.05" in text
    assert "With 95 % confidence the best is among" in text
    if len(study.decision.ranking) == 1:
        assert "The order below the recommended learner is not settled" in text


def test_no_figure_shows_more_than_is_settled(study, full):
    kinds = figure_kinds(study)
    assert "race" in kinds
    hidden = {"forest", "matrix", "steps", "letters", "densities"}
    assert not hidden & set(kinds)
    assert "race" not in figure_kinds(full)


def test_the_report_tells_the_race_and_offers_no_other_decision(study, tmp_path):
    page = study.report(tmp_path / "race.html").read_text(encoding="utf-8")
    assert 'id="figure-race"' in page
    # means over different numbers of runs are not ranked
    assert 'id="figure-frontier"' not in page
    assert f"over {study.outcome.race.runs[study.recommended]} runs" in page
    rows = re.findall(
        r'<li.*?<span class="who"><bdi>(.*?)</bdi>.*?<span class="apart">(.*?)</span>', page
    )
    assert dict(rows) == {
        one.learner: html.escape(one.why) for one in study.outcome.race.learners if one.why
    }
    assert "Stopped early" in page
    assert "stop=bk.StopRule(target=&#39;best&#39;, risk=0.05)" in page
    assert "Learners were stopped as soon as the recommended learner was settled" in page
