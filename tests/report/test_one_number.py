"""One learner, one statement: every output says of a learner what the decision says.

Random tables of losses are decided. The means, bounds and verdicts that the JSON, the tables in all
their forms, the terminal and the page print are collected for every learner, and compared with the
standings; those of the pairs are compared with the evidence of the second view.
"""

import csv
import html
import io
import json
import re

import numpy as np
import pytest

import bestofk as bk
from bestofk.decide.statements.wording import shown_means, worse_than_best
from bestofk.report.figures.comparisons import comparisons_of
from bestofk.report.screen import shown_columns
from bestofk.report.tables import learners_table, pairs_table
from bestofk.report.verdict_groups import forest_of
from bestofk.splits.design import Design
from bestofk.stats.adjust import CORRECTIONS

TABLES = 60
BATCHES = 2
PAIRED = ("holm", "bonferroni", "hochberg", "benjamini-hochberg", "benjamini-yekutieli", "none")
"""Corrections for families other than all pairs."""


# ---- random tables


def _effects(rng, K):
    """Gaps between the learners: none, small or large; some equal."""
    gaps = rng.choice([0.0, 0.02, 0.05, 0.2]) * rng.permutation(K)
    return np.where(rng.random(K) < 0.25, gaps[0], gaps)


def _values(rng, K, shape):
    ones = [1] * len(shape)
    # some learners are noisy: they can be the worst without being shown to be
    noise = rng.choice([0.005, 0.01, 0.03]) * rng.choice([1.0, 1.0, 20.0], size=(K, *ones))
    effects = _effects(rng, K).reshape(K, *ones)
    common = 0.05 * rng.standard_normal((1, *shape))
    values = 0.3 + effects + common + noise * rng.standard_normal((K, *shape))
    return np.clip(values, 0.0, 1.0)


def _mangled(rng, values):
    """Ties, identical learners, learners without spread."""
    if rng.random() < 0.4:
        values = np.round(values, int(rng.integers(1, 3)))
    if rng.random() < 0.2:
        values[-1] = values[0]
    if rng.random() < 0.1:
        values[rng.integers(len(values))] = rng.choice([0.1, 0.3, 0.5])
    if rng.random() < 0.05:
        values[:] = values[:1]
    return values


def _contrary(rng, K):
    """The first learner is better almost everywhere, and worse on average: ranks say otherwise."""
    values = 0.3 + 0.05 * rng.random((1, 18)) + 0.002 * rng.random((K, 18))
    values[0] -= 0.01 + 0.01 * rng.random(18)
    values[0, rng.integers(18)] = 0.95
    return values


def random_losses(rng):
    """Losses of one of six designs, and whether cells are missing."""
    K = int(rng.integers(2, 8))
    kind = rng.choice(["kfold", "repeated", "5x2", "resample", "datasets", "test-set"])
    shapes = {
        "kfold": (int(rng.integers(4, 12)),),
        "repeated": (int(rng.integers(3, 6)), int(rng.integers(2, 6))),
        "5x2": (5, 2),
        "resample": (int(rng.integers(6, 15)),),
        "datasets": (int(rng.integers(4, 14)),),
        "test-set": (int(rng.integers(20, 60)),),
    }
    shape = shapes[kind]
    more = {}
    if kind == "test-set":
        rate = (0.1 + 0.8 * rng.random()) * rng.random((K, 1)) ** rng.integers(0, 2)
        values = (rng.random((K, *shape)) < rate).astype(float)
        dims = ("learner", "instance")
    else:
        values = _mangled(rng, _values(rng, K, shape))
        dims = ("learner", "dataset" if kind == "datasets" else "fold")
        dims = ("learner", "run", "fold") if len(shape) == 2 else dims
    if kind == "datasets" and rng.random() < 0.25:
        values = _contrary(rng, K)
        shape = values.shape[1:]
    if kind == "resample":
        more["design"] = Design(kind="resample", folds=shape[0], n_train=90, n_test=10)
    lacks = kind in ("kfold", "repeated", "datasets") and shape[0] > 4 and rng.random() < 0.25
    for _ in range(int(rng.integers(1, 3)) if lacks else 0):
        values[(int(rng.integers(K)), *(int(rng.integers(n)) for n in shape))] = np.nan
        more["missing"] = "allow"
    scores = bool(rng.random() < 0.4)
    if scores:
        values = 1.0 - values if kind == "test-set" or rng.random() < 0.7 else 5.0 - values
    name = str(rng.choice(["accuracy", "AUC"])) if scores else str(rng.choice(["loss", "zero-one"]))
    names = [f"L{k}" for k in rng.permutation(K)]
    losses = bk.Scores(values, dims=dims, learners=names, higher_is_better=scores,
                       loss_name=name, **more)  # fmt: skip
    return losses, lacks


