"""One pair, one number: what every output says of a pair is what the evidence says.

Random tables of losses are decided; then the p-values, intervals and verdicts that the text, the
JSON, the tables in all their forms, the page, the figures and the live data print are collected
for every pair, and compared with the evidence of the JSON, as printed.
"""

import csv
import html
import io
import json
import re
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.formatting import pvalue_words
from bestofk.cli.terminal import shown_columns
from bestofk.decide.statements.details import WITHIN_MARGIN
from bestofk.decide.statements.wording import shown_means
from bestofk.report.figures.comparisons import comparisons_of
from bestofk.report.tables import learners_table, pairs_table
from bestofk.report.verdict_groups import forest_of
from bestofk.report.write_report import live_data
from bestofk.splits.design import Design
from bestofk.stats.adjust import CORRECTIONS

TABLES = 120
BATCHES = 2
PAIRED = ("holm", "bonferroni", "hochberg", "benjamini-hochberg", "benjamini-yekutieli", "none")
"""Corrections for families other than all pairs."""
GROUP = re.compile(
    r"(Significantly (?:worse|better) than|Too close to call against|Not tested against"
    r"|Not shown to be (?:worse|better) than) (L\d)(?:, and not tested for being \w+)?: (.*)"
)
"""A sentence that lists learners which stand alike to the recommended one."""
NUMBER = r"-?(?:\d[\d.]*(?:e[+-]\d+)?|infinite)"
P = r"p (?:=|<|>) [\d.e-]+"


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
        dims = ("algorithm", "instance")
    else:
        values = _mangled(rng, _values(rng, K, shape))
        dims = ("algorithm", "dataset" if kind == "datasets" else "fold")
        dims = ("algorithm", "run", "fold") if len(shape) == 2 else dims
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
    losses = bk.Losses(values, dims=dims, algorithms=names, higher_is_better=scores,
                       loss_name=name, **more)  # fmt: skip
    return losses, lacks


def random_order(rng):
    """A decision with options of every kind."""
    losses, lacks = random_losses(rng)
    names = list(losses.algorithms)
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
    family = rng.choice(
        ["all", "all", "all", "preference" if prefer != "none" else "all", "control"]
    )
    if family != "all":
        options["family"] = str(family)
    if family == "control":
        options["control"] = str(rng.choice(names))
    corrections = list(CORRECTIONS) if family == "all" else PAIRED
    options["correction"] = "holm" if rng.random() < 0.4 else str(rng.choice(corrections))
    # a margin for losses of 0 and 1 takes seconds for many learners
    if rng.random() < 0.2 and (losses.design.kind != "test-set" or len(names) < 4):
        options["margin"] = float(rng.choice([0.01, 0.05]))
    if rng.random() < 0.2:
        options["guard"] = False
    if len(losses.datasets) > 1:
        options["test"] = str(rng.choice(["auto", "auto", "wilcoxon", "sign", "permutation"]))
    return bk.order(losses, **options)


# ---- what the outputs say


@dataclass
class Said:
    """What one output says of pairs."""

    where: str
    p: dict = field(default_factory=dict)
    """{a, b}: the adjusted p-value as printed."""
    low: dict = field(default_factory=dict)
    """(a, b): the lower end for a minus b, in the user's metric or as "worse by"."""
    high: dict = field(default_factory=dict)
    claims: set = field(default_factory=set)
    """(better, worse)."""
    whole: bool = False
    """Whether it speaks of every pair, or only of the recommended one."""


def markdown_rows(text):
    lines = [line.strip()[1:-1].split("|") for line in text.splitlines()]
    head, _, *rows = [[cell.strip().replace("\\", "") for cell in line] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in rows]


def latex_rows(text):
    plain = text.replace("\\textless{}", "<").replace("\\textgreater{}", ">").replace("{-}", "-")
    plain = plain.replace("$-$", "-")
    lines = [line.strip().removesuffix("\\\\").split("&")
             for line in plain.splitlines() if line.endswith("\\\\")]  # fmt: skip
    head, *rows = [[cell.strip() for cell in line] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in rows]


