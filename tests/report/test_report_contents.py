"""Reports contain everything that a reader needs, and no secrets."""

import html
import re

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import bestofk as bk
from bestofk._base.errors import ArgumentError, RunError, StoreError
from bestofk.decide.registry import RULES
from bestofk.report import methods as citations
from bestofk.report.assumptions import assumptions_of
from bestofk.report.methods import methods_of
from bestofk.report.subject import subject_of
from bestofk.report.write_report import render_report
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.multiple.registry import MULTIPLE_TESTS
from bestofk.stats.pairwise.registry import CLUSTERED_TESTS, LABELLED_TESTS, PAIRWISE_TESTS

QUICK = {"cv": "5x2", "progress": False, "execution": bk.Execution(engine="serial")}


class Failing(GaussianNB):
    """Fails always."""

    def fit(self, X, y):
        raise ValueError("no <b>luck</b>")


def text_of(page):
    """What is to be read in a page, roughly."""
    body = re.sub(r"<(style|script|svg).*?</\1>", " ", page, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", body)).split())


def two(values=None, **options):
    values = np.random.default_rng(0).random((3, 4, 5)) if values is None else values
    return bk.compare_scores(
        bk.Scores(values, learners=["a", "b", "c"][: len(values)]), **options
    ).outcome


def test_every_test_rule_and_correction_is_cited():
    entries = [
        entry
        for registry in (
            PAIRWISE_TESTS,
            MULTIPLE_TESTS,
            CLUSTERED_TESTS,
            LABELLED_TESTS,
            RULES,
            CORRECTIONS,
        )
        for entry in registry.values()
    ]
    assert all(entry.called for entry in entries)
    assert all(entry.citations for entry in entries if getattr(entry, "adjusts", True))
    used = {key for entry in entries for key in entry.citations}
    assert used == set(citations.bibliography())


def test_bibtex_is_well_formed():
    for key, entry in citations.bibliography().items():
        assert entry.count("{") == entry.count("}"), key
        assert entry.endswith("}")
        assert "author = {" in entry
        assert citations.reference(entry)[0].isupper()


def test_methods_paragraph_cites_what_was_done():
    order = two(test="use-all-data", correction="hochberg", rule="multitest", prefer="listed")
    methods = methods_of(subject_of(order))
    assert "Bouckaert, 2003" in methods.text
    assert "Hochberg, 1988" in methods.text
    for key in ("bouckaert2003choosing", "hochberg1988sharper", "yildiz2006ordering"):
        assert f"{{{key}," in methods.bibtex
    assert methods.text.count("  ") == 0


def test_the_paragraph_describes_the_rule():
    order = two(prefer=["c", "a", "b"], margin=0.05)
    text = methods_of(subject_of(order)).text
    assert "comparisons with the best (Edwards and Hsu, 1983" in text
    assert "was compared with the 2 others" in text
    assert "at level 0.05/2" in text
    assert (
        "the first of c, a and b (our preference) that may be the best or is at most 0.05" in text
    )
    assert "adjusted by Bonferroni's method (Dunn, 1961) over 3 comparisons" in text


@pytest.mark.parametrize(
    ("options", "claim", "state"),
    [
        ({}, "share training rows", "by design"),
        ({"test": "use-all-data"}, "independent", "doubtful"),
        ({"test": "use-all-data", "test_options": {"df": 10}}, "share training rows", "by design"),
        ({"rule": "multitest", "correction": "none"}, "error of all statements", "doubtful"),
        ({}, "error of all statements together", "by design"),
        (
            {"rule": "multitest", "correction": "hochberg"},
            "positively dependent",
            "cannot be checked",
        ),
        ({"rule": "anova-choice"}, "with equal variances", "doubtful"),
    ],
)
def test_assumptions_have_a_state(options, claim, state):
    found = [one for one in assumptions_of(two(**options)) if claim in one.claim]
    assert [one.state for one in found] == [state]


def test_assumptions_about_data_sets():
    values = np.random.default_rng(0).random((3, 4))
    table = bk.Scores(values, dims=("learner", "dataset"))
    enough = "There are enough data sets for a small p-value to be possible."
    states = {
        one.claim: one.state
        for one in assumptions_of(bk.compare_scores(table, test="wilcoxon").outcome)
    }
    assert states[enough] == "doubtful"
    # the p-values of the default test may be as small as any
    states = {one.claim: one.state for one in assumptions_of(bk.compare_scores(table).outcome)}
    assert enough not in states
    assert "Differences between two learners are not extremely skewed." in states


def test_a_study_tells_failures_settings_and_versions(tmp_path):
    learners = {"max": "max", "<i>broken</i>": Failing(), "nmc": "nmc"}
    study = bk.compare(learners, data="iris", **QUICK).outcome
    page = bk.Result(study).report(tmp_path / "r.html").read_text("utf-8")
    text = text_of(page)
    assert "<i>broken</i>: 10 of 10 fits failed" in text
    assert "<b>luck</b>" in text
    assert "<i>" not in page
    for fingerprint in (study.record.datasets[0].fingerprint, study.losses.fingerprint):
        assert fingerprint in text
    assert f"bestofk {bk.__version__}" in text
    assert "random_state=0" in text
    assert "5x2" in text


BANNED = re.compile(
    r"\bties?\b|\btied\b|prior preference|\bthe prior\b|too close|do(es)? not differ\b"
    r"|losses are equal|could not be had|who could be taken",
    re.IGNORECASE,
)


OPTIONS = (
    {},
    {"prefer": "listed"},
    {"prefer": ["c", "a"], "margin": 0.05},
    {"prefer": "listed", "family": "preference"},
    {"family": "control", "control": "b"},
    {"correction": "none"},
    {"rule": "most-wins"},
    {"rule": "test-first", "prefer": "listed"},
    {"rule": "anova-choice"},
)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("scores", [False, True])
def test_pages_use_the_words_of_the_glossary(options, scores):
    """ "No evidence of a difference" and "preference", never "tie" or "prior"."""
    rng = np.random.default_rng(3)
    values = np.clip(0.5 + 0.1 * rng.random((3, 1, 1)) + 0.05 * rng.random((3, 4, 5)), 0, 1)
    losses = bk.Scores(values, learners=["a", "b", "c"], higher_is_better=scores,
                       loss_name="accuracy" if scores else "zero-one")  # fmt: skip
    order = bk.compare_scores(losses, **options).outcome
    page = render_report(order)
    drawn = re.findall(r"<text[^>]*>(.*?)</text>|<title>(.*?)</title>", page)
    figures = html.unescape(" ".join(text for pair in drawn for text in pair))
    read = re.sub(r"How it was run.*?For a paper", "", text_of(page))
    for text in (read, figures):
        assert BANNED.search(text) is None, BANNED.search(text)
        # in the metric that came in: nothing is called a loss but in the account of the table
        if scores:
            assert not re.search(r"mean loss|smaller loss|1 - accuracy", text)
    if order.recommended is not None:
        assert f"mean {'accuracy' if scores else 'error'}" in read


def test_no_password_is_ever_written(tmp_path):
    secret = "postgresql://ann:s3cret@db.example/x"
    page = bk.Result(two()).report(
        tmp_path / "r.html", command=["bestofk", "compare", "--store", secret]
    )
    text = page.read_text("utf-8")
    assert "s3cret" not in text
    assert "ann:***@db.example" in text


def test_a_study_comes_back_from_its_store_with_the_same_page(tmp_path):
    store = tmp_path / "study.db"
    study = bk.compare(["max", "nmc", "nn"], data="iris", store=store, **QUICK).outcome
    again = bk.open_study(store).outcome
    assert again.losses == study.losses
    assert again.costs == study.costs
    assert render_report(again) == render_report(study)


def test_a_store_of_one_test_set_says_what_to_do(tmp_path):
    store = tmp_path / "study.db"
    bk.compare(["max", "nmc"], data="iris", store=store, **{**QUICK, "cv": "holdout:0.33"})
    with pytest.raises(StoreError, match="--report"):
        bk.open_study(store)


def test_files_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match="folder"):
        bk.Result(two()).report(tmp_path)
    with pytest.raises(RunError, match="cannot be written"):
        bk.Result(two()).report(tmp_path / "none" / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_twenty_learners_stay_below_the_promised_size():
    rng = np.random.default_rng(2)
    values = rng.random((20, 10, 10)) * 0.1 + rng.random((20, 1, 1)) * 0.3
    names = [f"sklearn.ensemble.RandomForestClassifier(n_estimators={i})" for i in range(20)]
    page = render_report(bk.compare_scores(bk.Scores(values, learners=names)).outcome)
    assert len(page.encode()) < 1_500_000
    assert not re.search(r'(src|href)="(?!data:|#)', page)


def test_a_page_of_many_pairs_shows_those_of_the_recommended_one_and_stays_small():
    rng = np.random.default_rng(5)
    names = [f"learner {k}" for k in range(80)]
    values = np.linspace(0.2, 0.4, 80)[:, None] + 0.05 * rng.standard_normal((80, 12))
    order = bk.compare_scores(
        bk.Scores(values, dims=("learner", "dataset"), learners=names, loss_name="error")
    ).outcome
    page = render_report(order)
    table = page[page.index("<caption>The pairs") :]
    table = table[: table.index("</table>")]
    assert f"shows the 79 with {order.recommended} of 3,160 pairs; --json --pairs has" in table
    # one row of heads, and a row for each of the other learners
    assert table.count("<tr>") == 1 + 79
    assert all(order.recommended in row for row in table.split("<tr>")[2:])
    assert len(page) < 900_000
