"""Search random results for statements that contradict each other.

Draw losses of many designs, decide, and compare the sentence, the table, the pairs, the JSON, the
figure and the report of each result with each other.

Usage: python studies/contradictions.py [--results 10000] [--seed 0] [--views 20]
"""

from __future__ import annotations

import argparse
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

import bestofk as bk
from bestofk.decide.decision import MAY_BE_BEST, RECOMMENDED, RULED_OUT, WITHIN_MARGIN, Decision
from bestofk.decide.statements.wording import at_most_text
from bestofk.report.figures.kinds.forest import layout_forest

TESTS = {
    "kfold": ("auto", "kfold-t"),
    "repeated": ("auto", "corrected-repeated-kfold-t"),
    "5x2": ("auto", "5x2cv-f"),
    "datasets": ("auto", "paired-t", "permutation", "wilcoxon", "sign"),
    "right-or-wrong": ("auto",),
    "graded": ("auto", "paired-t"),
    "seeds": ("auto", "welch-t"),
    "time": ("auto",),
}
"""Tests by design. The published 5x2cv-t decides by one fold, which may contradict the means."""


def random_losses(rng: np.random.Generator) -> tuple[str, bk.Scores]:
    """Draw losses of a random design, shape and scale."""
    design = str(rng.choice(list(TESTS)))
    K = int(rng.integers(2, 9))
    shape = {
        "kfold": (10,), "repeated": (5, 10), "5x2": (5, 2), "datasets": (int(rng.integers(4, 60)),),
        "right-or-wrong": (int(rng.integers(10, 300)),), "graded": (int(rng.integers(5, 200)),),
        "seeds": (int(rng.integers(3, 20)),), "time": (int(rng.integers(40, 200)),),
    }[design]  # fmt: skip
    means = 0.3 + rng.choice([0.0, 0.02, 0.1]) * rng.random(K)
    if design == "right-or-wrong":
        values = (rng.random((K, *shape)) < means[:, None]).astype(float)
    else:
        noise = rng.standard_normal((K, *shape))
        if rng.random() < 0.3:
            noise = rng.exponential(1.0, noise.shape) - 1.0
        values = means.reshape(K, *[1] * len(shape)) + rng.choice([0.001, 0.02, 0.1]) * noise
        if rng.random() < 0.2:
            values = values.round(2)
        values = values * rng.choice([1.0, 1.0, 100.0, 1e-5])
    names = [f"m{k}" for k in rng.permutation(K)]
    dims: tuple[str, ...] = ("learner", "run", "fold")
    options: dict[str, Any] = {}
    if len(shape) == 1:
        dims = ("learner", "fold")
    if design == "datasets":
        dims = ("learner", "dataset")
    elif design in ("right-or-wrong", "graded"):
        dims = ("learner", "instance")
    elif design in ("seeds", "time"):
        options["design"] = design
    if rng.random() < 0.3 and design not in ("seeds", "time"):
        options["loss_name"] = "1 - accuracy"
    return design, bk.Scores(values, dims=dims, learners=names, **options)