def html_rows(text):
    head = re.findall(r"<th [^>]*>(.*?)</th>", text)
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", text)]
    clean = [[html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in row] for row in rows[1:]]
    return [dict(zip(head, row, strict=True)) for row in clean]


def csv_rows(table):
    titles = {column.key: column.title for column in table.columns}
    rows = csv.DictReader(io.StringIO(table.to_csv()))
    return [{titles[key]: cell for key, cell in row.items()} for row in rows]


def table_forms(table):
    yield "Markdown", markdown_rows(table.to_markdown())
    yield "LaTeX", latex_rows(table.to_latex())
    yield "HTML", html_rows(str(table.to_html()))
    yield "CSV", csv_rows(table)


def pairs_said(order):
    """The table of pairs in every form."""
    for form, rows in table_forms(pairs_table(order.evidence)):
        said = Said(where=f"pairs, {form}", whole=True)
        for row in rows:
            a, b = row["A"], row["B"]
            said.p[frozenset((a, b))] = row["p"]
            said.low[a, b], said.high[a, b] = row["From"], row["To"]
            if row["Verdict"] != "too close to call":
                said.claims.add((a, b) if row["Verdict"] == "A better" else (b, a))
        yield said


def learners_said(order):
    """The table of learners in every form: pairs with the recommended one."""
    best = order.recommended
    for form, rows in table_forms(learners_table(order)):
        said = Said(where=f"learners, {form}")
        for row in rows:
            name = row[order.noun.capitalize()]
            verdict = row["Verdict"]
            if name == best:
                assert verdict == "recommended"
                continue
            if row.get("p"):
                said.p[frozenset((name, best))] = row["p"]
                said.low[name, best], said.high[name, best] = row["From"], row["To"]
            if verdict in ("worse", "better"):
                said.claims.add((best, name) if verdict == "worse" else (name, best))
        yield said


def text_said(order):
    """The sentences: the groups, with the numbers of each learner."""
    best = order.recommended
    said = Said(where="text")
    lines = order.explain().split("\n")
    listed = []
    for start, other, members in (match.groups() for match in map(GROUP.fullmatch, lines) if match):
        assert other == best
        for name, inside in re.findall(r"(L\d) \(([^()]*)\)", members):
            listed.append(name)
            p = re.search(P, inside)
            if p:
                said.p[frozenset((name, best))] = p[0]
            both = re.search(rf"interval ({NUMBER}) to ({NUMBER})", inside)
            # "better by" turns the difference and its interval about
            # the difference of the means may have the other direction
            turned = " better by " in f" {inside}".replace("its mean is better by", "")
            if both:
                ends = (name, best) if not turned else (best, name)
                said.low[ends], said.high[ends] = both[1], both[2]
            if start.startswith("Significantly"):
                said.claims.add((best, name) if " worse " in start else (name, best))
    assert sorted(listed) == sorted(name for name in order.by_preference if name != best)
    return said


def headline_said(order):
    """The claims and the numbers of the first sentences."""
    best, text = order.recommended, order.headline()
    said = Said(where="headline")
    names = r"(L\d(?:(?:, | and )L\d)*)"
    for match in re.finditer(rf"[Ii]t is significantly better than {names}", text):
        said.claims |= {(best, name) for name in re.findall(r"L\d", match[1])}
    out = rf"{names}, which [^,]*, (?:is|are) out because (L\d) is significantly better\."
    for match in re.finditer(out, text):
        said.claims |= {(match[2], name) for name in re.findall(r"L\d", match[1])}
    for match in re.finditer(rf"(?:But|Yet) {names} (?:is|are) significantly better", text):
        said.claims |= {(name, best) for name in re.findall(r"L\d", match[1])}
    has = r"(L\d) has the (?:(?!L\d|shown).)*, and is significantly better\."
    for name in re.findall(has, text):
        said.claims.add((name, best))
    for match in re.finditer(rf"{names} (?:is|are) significantly worse", text):
        said.claims |= {(best, name) for name in re.findall(r"L\d", match[1])}
    close = rf"(L\d) has the [^(]*\([^)]*\), but the two are too close to call \(({P})"
    for name, p in re.findall(close, text):
        said.p[frozenset((name, best))] = p
    return said


