"""The rows of the decision card, against the decision itself."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.report.page_kinds import Failing, table

import bestofk as bk
from bestofk._base.formatting import interval_words, pvalue_words
from bestofk.decide.statements.wording import shown_means
from bestofk.report.card import card_of

QUICK = {"cv": "5x2", "progress": False, "execution": bk.Execution(engine="serial")}


def rows(order, study=None, left_out=("Nothing.",)):
    """Label to text."""
    losses = order.problem.losses if order is not None else None
    card = card_of(order, losses, study, None, left_out=left_out, names=())
    texts = {row.label: " | ".join([str(row.value), *map(str, row.notes)]) for row in card}
    return {label: re.sub(r"<[^>]+>", "", text).strip(" |") for label, text in texts.items()}


def test_without_a_preference_the_gap_is_that_to_the_next(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    order = bk.order(table(4, 5, 10, names=["a", "b", "c", "d"]))
    found = rows(order)
    best, second = order.ranking[:2]
    one = order.standings[0]
    assert list(found) == ["Recommended", "Lowest mean error", "Gap", "Preference", "Left out",
                           "Based on", "Date"]  # fmt: skip
    assert found["Recommended"] == f"{best} | mean error {shown_means(order)[best]}"
    assert found["Lowest mean error"] == "the recommended one"
    ends = interval_words(one.low, one.high).replace("-", "−")
    p = pvalue_words(one.adjusted_pvalue, 0.05)
    verdict = {"worse": "it is significantly worse", "too close to call": "too close to call"}
    assert found["Gap"] == (
        f"{one.difference:.2g} to the next, {second} | 95 % interval {ends}, {p}: "
        f"{verdict[one.verdict]}"
    )
    assert found["Preference"] == "none: the mean decides"
    assert found["Based on"] == "5 runs of 10-fold cross-validation"
    # date -u -d @1700000000
    assert found["Date"] == "14 November 2023"


def test_with_a_preference_the_gap_is_that_to_the_smallest_mean():
    losses = table(3, 5, 10, gap=0.005, names=["a", "b", "c"])
    by_mean = bk.order(losses).ranking
    order = bk.order(losses, prefer=list(reversed(by_mean)))
    assert order.recommended != order.smallest_mean
    found = rows(order)
    assert found["Lowest mean error"].startswith(f"{by_mean[0]} (0.")
    gap = order.means[order.recommended] - order.means[by_mean[0]]
    assert found["Gap"].startswith(f"{gap:.2g} to {by_mean[0]} | 95 % interval ")
    assert found["Gap"].endswith("too close to call")
    assert (
        found["Preference"]
        == f"stated, the most preferred first | {', '.join(order.by_preference)}"
    )


def test_scores_keep_their_name_and_direction():
    values = np.random.default_rng(0).uniform(0.8, 0.9, (3, 5, 10))
    order = bk.order(bk.Losses(values, algorithms=["a", "b", "c"], higher_is_better=True,
                               loss_name="accuracy"))  # fmt: skip
    found = rows(order)
    assert "Highest mean accuracy" in found
    largest = values.mean((1, 2)).max()
    assert found["Recommended"] == f"{order.recommended} | mean accuracy {largest:.4g}"


def test_measured_preferences_and_equal_means_have_words():
    losses = bk.Losses([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]], algorithms=["a", "b"])
    order = bk.order(losses)
    assert rows(order)["Gap"].startswith("none: b has the same mean")
    for words, first in {
        "size": "smallest", "latency": "fastest", "tokens": "fewest", "cost": "cheapest",
    }.items():  # fmt: skip
        preference = replace(order.preference, kind="measured", words=words)
        said = rows(replace(order, preference=preference))["Preference"]
        assert said == f"measured: {words}, the {first} first | a, b"


def test_a_decision_that_nothing_could_support_says_so():
    order = bk.order(table(5, 4, dims=("algorithm", "dataset"), gap=0.4), test="wilcoxon")
    assert not order.decidable
    assert "only if you must choose now" in rows(order)["Recommended"]


@pytest.mark.parametrize("others", [("nmc", "nn"), ("nmc",)])
def test_failures_stand_in_the_first_section(others):
    from bestofk.report.write_report import render_report

    study = bk.compare({"xgb": Failing(), **{name: name for name in others}}, data="iris", **QUICK)
    page = render_report(study)
    first = re.sub(r"<[^>]+>", "", page[page.index("<h2>Decision") : page.index("</section>")])
    assert f"1 of {len(others) + 1} learners failed." in first
    assert "xgb was left out: 10 of 10 fits failed" in first
    assert "ValueError: the matrix is singular" in first
    assert "10 fits gave no loss; the table below gives the reasons." in first
    assert f"Which of {len(others) + 1} learners to use on iris" in page
    assert 'class="fact alert"' in page
