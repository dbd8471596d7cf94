"""The rows of the decision card, against the decision itself."""

import re
from collections import Counter

import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from tests.report.page_kinds import KINDS, Failing, table

import bestofk as bk
from bestofk._base.formatting import in_words
from bestofk.decide import compare_battles, order_printed
from bestofk.decide.statements.wording import shown_means
from bestofk.report.card import card_of
from bestofk.report.subject import subject_of
from bestofk.report.tables import failures_table
from bestofk.report.write_report import render_report

QUICK = {"cv": "5x2", "progress": False, "execution": bk.Execution(engine="serial")}


def rows(value):
    """Label to text."""
    card = card_of(subject_of(value))
    texts = {row.label: " | ".join([str(row.value), *map(str, row.notes)]) for row in card}
    return {label: re.sub(r"<[^>]+>", "", text).strip(" |") for label, text in texts.items()}


def test_the_card_says_what_to_use_and_how_much_worse_it_can_be():
    order = bk.compare_scores(table(4, 5, 10, gap=0.02, names=["a", "b", "c", "d"])).outcome
    best = order.recommended
    texts = rows(order)
    assert list(texts) == ["Use", "Worse than the best by", "Based on"]
    assert texts["Use"] == f"{best} | mean error {shown_means(order)[best]}"
    bound = re.fullmatch(r"at most (0\.\d+) \| 95 % confidence", texts["Worse than the best by"])[1]
    at_most = next(row.at_most for row in order.standings if row.name == best)
    # rounded up, so that it holds
    assert 0 <= float(bound) - at_most < 0.001
    assert texts["Based on"] == "5 runs of 10-fold cross-validation"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "nothing_decided"])
def test_every_card_has_facts_that_exist(kind):
    page = render_report(KINDS[kind]())
    labels = re.findall(r"<dt>([^<]*)</dt>", page[: page.index("</dl>")])
    # a race bounds nothing, and published procedures compare with the recommended learner
    unbounded = ("race", "as_published", "control_family", "most_wins", "undecidable")
    bound = [] if kind in unbounded else ["Worse than the best by"]
    more = {"language_models": ["Cost"], "failures": ["Left out"]}
    expected = ["Use", *bound, "Based on", *more.get(kind, [])]
    assert labels == (["Answer", "Compared with", "Based on"] if kind == "release" else expected)


def test_battles_intervals_and_printed_tables_have_the_same_facts():
    battles = pd.DataFrame(
        {"model_a": list("xxxyyz") * 5, "model_b": list("yzyzzx") * 5, "winner": ["model_a"] * 30}
    )
    texts = rows(compare_battles(battles).outcome)
    assert list(texts) == ["Use", "Worse than the best by", "Based on"]
    assert texts["Based on"] == "30 battles"
    scores = pd.DataFrame({"model": ["A", "B", "C"], "accuracy": [71.3, 70.9, 55.0]})
    texts = rows(order_printed(scores, 1319).outcome)
    assert texts["Use"] == "A | mean accuracy 0.713"
    assert texts["Based on"] == "1,319 items, one printed score per model"


def test_a_decision_that_nothing_could_support_says_so():
    order = bk.compare_scores(
        table(5, 4, dims=("learner", "dataset"), gap=0.4), test="wilcoxon"
    ).outcome
    assert not order.decidable
    assert "only if you must choose now" in rows(order)["Use"]


class FailsSometimes(GaussianNB):
    """Fails on some training data."""

    def fit(self, X, y):
        if round(10 * X[:, 0].sum()) % 5 == 0:
            raise ValueError("the matrix is singular")
        return super().fit(X, y)


@pytest.mark.parametrize("plan", ["5x2", "2x3+nested"])
def test_failures_have_one_count(plan):
    learners = {"always": Failing(), "some": FailsSometimes(), "nmc": "nmc", "nn": "nn"}
    X, y = load_iris(return_X_y=True)
    study = bk.compare(learners, X, y, **{**QUICK, "cv": plan}).outcome
    listed = bk.Result(study).to_dict()["failures"]
    by_learner = Counter(one["learner"] for one in listed)
    assert set(by_learner) == {"always", "some"}
    page = render_report(study)
    card = re.sub(r"<[^>]+>", "", page[page.index('class="card"') : page.index("</dl>")])
    for name, count in by_learner.items():
        total = len(study.record.datasets) * study.record.n_cells // len(learners)
        words = f"{name}: {count} of {total} fits failed"
        if name not in study.left_out:
            words = f"{in_words(count).capitalize()} fits of {name} failed."
        assert words in study.explain()
        assert words in card
    table = failures_table(study.failures)
    assert table.title == f"{len(listed)} failed fits"
    assert f"{table.title}</" in page
    assert sum(table.columns[-1].cells) == len(listed)