def edges_said(order):
    """The sentence about the preference."""
    told = re.search(
        r"The data (?:do not )?override (?:this|it)(?: in (none|\d+) of \d+ pairs)?"
        r"(?:: (.*?))?\.\n",
        order.explain() + "\n",
    )
    assert told is not None, "no sentence about the preference"
    pairs = set(re.findall(r"(L\d) over (L\d)", told[2] or ""))
    if told[1] is None:
        return len(pairs), pairs
    return 0 if told[1] == "none" else int(told[1]), pairs


def groups_said(order):
    """The groups of the page."""
    said = Said(where="groups of the page")
    best = order.recommended
    forest = forest_of(order)
    for group in () if forest is None else forest.groups:
        for member in group.members:
            name = re.sub(r"<[^>]+>", "", str(member.name))
            if group.kind == "recommended":
                assert name == best
                continue
            if member.p:
                said.p[frozenset((name, best))] = re.search(P, member.p)[0]
            ends = re.fullmatch(rf"({NUMBER}) to ({NUMBER})", member.interval)
            if ends:
                said.low[name, best], said.high[name, best] = ends[1], ends[2]
            if group.kind in ("worse", "better"):
                said.claims.add((best, name) if group.kind == "worse" else (name, best))
    return said


def terminal_said(order):
    """The table of the command line."""
    columns = {column.key: column.cells for column in shown_columns(order, 160)}
    said = Said(where="terminal")
    best = order.recommended
    assert len(columns["learner"]) == len(order.by_preference)
    blank = [""] * len(order.by_preference)
    rows = (columns.get(key, blank) for key in ("learner", "verdict", "p", "interval"))
    for name, verdict, p, interval in zip(*rows, strict=True):
        assert verdict.startswith("recommended") == (name == best)
        if p:
            said.p[frozenset((name, best))] = f"p {p}" if p[0] in "<>" else f"p = {p}"
        both = re.fullmatch(rf"({NUMBER}) to ({NUMBER})", interval)
        if both:
            said.low[name, best], said.high[name, best] = both[1], both[2]
        if verdict in ("worse", "better"):
            said.claims.add((best, name) if verdict == "worse" else (name, best))
    return said


# ---- and that it is one number


@dataclass
class Truth:
    """The evidence of the JSON, by pair."""

    order: bk.decide.Decision
    told: dict
    rows: dict
    claims: set

    @classmethod
    def of(cls, order):
        told = json.loads(order.to_json())
        rows = {frozenset((row["a"], row["b"])): row for row in told["evidence"]}
        return cls(order=order, told=told, rows=rows, claims={tuple(c) for c in told["claims"]})

    def worse_by(self, a, b):
        """Ends of the interval of the loss of a minus that of b; None where it is open."""
        row = self.rows[frozenset((a, b))]
        low, high = row["low"], row["high"]
        if self.told["metric"]["higher_is_better"]:
            low, high = _negative(high), _negative(low)
        return (low, high) if (a, b) == (row["a"], row["b"]) else (_negative(high), _negative(low))


def _negative(value):
    return None if value is None else 0.0 - value


def _matches_p(text, p, alpha):
    """A p-value as printed stands for this number."""
    if text.startswith("p "):
        return text == pvalue_words(p, alpha)
    if text[0] in "<>":
        return (p < 1e-300) if text[0] == "<" else (0.99995 <= p < 1)
    return float(text) in (p, float(f"{p:.4g}"))


def _matches(text, value):
    if value is None:
        return text in ("", "infinite", "minus infinite")
    # within half a unit of the last digit that is printed
    unit = 10.0 ** Decimal(text).as_tuple().exponent
    return abs(float(text) - value) <= 0.5 * unit * (1 + 1e-6)


def check_said(truth, said, *, worse_by):
    order = truth.order
    for pair, text in said.p.items():
        assert _matches_p(text, truth.rows[pair]["adjusted_pvalue"], order.alpha), (
            said.where,
            pair,
        )
    for (a, b), text in said.low.items():
        row = truth.rows[frozenset((a, b))]
        low, high = truth.worse_by(a, b) if worse_by else (row["low"], row["high"])
        assert _matches(text, low), (said.where, a, b, "low", text, low)
        assert _matches(said.high[a, b], high), (said.where, a, b, "high", said.high[a, b], high)