def random_order(rng):
    """A decision with options of every kind."""
    losses, lacks = random_losses(rng)
    names = list(losses.learners)
    options = {"alpha": float(rng.choice([0.05, 0.05, 0.2, 0.01]))}
    if lacks:
        options["missing"] = "drop"
    prefer = rng.choice(["none", "none", "listed", "list", "some", "prices"])
    if prefer == "listed":
        options["prefer"] = "listed"
    elif prefer in ("list", "some"):
        keep = len(names) if prefer == "list" else max(1, len(names) - 2)
        options["prefer"] = rng.permutation(names).tolist()[:keep]
    elif prefer == "prices":
        options["prefer"] = {name: float(rng.integers(1, 4)) for name in names}
    corrections = list(CORRECTIONS)
    if rng.random() < 0.3:
        options["rule"] = "multitest"
        family = rng.choice(["all", "preference" if prefer != "none" else "all", "control"])
        options["family"] = str(family)
        if family == "control":
            options["control"] = str(rng.choice(names))
        corrections = corrections if family == "all" else PAIRED
    elif rng.random() < 0.3:
        options["margin"] = float(rng.choice([0.01, 0.05]))
    if rng.random() < 0.6:
        options["correction"] = str(rng.choice(corrections))
    if len(losses.datasets) > 1:
        options["test"] = str(rng.choice(["auto", "auto", "wilcoxon", "sign", "permutation"]))
    return bk.compare_scores(losses, **options).outcome


# ---- what the outputs say of every learner


def page_rows(table):
    titles = [column.title for column in table.titled]
    return [
        dict(
            zip(titles, [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in row], strict=True)
        )
        for row in table.rows()
    ]


def csv_rows(table):
    titles = {column.key: column.title for column in table.columns}
    rows = csv.DictReader(io.StringIO(table.to_csv()))
    return [{titles[key]: cell for key, cell in row.items()} for row in rows]


def statement_of(order):
    """Return mean, bound and verdict of every learner, as all views print them."""
    means = shown_means(order)
    return [
        (str(row.name), means[row.name], worse_than_best(order, row), row.verdict)
        for row in order.standings
    ]


def check_tables(order):
    expected = statement_of(order)
    table = learners_table(order)
    titles = (
        order.noun.capitalize(),
        f"Mean {order.metric.name}",
        "Worse than the best by",
        "Verdict",
    )
    shown = [tuple(row.get(title, "") for title in titles) for row in page_rows(table)]
    assert shown == expected
    cells = {column.key: list(column.cells) for column in shown_columns(order, 200)}
    learners, means, worse, verdicts = map(list, zip(*expected, strict=True))
    assert (cells["learner"], cells["mean"], cells["verdict"]) == (learners, means, verdicts)
    assert cells.get("worse", worse) == worse


def check_page_groups(order):
    forest = forest_of(order)
    if forest is None:
        assert order.recommended is None
        return
    shown = [
        (member.name.striptags(), member.mean, member.worse)
        for group in forest.groups
        for member in group.members
    ]
    assert sorted(shown) == sorted(row[:3] for row in statement_of(order))


def check_json(order):
    content = json.loads(json.dumps(bk.Result(order).to_dict(pairs=True), allow_nan=False))
    assert content["recommended"] == order.recommended
    for row, standing in zip(content["table"], order.standings, strict=True):
        assert row["name"] == standing.name
        assert row["mean"] == order.means[standing.name]
        assert (row["at_least"], row["at_most"]) == (standing.at_least, standing.at_most)
        assert row["verdict"] == standing.verdict
    assert content["candidates"] == list(order.candidates)
    assert sum(row["verdict"] == "recommended" for row in content["table"]) == (
        order.recommended is not None
    )
    return content