def random_results(count: int, seed: int) -> Iterator[tuple[str, Decision]]:
    """Yield decisions about random losses with random settings."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        design, losses = random_losses(rng)
        options: dict[str, Any] = {"test": str(rng.choice(TESTS[design]))}
        if rng.random() < 0.4:
            options["prefer"] = [str(name) for name in rng.permutation(losses.learners)]
        if rng.random() < 0.3 and np.ptp(losses.losses) > 0:
            margin = float(rng.choice([0.001, 0.02, 0.1]) * np.ptp(losses.losses))
            options["margin"] = min(margin, 0.9) if losses.metric.higher_is_better else margin
        if rng.random() < 0.2:
            options["alpha"] = float(rng.choice([0.01, 0.1, 0.2]))
        if rng.random() < 0.2:
            options["correction"] = "holm"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield f"{design}, {options}", bk.compare_scores(losses, **options)


def contradictions(result: bk.Result) -> list[str]:
    """Return what contradicts each other in the values and sentences of a result."""
    decision = result.decision
    rows = {row.name: row for row in decision.standings}
    verdicts = Counter(row.verdict for row in decision.standings)
    wrong: list[str] = []

    def check(holds: Any, what: str) -> None:
        if not holds:
            wrong.append(what)

    candidates, best = set(decision.candidates), decision.recommended
    check(set(rows) == set(decision.by_preference), "the table has other learners")
    check(verdicts[RECOMMENDED] == (best is not None), "not one recommended row")
    assert decision.best is not None
    eligible = candidates | {
        name
        for name, row in rows.items()
        if decision.margin is not None
        and row.at_most is not None
        and row.at_most <= decision.margin
    }
    for name, row in rows.items():
        check((row.verdict == RULED_OUT) == (name not in eligible), f"verdict of {name}")
        check(row.verdict != MAY_BE_BEST or name in candidates, f"{name} may not be the best")
        if row.at_most is None or row.at_least is None:
            continue
        slack = 1e-9 * (1.0 + abs(row.at_most))
        check(0.0 <= row.at_least <= row.at_most + slack, f"bounds of {name}")
        check(name not in candidates or row.at_least == 0.0, f"candidate {name} is worse")
        check(
            row.at_least - slack <= row.difference <= row.at_most + slack,
            f"the difference of {name} is outside its bounds",
        )
    if best is not None:
        first = next(name for name in decision.by_preference if name in eligible)
        if not decision.preference.stated:
            first = decision.candidates[0]
        check(best == first, "the recommended one is not the most preferred")
        check(decision.ranking[0] == best, "the order does not start with it")
    wrong += _pair_contradictions(decision)
    wrong += _headline_contradictions(decision)
    written = json.loads(json.dumps(result.to_dict(pairs=True), allow_nan=False))
    check(written["recommended"] == best, "JSON: recommended")
    check(written["candidates"] == list(decision.candidates), "JSON: candidates")
    check([row["verdict"] for row in written["table"]] == [r.verdict for r in rows.values()],
          "JSON: verdicts")  # fmt: skip
    table = result.table
    check(table["verdict"].tolist() == [row.verdict for row in rows.values()], "frame: verdicts")
    alt = layout_forest(decision).alt
    shown = {verdict: f"{count} {verdict}" in alt for verdict, count in verdicts.items()}
    check(all(shown.values()), "figure: verdicts")
    return wrong


def _pair_contradictions(decision: Decision) -> list[str]:
    """Return what contradicts each other in the pairs, and between them and the table."""
    wrong = []
    candidates = set(decision.candidates)
    typical = decision.test in ("sign", "wilcoxon")
    evidence = decision.pair_evidence
    for k in range(len(evidence)):
        a, b = evidence.names[evidence.first[k]], evidence.names[evidence.second[k]]
        better, estimate = int(evidence.better[k]), evidence.estimate[k]
        low, high = evidence.low[k], evidence.high[k]
        shown = evidence.adjusted_pvalue[k] <= decision.alpha
        if shown != (better != 0) and estimate != 0:
            wrong.append(f"p and verdict of {a} and {b}")
        finite = np.isfinite(low) and np.isfinite(high)
        inside = low < 0 < high if better else low <= 0 <= high
        if finite and inside == (better != 0):
            wrong.append(f"interval and verdict of {a} and {b}")
        if not better:
            continue
        loser = b if better < 0 else a
        if loser in candidates and decision.correction == "bonferroni":
            wrong.append(f"{loser} is beaten and may be the best")
        if not typical and (estimate > 0) != (better > 0):
            wrong.append(f"sign of {a} and {b}")
    ranks = decision.ranks
    if ranks is not None and decision.correction == "bonferroni":
        wrong += [
            f"{name} may be the best and cannot rank first"
            for name, low in zip(ranks["name"], ranks["from"].tolist(), strict=True)
            if name in candidates and low > 1
        ]
    return wrong


def _headline_contradictions(decision: Decision) -> list[str]:
    """Return what the first sentences say that the table does not."""
    text, rows = decision.headline, decision.standings
    best = decision.recommended
    if best is None:
        return [] if "contradict" in text else ["no recommendation and no reason"]
    wrong = []
    if not re.search(rf"[Uu]se {re.escape(str(best))}\b", text):
        wrong.append("the sentence does not name the recommended one")
    row = next(row for row in rows if row.name == best)
    bounds = re.findall(r"at most (\S+) worse", text)
    if bounds and bounds[0] != at_most_text(decision, row.at_most):
        wrong.append("the sentence has another bound")
    if not bounds and row.at_most and decision.decidable:
        wrong.append("the sentence lacks the bound")
    may_be = [row for row in rows if row.verdict in (MAY_BE_BEST, WITHIN_MARGIN)]
    out = [row for row in rows if row.verdict == RULED_OUT]
    if ("ruled out" in text.replace("Nothing can be ruled out", "")) and not out:
        wrong.append("the sentence rules out nobody")
    if "is the best of" in text and decision.candidates != (best,):
        wrong.append("the sentence claims a single best")
    if re.search(r"(Any|Either) of the", text) and out:
        wrong.append("the sentence keeps all")
    if "may be as good" in text and not may_be:
        wrong.append("the sentence names others that may be as good")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    found: Counter[str] = Counter()
    for case, decision in random_results(chosen.results, chosen.seed):
        for one in contradictions(decision):
            kind = re.sub(r"\bm\d\b", "X", one)
            found[kind] += 1
            if found[kind] <= 3:
                print(f"{one}: {case}\n    {decision.headline}")
    total = sum(found.values())
    print(f"{total} contradictions in {chosen.results:,} results. {dict(found)}")


if __name__ == "__main__":
    main()