def check_claims(truth, said):
    best = truth.order.recommended
    expected = {claim for claim in truth.claims if said.whole or best in claim}
    assert said.claims == expected, said.where


def check_json(truth):
    """The parts of the JSON agree with each other."""
    told, order = truth.told, truth.order
    best = told["recommended"]
    found = set()
    for row in told["evidence"]:
        assert (row["adjusted_pvalue"] <= order.alpha) >= row["rejected"]
        assert row["rejected"] == (row["better"] is not None)
        if row["rejected"]:
            other = row["b"] if row["better"] == row["a"] else row["a"]
            found.add((row["better"], other))
        low, high = row["low"], row["high"]
        if low is not None and high is not None:
            assert low <= high
        inside = (low is None or low <= 0) and (high is None or high >= 0)
        if not inside:
            assert row["rejected"], row
    assert found == truth.claims
    for standing in told["standings"]:
        name = standing["name"]
        row = truth.rows.get(frozenset((name, best)))
        if row is None:
            assert standing["verdict"] == "not tested"
            assert standing["adjusted_pvalue"] is None
            continue
        # a p-value of the other direction says nothing of what is not tested
        tested = standing["verdict"] != "not tested"
        assert standing["adjusted_pvalue"] == (row["adjusted_pvalue"] if tested else None)
        assert standing["pvalue"] == (row["pvalue"] if tested else None)
        assert (standing["low"], standing["high"]) == pytest.approx(truth.worse_by(name, best))
        verdict = {(best, name): "worse", (name, best): "better"}
        claimed = [verdict[claim] for claim in verdict if claim in truth.claims]
        assert standing["verdict"] in (claimed or ["too close to call", "not tested"])
    worse = {s["name"] for s in told["standings"] if s["verdict"] == "worse"}
    assert set(told["adequate"]) == set(told["by_preference"]) - worse
    for i, j in told["edges"]:
        assert (j, i) in truth.claims


def check_live(truth):
    """The data of the page, which decides from them."""
    order, data = truth.order, live_data(truth.order)
    if data is None:
        assert order.evidence.family.name != "all"
        return
    names = data["names"]
    adjusted = data["adjusted"][order.correction]
    claims, row = set(), 0
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            assert adjusted[row] == truth.rows[frozenset((a, b))]["adjusted_pvalue"]
            if adjusted[row] <= data["alpha"] and data["direction"][row]:
                claims.add((a, b) if data["direction"][row] < 0 else (b, a))
            row += 1
    assert claims == truth.claims
    for name, shown in zip(names, data["shown"], strict=True):
        assert shown == shown_means(order)[name]


def check_figures(truth):
    order = truth.order
    best = order.recommended
    for standing in order.standings:
        name, verdict = standing.name, standing.verdict
        row = truth.rows.get(frozenset((name, best)))
        untested = row is None or verdict == "not tested"
        assert standing.adjusted_pvalue == (None if untested else row["adjusted_pvalue"])
        if row is not None:
            ends = [end if np.isfinite(end) else None for end in (standing.low, standing.high)]
            assert ends == pytest.approx(truth.worse_by(name, best))
        assert (verdict == "worse") == ((best, name) in truth.claims)
        assert (verdict == "better") == ((name, best) in truth.claims)
    if len(truth.rows) != len(order.by_preference) * (len(order.by_preference) - 1) // 2:
        return
    pairs = comparisons_of(order)
    claims = set()
    for i, a in enumerate(pairs.names):
        for j, b in enumerate(pairs.names):
            if i != j:
                assert pairs.pvalue[i, j] == truth.rows[frozenset((a, b))]["adjusted_pvalue"]
                if pairs.better[i, j] < 0:
                    claims.add((a, b))
    assert claims == truth.claims


