"""Every measured figure that the pages quote is in the measured tables."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path

import pytest

import claims_table

ROOT = Path(__file__).resolve().parents[1]
DOCS, RESULTS = ROOT / "docs", ROOT / "studies" / "results"
PAGE = DOCS / "trust.md"
TEXT = " ".join(PAGE.read_text().split())
FAMILIES = ("default", "preference")
OTHERS = ("kfold:10", "resample:10:0.1", "5x2", "holdout:0.33")
DEFAULTS = {
    "10x10": "corrected-repeated-kfold-t",
    "kfold:10": "corrected-repeated-kfold-t",
    "resample:10:0.1": "corrected-resampled-t",
    "5x2": "5x2cv-f",
    "holdout:0.33": "mcnemar",
}
NAMES = {
    "corrected repeated k-fold t": "corrected-repeated-kfold-t",
    "use-all-data": "use-all-data",
    "k-fold t": "kfold-t",
    "corrected resampled t": "corrected-resampled-t",
    "resampled t": "resampled-t",
    "5x2cv F": "5x2cv-f",
    "5x2cv t": "5x2cv-t",
    "McNemar": "mcnemar",
}


def measured(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((RESULTS / f"{name}.csv").read_text().splitlines()))


def row_of(test: str, plan: str, df: str = "default") -> dict[str, str]:
    (row,) = [
        row
        for row in measured("tests")
        if (row["test"], row["plan"], row["df"]) == (test, plan, df)
    ]
    return row


def table(heading: str, section: str) -> list[list[str]]:
    """Return the rows of the table of a section whose first column has this heading."""
    text = PAGE.read_text()
    lines = text[text.index(section) :].splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    rows = []
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def near(shown: str, value: str) -> bool:
    """Return whether a printed figure is the rounded value (a half may be rounded either way)."""
    shown = shown.strip("*")
    digits = len(shown.split(".")[1]) if "." in shown else 0
    return abs(float(shown) - float(value)) <= 0.5 * 10**-digits + 1e-9


def test_table_of_tests() -> None:
    rows = table("test", "## Error rate and power of each test")
    assert len(rows) == 11
    for name, plan, *figures in rows:
        word = name.replace("**", "").removesuffix(" (default)")
        word, _, setting = word.partition(", ")
        df = setting.removesuffix(" df") if setting.endswith(" df") else "default"
        row = row_of(NAMES[word], plan, "default" if df == "default" else df)
        columns = ("type1 5 %", "power Set 2", "power Set 3", "power Set 4", "two agree")
        for shown, column in zip(figures, columns, strict=True):
            assert near(shown, row[column]), (name, plan, column)
        # bold: significantly more than 5 %
        low = float(row["interval at 5 %"].split("-")[0])
        assert figures[0].startswith("**") == (low > 5)
        assert ("(default)" in name) == (DEFAULTS[plan] == NAMES[word])


def ratios(test: str, plan: str, df: str = "default") -> list[float]:
    best, other = row_of(DEFAULTS["10x10"], "10x10"), row_of(test, plan, df)
    return [float(best[power]) / float(other[power]) for power in ("power Set 2", "power Set 3")]


def spoken(values: list[float]) -> str:
    """Return text such as ``2.6 times`` or ``1.9 to 2.0 times``."""
    shown = sorted({f"{value:.1f}" for value in values})
    return f"{' to '.join(shown)} times"


def test_power_of_ten_runs() -> None:
    assert f"{spoken(ratios('corrected-resampled-t', 'resample:10:0.1'))} as much as ten" in TEXT
    one_run = spoken(ratios("corrected-repeated-kfold-t", "kfold:10"))
    assert f"{one_run} as much as one run of ten folds" in TEXT
    held_out = f"{spoken(ratios('mcnemar', 'holdout:0.33'))} as much as one third held out"
    assert held_out in TEXT
    for plan in OTHERS:
        assert all(ratio > 1 for ratio in ratios(DEFAULTS[plan], plan))


def test_tests_that_exceed_their_level() -> None:
    bold = [float(row_of(*which)["type1 5 %"]) / 5 for which in (
        ("kfold-t", "kfold:10"), ("resampled-t", "resample:10:0.1"), ("use-all-data", "10x10"),
    )]  # fmt: skip
    assert (round(min(bold)), round(max(bold))) == (2, 11)
    assert "two to eleven times as often as they promise" in TEXT
    on_folds = [
        float(row_of(name, "10x10")["type1 5 %"])
        for name in ("anova", "repeated-measures-anova", "friedman", "nemenyi")
    ]
    assert f"({min(on_folds):.0f} to {max(on_folds):.0f} percent at 10x10)" in TEXT


def test_replicability() -> None:
    ten = {plan: float(row_of(test, plan)["all ten agree"]) for plan, test in DEFAULTS.items()}
    assert f"On {ten['10x10']:.0f} percent of the data sets ten people" in TEXT
    low, high = (pick(ten[plan] for plan in OTHERS) for pick in (min, max))
    assert f"on {low:.0f} to {high:.0f} percent with the defaults of the other plans" in TEXT


def test_bayesian_tests_equal_the_corrected_ones() -> None:
    for plan in ("10x10", "kfold:10", "resample:10:0.1"):
        same, other = row_of("correlated-t", plan), row_of(DEFAULTS[plan], plan)
        assert {**same, "test": ""} == {**other, "test": ""}


def test_linked_tables_name_their_command() -> None:
    linked = re.findall(r"<\.\./studies/results/(\w+)\.md>", PAGE.read_text())
    assert len(linked) >= 5
    for name in ("tests", "many_data_sets", "multitest", "claims", "best", "cautions"):
        assert name in linked
        assert "Made by `python studies/" in (RESULTS / f"{name}.md").read_text()


def test_published_cases_are_complete() -> None:
    rows = measured("claims")
    assert [(row["case"], int(row["sets"])) for row in rows] == [
        (case.name, case.sets) for case in claims_table.claims_cases()
    ]
    page = claims_table.claims_page(rows, int(rows[0]["seed"]))
    assert (RESULTS / "claims.md").read_text() == "\n".join(page)


def test_default_tests_on_the_page_are_those_of_order() -> None:
    import numpy as np

    import bestofk as bk

    rng = np.random.default_rng(0)
    tables = {
        "several runs": bk.Scores(rng.random((3, 10, 10)), dims=("learner", "run", "fold")),
        "one run": bk.Scores(rng.random((3, 10)), dims=("learner", "fold")),
        "five halvings": bk.Scores(
            rng.random((3, 5, 2)), dims=("learner", "run", "fold"), design="5x2"
        ),
        "several data sets |": bk.Scores(rng.random((3, 30)), dims=("learner", "dataset")),
    }
    words = {**NAMES, "skewness-corrected t": "skew-corrected-t"}
    for start, losses in tables.items():
        line = next(
            line for line in (DOCS / "which-test.md").read_text().splitlines() if start in line
        )
        chosen = line.split("|")[2]
        word = re.search(r"\[(.*?)\]", chosen)
        assert word is not None
        assert bk.compare_scores(losses).test == words[word.group(1)]


def claims(pattern: str) -> list[float]:
    """Return the percentages of decisions with a false claim, of all cases whose names match."""
    rows = [row for row in measured("claims") if fnmatch(row["case"], pattern)]
    assert rows
    return [100 * int(row["false"]) / int(row["sets"]) for row in rows]


def span(values: list[float]) -> str:
    return f"{min(values):.0f} to {max(values):.0f} percent"


def test_figures_about_false_claims() -> None:
    opposite = claims("data sets/skewed in opposite*")
    strongly = claims("data sets/strongly skewed*")
    over_sets = sorted(claims("data sets/*"))
    for rate in (*opposite, *strongly):
        over_sets.remove(rate)
    assert f"the largest of {len(over_sets)} figures is {max(over_sets):.1f} percent" in TEXT
    assert f"it is {max(opposite):.1f} percent for exponential losses" in TEXT
    assert f"{max(strongly):.1f} percent for lognormal ones" in TEXT
    assert f"at most {max(claims('folds/*')):.1f} percent" in TEXT
    stable = [rate for learner in ("nmc", "naive-bayes", "logistic") for family in FAMILIES
              for rate in claims(f"learners in 10x10/*/{learner}/*/{family}")]  # fmt: skip
    assert f"logistic regression stay at {max(stable):.1f} percent or below" in TEXT
    assert (
        f"The nearest neighbour does not ({span(claims('learners in 10x10/*/nn/*/default'))})"
        in TEXT
    )
    nested = claims("learners/*")
    sentence = f"the largest of its {len(nested)} figures is {max(nested):.1f} percent"
    assert sentence in TEXT
    trees = claims("learners in 10x10/*/c4.5/100 rows/*/default")
    assert f"nor do trees on 100 rows ({span(trees)})" in TEXT
    halves = claims("learners in 5x2/*/nn/*/default")
    assert f"finds a difference between equal nearest neighbours in {span(halves)}" in TEXT


def test_figures_on_the_first_page() -> None:
    page = " ".join((DOCS / "index.md").read_text().split())
    nested = claims("learners/*")
    assert f"[{max(nested):.1f} %]{{.bk-fact}} of studies made any false claim" in page
    situations = {row["case"].split("/K=")[0] for row in measured("claims")
                  if row["case"].startswith("learners/")}  # fmt: skip
    assert f"the worst of {len(situations)} situations" in page
    plain = f"{float(row_of('use-all-data', '10x10')['type1 5 %']):.0f}"
    assert f"[{plain} %]{{.bk-fact}} of the time a plain t test" in page
    answers = " ".join((DOCS / "questions.md").read_text().split())
    assert f"calls equal learners different in {plain} percent of studies" in answers
    paper = (DOCS / "papers" / "multitest.md").read_text()
    assert "| Table 2, most selected as printed, of 30: MultiTest | 30 | 30 |" in paper
    assert "[30 of 30]{.bk-fact}" in page


def test_pages_agree_on_the_plain_t_test_over_folds() -> None:
    plain = row_of("use-all-data", "10x10")["type1 5 %"]
    for page, pattern in (
        ("index.md", r"\[(\d+) %\]\{.bk-fact\} of the time a plain t test"),
        ("questions.md", r"calls equal learners different in (\d+) percent"),
        ("papers/calibrated.md", r"rejects equal learners in (\d+) percent of the data sets"),
    ):
        text = " ".join((DOCS / page).read_text().split())
        assert near(re.findall(pattern, text)[0], plain), page
    text = " ".join((DOCS / "papers/calibrated.md").read_text().split())
    (ten,) = re.findall(r"With 10 degrees of freedom instead of 99 it rejects in ([\d.]+)", text)
    assert near(ten, row_of("use-all-data", "10x10", "10")["type1 5 %"])


def rates_of(test: str, sign: str) -> Mapping[int, float]:
    from bestofk.stats.pairwise.registry import CLUSTERED_TESTS, PAIRWISE_TESTS

    entry = {**PAIRWISE_TESTS, **CLUSTERED_TESTS}[test]
    return next(caution.rates for caution in entry.cautions if caution.sign == sign)


def cells_of(page: str, title: str) -> list[dict[str, str]]:
    """Return the rows of the first table of a page whose first column has this title."""
    lines = (RESULTS / page).read_text().splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(f"| {title} |"))
    titles, _, *rows = (
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in itertools.takewhile(lambda line: line.startswith("|"), lines[start:])
    )
    return [dict(zip(titles, row, strict=True)) for row in rows]


@pytest.mark.parametrize(
    ("test", "column"), [("paired-t", "paired t"), ("permutation", "sign flips")]
)
def test_rates_of_the_cautions_about_skewness(test, column) -> None:
    rates = rates_of(test, "skewed")
    measured_rates = {
        int(row["n"]): float(row[column])
        for row in measured("skewed")
        if row["table"] == "two learners" and row["differences"] == "lognormal" and row[column]
    }
    known = sorted(set(rates) & set(measured_rates))
    assert len(known) >= 5
    assert [rates[n] for n in known] == pytest.approx([measured_rates[n] for n in known], abs=0.6)


@pytest.mark.parametrize("test", ["paired-t", "diebold-mariano"])
def test_rates_of_the_cautions_about_dependence(test) -> None:
    rates, column = rates_of(test, "autocorrelated"), test.replace("d-t", "d t")
    checked = 0
    for row in cells_of("series.md", "n"):
        size = round(100 * float(row["differences"].split()[-1]))
        if row["n"] == "100" and size in rates:
            assert abs(rates[size] - float(row[column])) <= 0.6, row
            checked += 1
    assert checked >= 3


@pytest.mark.parametrize(
    ("test", "sign", "units", "name"),
    [
        ("skew-corrected-t", "extremely skewed", "data sets", "lognormal with sigma 2"),
        ("cluster-t", "scores at one end", "items", "graded, rarely right"),
        ("ewc-t", "slow changes", "series", "slow drift under noise"),
    ],
)
def test_rates_of_the_cautions_of_the_defaults(test, sign, units, name) -> None:
    """A rate of 15 percent of 400 studies has a standard error of 1.8."""
    from bestofk.decide.cautions import rate_at

    checked = 0
    for row in cells_of("cautions.md", "units"):
        if (row["units"], row["equal learners"]) == (units, name):
            rate = rate_at(rates_of(test, sign), int(row["n"]))
            if units != "items" or int(row["n"]) < 20:
                assert abs(rate - float(row["wrong K = 2"])) <= 5.5, row
                checked += 1
    assert checked >= 2


@pytest.mark.parametrize(
    ("test", "sign"),
    [("welch-t", "skewed"), ("corrected-resampled-t", "autocorrelated")],
)
def test_rates_of_the_cautions_of_named_tests(test, sign) -> None:
    rows = [row for row in cells_of("cautions.md", "test") if row["test"] == test]
    rates = rates_of(test, sign)
    assert [int(row["size"]) for row in rows] == list(rates)
    for row in rows:
        assert abs(rates[int(row["size"])] - float(row["wrong"])) <= 1.5, row


def test_published_cautions_are_those_of_the_table() -> None:
    from caution_rates import summary

    page = (RESULTS / "cautions.md").read_text()
    for part in ("chosen", "fresh"):
        rows = [
            {name: float(row[name]) for name in ("rate", "cautioned")}
            for row in measured("cautions")
            if row["designs"] == part
        ]
        assert summary(rows) in page


def test_bold_figures_are_those_of_unstable_learners() -> None:
    page = (RESULTS / "claims.md").read_text()
    bold = [line for line in page.splitlines() if line.startswith("|") and "**" in line]
    assert bold
    skewed = [line for line in bold if "skewed in opposite directions" in line]
    assert skewed
    in_halves = page[page.index("own columns, 5x2") :]
    for line in bold:
        if line not in skewed and line not in in_halves:
            assert line.split("|")[2].strip() in ("nn", "c4.5")


def test_figures_about_unstable_learners() -> None:
    from bestofk.run.inputs import default_plan

    page = " ".join((DOCS / "methods" / "unstable-learners.md").read_text().split())
    rows = [row for row in measured("default_plan") if int(row["sets"]) >= 75]
    default = [row for row in rows
               if default_plan(rows=int(row["rows"])) == f"{row['runs']}x5+nested"]  # fmt: skip
    normal = [row for row in default if row["data"] == "normal"]

    def largest(name: str, some: list[dict[str, str]]) -> float:
        return max(float(row[name]) for row in some)

    former, now = largest("former", default), largest("now", default)
    assert f"finds a difference in up to **{largest('corrected t', normal):.1f}** percent" in page
    assert f"nested cross-validation in at most **{largest('now', normal):.1f}**" in page
    assert f"in up to **{former:.1f}** percent without the third estimate" in page
    assert f"and in up to **{now:.1f}** with it" in page
    lost = max(float(row["power former"]) - float(row["power now"]) for row in normal)
    assert f"costs at most **{lost:.1f}** points of power on normal" in page
    three = [row for row in rows if row["runs"] == "3" and row["data"] == "normal"]
    assert f"With three runs the largest rate is **{largest('now', three):.1f}** percent" in page
    power = {(row["rows"], row["learner"], row["runs"]): row["power now"] for row in rows}
    lost = max(float(power[n, name, "10"]) - float(value) for (n, name, runs), value
               in power.items() if runs == "3" and value and (n, name, "10") in power)  # fmt: skip
    assert f"instead of ten cost up to **{lost:.1f}** points of power" in page
    harmful, harmless = (
        [float(row["caution"]) for row in default if (float(row["former"]) > 8) == above]
        for above in (True, False)
    )
    shares = [sum(some) / len(some) for some in (harmful, harmless)]
    assert f"A caution appears in **{shares[0]:.0f}** percent of the results" in page
    assert f"and in **{shares[1]:.0f}** percent of the others" in page
    wrong, right = (
        [float(row["caution"]) for row in default if (float(row["now"]) > 8) == above]
        for above in (True, False)
    )
    assert f"it appears in {sum(wrong) / len(wrong):.0f} percent of the results whose" in page
    assert f"and in {sum(right) / len(right):.0f} percent of those" in page
    # the rule for a caution: it appears if the data show the problem
    assert shares[0] > 80
    assert shares[1] < 10
    text = " ".join((DOCS / "methods" / "nested-cv.md").read_text().split())
    assert f"in up to {former:.0f} percent of the data sets, and now in up to {now:.0f}" in text
    assert rates_of("nested-cv-t", "unstable learners")[1] == round(now)