def check_statement(order):
    """The parts of the statement do not contradict each other."""
    for row in order.standings:
        if order.best is None:
            assert row.at_most is None
            continue
        candidate = row.name in order.candidates
        if row.at_most is not None:
            assert 0 <= row.at_least <= row.at_most
            assert row.at_least - 1e-9 <= row.difference <= row.at_most + 1e-9
            if candidate:
                assert row.at_least == 0
            within = order.margin is not None and row.at_most <= order.margin
        else:
            within = False
        verdict = "within the margin" if within else "may be the best" if candidate else "ruled out"
        assert row.verdict in (verdict, "recommended")
        if row.name == order.recommended:
            assert any((candidate, within))
    if order.best is not None and order.candidates and not order.preference.stated:
        assert order.recommended == order.candidates[0]


# ---- what the outputs say of every pair


def check_pairs(order, content):
    evidence = order.pair_evidence
    rows = {(row["a"], row["b"]): row for row in content["pairs"]}
    assert len(rows) == len(evidence)
    claims = set()
    for row in rows.values():
        if row["better"] is not None:
            assert row["adjusted_p"] <= order.alpha
            claims.add((row["better"], row["b"] if row["better"] == row["a"] else row["a"]))
        if None not in (row.get("low"), row.get("high")):
            # an interval may end at 0, but it never contradicts the p-value
            inside = row["low"] < 0 < row["high"]
            assert not (
                inside if row["better"] is not None else row["low"] > 0 or row["high"] < 0
            ), row
    assert claims == set(order.claims)
    table = pairs_table(evidence)
    for listed in (page_rows(table), csv_rows(table)):
        assert len(listed) == len(rows)
        for one in listed:
            row = rows[one["A"], one["B"]]
            assert one.get("Better", "") == (row["better"] or "")
            assert _same_p(one["Adjusted p"], row["adjusted_p"])
            if one["Adjusted p"][0] not in "<>":
                # rounding never crosses alpha
                shown = float(one["Adjusted p"]) <= order.alpha
                assert shown == (row["adjusted_p"] <= order.alpha)
    if order.best is not None and order.correction == "bonferroni":
        # all pairs ask for more than the K - 1 comparisons with the best
        assert not {worse for _, worse in claims} & set(order.candidates)
    if len(rows) == len(order.by_preference) * (len(order.by_preference) - 1) // 2:
        pairs = comparisons_of(order)
        found = {(pairs.names[i], pairs.names[j]) for i, j in np.argwhere(pairs.better < 0)}
        assert found == claims


def _same_p(text, p):
    if text[0] in "<>":
        return p < 1e-4 if text[0] == "<" else 0.995 <= p < 1
    return abs(float(text) - p) <= max(0.005, 0.05 * p)


def check_words(order):
    """Nothing is printed as minus zero or as not a number; models are not called learners."""
    table = learners_table(order)
    pairs = pairs_table(order.pair_evidence)
    for text in (order.explain(), *(" ".join(row) for row in [*table.rows(), *pairs.rows()])):
        assert not re.search(r"(?<![\w.])-0(?:\.0+)?(?![\d.e])|\bnan\b", text), text
    other = "learner" if order.noun == "model" else "model"
    assert (order.noun == "model") == (order.problem.design.kind in ("test-set", "holdout"))
    for text in (order.headline, table.title, table.note):
        assert not re.search(rf"\b{other}s?\b", text.lower()), text


def check_page(order, path):
    """The page contains every statement that the explanation has."""
    bk.Result(order).report(path)
    page = " ".join(html.unescape(re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8"))).split())
    for one in order.select("verdict", "reason", "evidence", "caution", "note"):
        assert " ".join(one.text.split()) in page, one.text


@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_output_says_the_same(batch, tmp_path):
    kinds = set()
    for seed in range(batch, TABLES, BATCHES):
        order = random_order(np.random.default_rng([7, seed]))
        try:
            check_statement(order)
            check_tables(order)
            check_page_groups(order)
            check_pairs(order, check_json(order))
            check_words(order)
            if seed % 30 < BATCHES:
                check_page(order, tmp_path / "page.html")
        except AssertionError as failed:
            raise AssertionError(f"seed {seed}: {failed}\n{order.explain()}") from failed
        bounded = any(row.at_most is not None for row in order.standings)
        kinds.add((order.rule, order.evidence.family.name, bounded, bool(order.claims)))
    assert len(kinds) > 6