def check_text(truth):
    order = truth.order
    text, first = text_said(order), headline_said(order)
    for said in (text, first):
        check_said(truth, said, worse_by=True)
    check_claims(truth, text)
    assert first.claims <= truth.claims
    if order.preference.stated:
        edges = {(j, i) for i, j in order.edges}
        count, shown = edges_said(order)
        assert count == len(edges)
        assert shown <= edges
        if count <= 7:
            assert len(shown) == count
    verdicts = {one.name: one.verdict for one in order.standings}
    if order.preference.stated:
        return
    # without a preference the first sentences name the groups, or count them
    text = order.headline()
    worse = {name for name, verdict in verdicts.items() if verdict == "worse"}
    named = {loser for winner, loser in first.claims if winner == order.recommended}
    assert named <= worse
    if not re.search("others|the other ", text):
        assert named == worse
    if "depends on the missing scores" in text:
        return
    close = {name for name, verdict in verdicts.items() if verdict == "too close to call"}
    if order.decidable and order.mean_losses[order.smallest_mean] != max(
        order.mean_losses.values()
    ):
        assert ("too close to call" in text) == bool(close)


def check_table_order(truth):
    """Every table is by mean, best first, in the user's metric, with one recommended row."""
    order, told = truth.order, truth.told
    means = told["means"]
    sign = -1.0 if order.metric.higher_is_better else 1.0
    terminal = {column.key: list(column.cells) for column in shown_columns(order, 160)}
    frame = order.table()
    by_column = dict(zip(frame["learner"], frame[frame.columns[2]], strict=False))
    for names in (terminal["learner"], list(frame["learner"])):
        losses = [sign * means[name] for name in names]
        assert all(b - a >= -1e-12 for a, b in pairwise(losses))
        assert set(names) == set(order.by_preference)
    assert list(order.means) == list(order.mean_losses)
    assert order.means == pytest.approx(means, abs=1e-12)
    assert all(by_column[name] == order.means[name] for name in by_column)
    marks = dict(zip(terminal["learner"], terminal["mark"], strict=True))
    assert [name for name, mark in marks.items() if mark] == [order.recommended]
    marked = frame.loc[frame["verdict"] == "recommended", "learner"].tolist()
    assert marked == [order.recommended]
    texts = shown_means(order)
    assert terminal["mean"] == [texts[name] for name in terminal["learner"]]
    if not order.preference.stated:
        # the first sentence never recommends a worse mean
        assert order.recommended == order.smallest_mean
        assert terminal["learner"][0] == order.recommended


def check_advice(truth):
    """What is said to settle a pair is about a pair that is open, and its own difference."""
    for line in (statement.text for statement in truth.order.select("next")):
        for a, b, difference in re.findall(r"(L\d) against (L\d) \(difference ([\d.e-]+)\)", line):
            assert not {(a, b), (b, a)} & truth.claims
            estimate = abs(truth.rows[frozenset((a, b))]["estimate"])
            assert _matches(difference, float(f"{estimate:.2g}")), line


def check_zeros(order):
    """Nothing is printed as minus zero, as not a number, or with a tail of rounding."""
    tables = [learners_table(order), pairs_table(order.evidence)]
    texts = [order.explain(), *(table.to_markdown() for table in tables)]
    forest = forest_of(order)
    texts += [
        f"{member.mean} {member.worse_by} {member.p}"
        for group in (() if forest is None else forest.groups)
        for member in group.members
    ]
    for text in texts:
        assert not re.search(r"(?<![\w.])-0(?:\.0+)?(?![\d.e])|\bnan\b", text), text


def check_margins(truth):
    """Sentences, table and JSON give one verdict with the margin, which no other number refutes."""
    order, best = truth.order, truth.order.recommended
    if not order.margins:
        return
    (statement,) = order.select("margin")
    titles = {
        "better": "Significantly better",
        "open": "Not shown to be within the margin, nor",
        "worse": "Significantly worse, and not",
        WITHIN_MARGIN: "Shown not to be worse",
    }
    listed = {
        name: sentence
        for sentence in re.split(r"(?<=\.) ", statement.text)[1:]
        for name in re.findall(r"L\d", sentence)
    }
    table = learners_table(order)
    by_key = {column.key: column.cells for column in table.columns}
    in_table = dict(zip(by_key["learner"], by_key["margin"], strict=True))
    in_json = {one["name"]: one["margin"]["verdict"] for one in truth.told["standings"]}
    for name, one in order.margins.items():
        assert listed[name].startswith(titles[one.verdict]), (name, statement.text)
        assert in_table[name] == in_json[name] == one.verdict
        assert (one.verdict == "better") == ((name, best) in truth.claims)
        assert (one.verdict == "worse") <= ((best, name) in truth.claims)
        if one.verdict == WITHIN_MARGIN:
            assert one.adjusted_pvalue <= order.alpha
            tested = frozenset((name, best)) in truth.rows
            low = truth.worse_by(name, best)[0] if tested else None
            if low is not None:
                assert low < order.margin
    if WITHIN_MARGIN in {one.verdict for one in order.margins.values()}:
        assert "alpha of their own" in statement.text


