"""Every output has the same numbers for a pair, and intervals agree with p-values."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bestofk as bk

TESTS = {
    "repeated-kfold": ((3, 4), ["corrected-repeated-kfold-t", "use-all-data", "sorted-runs"]),
    "kfold": ((1, 8), ["corrected-repeated-kfold-t", "kfold-t", "correlated-t"]),
    "5x2": ((5, 2), ["5x2cv-f", "5x2cv-t"]),
    "datasets": ((), ["wilcoxon", "permutation", "sign", "paired-t"]),
}
CASES = [(place, test) for place, (_, tests) in TESTS.items() for test in tests]


def random_table(place, seed, *, learners=4, higher=False, n=12):
    rng = np.random.default_rng(seed)
    means = rng.normal(0.5, 0.04, (learners, 1))
    shape = TESTS[place][0] or (n,)
    values = means + rng.normal(0, 0.03, (learners, int(np.prod(shape))))
    values = np.round(values, 2) if seed % 3 == 0 else values
    dims = ("learner", "run", "fold") if TESTS[place][0] else ("learner", "dataset")
    return bk.Scores(
        values.reshape(learners, *shape), dims=dims, learners=list("abcdefgh")[:learners],
        higher_is_better=higher, loss_name="accuracy" if higher else "zero-one",
    )  # fmt: skip


@pytest.mark.parametrize("higher", [False, True], ids=["loss", "score"])
@pytest.mark.parametrize(
    "asked",
    [{}, {"family": "preference"}, {"family": "control", "control": "b"}],
    ids=["all", "preference", "control"],
)
@pytest.mark.parametrize(("place", "test"), CASES)
def test_a_pair_has_one_pvalue_one_interval_and_one_verdict(place, test, asked, higher):
    for seed in range(3):
        table = random_table(place, seed, higher=higher)
        order = bk.compare_scores(table, test=test, prefer=["c", "a", "b", "d"], **asked)
        held = json.loads(json.dumps(order.to_dict(pairs=True), allow_nan=False))
        rows = {frozenset((row["a"], row["b"])): row for row in held["pairs"]}
        evidence = order.decision.pair_evidence
        sign = -1.0 if higher else 1.0
        assert len(order.pairs) == len(evidence) == len(rows)
        for row, frame in enumerate(order.pairs.to_dict("records")):
            shown = rows[frozenset((frame["a"], frame["b"]))]
            assert shown["p"] == evidence.pvalue[row] == frame["p"]
            assert shown["adjusted_p"] == evidence.adjusted_pvalue[row] == frame["adjusted_p"]
            winner = {0: None, -1: frame["a"], 1: frame["b"]}[evidence.better[row]]
            assert shown["better"] == winner
            assert shown["difference"] == sign * evidence.estimate[row] == frame["difference"]
            ends = sorted((sign * evidence.low[row], sign * evidence.high[row]))
            for name, end in zip(("low", "high"), ends, strict=True):
                if name in shown:
                    assert shown[name] == (end if np.isfinite(end) else None)
        assert set(order.decision.claims) == {
            (row["better"], row["a"] if row["better"] == row["b"] else row["b"])
            for row in rows.values()
            if row["better"]
        }
        for standing, row in zip(order.decision.standings, held["table"], strict=True):
            assert row == {name: getattr(standing, name) for name in row}
            pair = rows.get(frozenset((standing.name, order.recommended)))
            if order.decision.best is None and standing.name != order.recommended:
                # other rules compare with the recommended learner
                shown = {None: ("no difference shown", "not tested"), standing.name: ("better",),
                         order.recommended: ("worse",)}  # fmt: skip
                assert row["verdict"] in shown[None if pair is None else pair["better"]]


@given(st.integers(0, 10**6), st.floats(0.001, 0.4))
def test_claims_are_the_pvalues_at_the_level_and_a_larger_level_claims_more(seed, alpha):
    table = random_table("kfold", seed, learners=5)
    order = bk.compare_scores(table, alpha=alpha)
    evidence = order.decision.evidence
    claimed = evidence.adjusted_pvalue <= alpha
    np.testing.assert_array_equal(evidence.better, claimed * evidence.direction)
    more = bk.compare_scores(table, alpha=min(0.5, 2 * alpha))
    assert set(order.decision.claims) <= set(more.decision.claims)


def test_rounding_is_no_difference():
    # the same numbers in another order have another mean in floating point
    drawn = (np.random.default_rng(seed).random(9) for seed in range(100))
    first = next(one for one in drawn if one.mean() != one[::-1].mean())
    values = np.stack([first, first[::-1]])
    order = bk.compare_scores(bk.Scores(values, learners=["a", "b"], design="kfold:9"))
    assert order.decision.evidence.estimate.tolist() == [0.0]
    assert order.decision.standings[0].difference == 0.0
    assert "e-" not in order.explain()


def test_posterior_probabilities_are_those_of_the_bayesian_test():
    table = random_table("kfold", 1)
    order = bk.compare_scores(table, rope=0.01)
    for row in order.to_dict(pairs=True)["pairs"]:
        a, b = (table.losses[table.learners.index(row[name])].ravel() for name in "ab")
        own = bk.stats.pairwise.correlated_t(a, b, rope=0.01, n_train=7, n_test=1)
        shares = [row[name] for name in ("a_better", "equivalent", "b_better")]
        assert shares == pytest.approx([own.left, own.rope, own.right])
        assert sum(shares) == pytest.approx(1.0)