def check_zero_in_intervals(truth):
    """If the interval of a claimed difference includes 0, every view says why."""
    includes = any(
        row["rejected"] and (row["low"] is None or row["low"] <= 0)
        and (row["high"] is None or row["high"] >= 0)
        and not (row["low"] is None and row["high"] is None)
        for row in truth.told["evidence"]
    )  # fmt: skip
    order = truth.order
    if not any(row["low"] is not None or row["high"] is not None for row in truth.told["evidence"]):
        return
    said = "can include 0" in order.explain()
    assert said == includes
    assert ("less strict than the intervals" in order.select("evidence")[0].short) == includes
    assert any("can include 0" in one["text"] for one in truth.told["statements"]) == includes
    if includes and len(truth.rows) > 1:
        assert order.correction not in ("none", "bonferroni"), order.correction


def check_noun(order):
    """Models that were fitted once are models, and learners are learners."""
    other = "learner" if order.noun == "model" else "model"
    assert (order.noun == "model") == (order.problem.design.kind in ("test-set", "holdout"))
    columns = [column.title for column in shown_columns(order, 160)]
    table = learners_table(order)
    texts = [
        order.headline(),
        *columns,
        table.title,
        table.note,
        *(column.title for column in table.columns),
        *(one.text for one in order.select("evidence", "ranking", "margin", "standing")),
    ]
    assert not any(re.search(rf"\b{other}s?\b", text.lower()) for text in texts)


def check_missing(truth):
    """Missing scores are in the first sentence; a verdict that depends on them claims nothing."""
    order = truth.order
    missing = order.problem.missing
    if missing is None or missing.as_worst is None:
        return
    first = order.headline()
    assert all(f"{name} has no score on" in first for name in list(missing.counts)[:6])
    if "depends on the missing scores" in first.split(":")[0]:
        assert "Use " not in first
    assert set(order.claims) <= set(missing.as_worst.claims())
    assert set(order.claims) <= set(order.evidence.cache["before missing"].claims())


def check_page(order, path):
    """The page contains every statement that the explanation has."""
    order.report(path)
    page = " ".join(html.unescape(re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8"))).split())
    for one in order.select("verdict", "margin", "estimand", "evidence", "caution", "next"):
        assert " ".join(one.text.split()) in page, one.text


def check(order):
    truth = Truth.of(order)
    check_margins(truth)
    check_zero_in_intervals(truth)
    check_noun(order)
    check_missing(truth)
    check_zeros(order)
    assert truth.claims == set(order.claims)
    check_json(truth)
    for said in pairs_said(order):
        check_said(truth, said, worse_by=False)
        check_claims(truth, said)
        assert set(said.p) == set(truth.rows)
    for said in (*learners_said(order), groups_said(order), terminal_said(order)):
        check_said(truth, said, worse_by=True)
        check_claims(truth, said)
    check_text(truth)
    check_table_order(truth)
    check_advice(truth)
    check_live(truth)
    check_figures(truth)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_output_says_the_same_of_every_pair(batch, tmp_path):
    kinds = set()
    for seed in range(batch, TABLES, BATCHES):
        order = random_order(np.random.default_rng([7, seed]))
        try:
            check(order)
            if seed % 30 < BATCHES:
                check_page(order, tmp_path / "page.html")
        except AssertionError as failed:
            raise AssertionError(f"seed {seed}: {failed}\n{order.explain()}") from failed
        kinds.add((order.design.split()[-1], order.evidence.family.name, bool(order.claims)))
    assert len(kinds) > 8
