"""Battles between pairs of models: strengths, errors, ranks, and tables that are refused."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bestofk as bk
from bestofk._base.errors import BestOfKError
from bestofk.cli import main
from bestofk.decide import compare_battles
from bestofk.decide.battles import POINTS, read_battles
from bestofk.stats.battles import bradley_terry

COLUMNS = ["model_a", "model_b", "winner"]
COUNTS = {("x", "y"): (30, 12, 8), ("y", "z"): (20, 15, 5), ("z", "x"): (9, 25, 6),
          ("w", "x"): (7, 18, 4), ("w", "z"): (14, 11, 9), ("w", "y"): (8, 16, 0)}  # fmt: skip
"""Wins of the first model, wins of the second model, and ties."""
ROWS = [
    (*pair, winner)
    for pair, counts in COUNTS.items()
    for winner, count in zip(("model_a", "model_b", "tie"), counts, strict=True)
    for _ in range(count)
]
TABLE = pd.DataFrame(ROWS, columns=COLUMNS).assign(question_id=np.arange(len(ROWS)) % 23)
# bradley_terry of evalica 0.4.2, ilsr_pairwise of choix 0.4.1 (a tie as half a win) and
# BradleyTerry of arena-rank 0.1.1 agree in these digits
PEER_POINTS = {"x": 1107.7411, "y": 1000.3420, "w": 946.9614, "z": 944.9555}


def written(tmp_path, text):
    path = tmp_path / "battles.csv"
    path.write_text(text)
    return str(path)


def test_points_agree_with_other_packages():
    decision = compare_battles(TABLE)
    assert decision.decision.ranking == tuple(PEER_POINTS)
    assert decision.outcome.points == pytest.approx(list(PEER_POINTS.values()), abs=1e-4)


def test_errors_agree_with_other_packages():
    battles = read_battles(TABLE)
    arrays = battles.first, battles.second, battles.outcome
    fit = bradley_terry(*arrays, 4)
    # arena-rank 0.1.1 with hessian_reg=1e-7, without the factor for few battles
    errors = POINTS * np.sqrt(np.diag(fit.covariance) * fit.df / len(TABLE))
    assert dict(zip(battles.models, errors, strict=True)) == pytest.approx(
        {"x": 23.9213, "y": 23.5440, "z": 23.0718, "w": 26.7152}, abs=2e-3
    )
    # differences from x: GLM of statsmodels 0.15.0, cov_type="cluster", without (n - 1) / (n - k);
    # its factor has the number of clusters, ours their effective number
    clusters = TABLE["question_id"].to_numpy()
    fit = bradley_terry(*arrays, 4, clusters)
    C = fit.covariance / (1 + 1 / fit.df) * 23 / 22
    errors = POINTS * np.sqrt(C[0, 0] + np.diag(C) - 2 * C[0])
    assert errors[1:] == pytest.approx([21.5598, 17.1589, 20.8074], abs=1e-4)


def test_two_models_by_hand():
    """30 wins, 10 losses: log odds log 3 with the variance 1 / 30 + 1 / 10."""
    table = pd.DataFrame([("x", "y", "x")] * 30 + [("y", "x", "x")] * 10, columns=COLUMNS)
    table.loc[30:, "winner"] = "y"
    decision = compare_battles(table)
    assert decision.pairs.difference[0] == pytest.approx(400 * np.log10(3))
    # t interval with 39 degrees of freedom; the other model is worse by that
    half = stats.t.ppf(0.975, 39) * 400 / np.log(10) * np.sqrt((1 / 30 + 1 / 10) * 40 / 39)
    row = decision.decision.standings[1]
    ends = 400 * np.log10(3) + np.array([-half, half])
    assert (row.at_least, row.at_most) == pytest.approx(tuple(ends))
    fit = bradley_terry(np.zeros(40, int), np.ones(40, int), np.repeat([2, 0], [30, 10]), 2)
    assert 4 * fit.covariance[0, 0] == pytest.approx((1 / 30 + 1 / 10) * 40 / 39)


def test_all_ways_to_name_the_winner_agree():
    names = TABLE.assign(
        winner=[{"model_a": a, "model_b": b}.get(w, "Tie (bothbad)") for a, b, w in ROWS]
    )
    numbers = TABLE.assign(winner=TABLE["winner"].map({"model_a": 1, "model_b": 0, "tie": 0.5}))
    swapped = TABLE.rename(columns={"model_a": "Model_B", "model_b": "Model_A"}).assign(
        winner=TABLE["winner"].map({"model_a": "B", "model_b": "A", "tie": "draw"})
    )
    for table in (names, numbers, swapped):
        assert compare_battles(table).outcome.points == pytest.approx(
            compare_battles(TABLE).outcome.points
        )


def test_files_of_well_known_tools_agree(tmp_path):
    points = compare_battles(TABLE).outcome.points
    alpaca = TABLE.rename(columns={"model_a": "generator_1", "model_b": "generator_2"}).assign(
        preference=TABLE["winner"].map({"model_a": 1, "model_b": 2, "tie": 1.5}),
        output_1="one, two", instruction="three",
    )  # fmt: skip
    alpaca.drop(columns="winner").to_json(tmp_path / "annotations.json", orient="records")
    games = TABLE.rename(columns={"model_a": "model_1", "model_b": "model_2"}).assign(
        judge=[["gpt-4", "pair-v2"]] * len(TABLE),
        g1_winner=TABLE["winner"].map({"model_a": "model_1", "model_b": "model_2", "tie": "tie"}),
    )
    # the other order of the answers agrees, or one of both games is a tie
    games["g2_winner"] = games["g1_winner"].replace("tie", "model_2")
    games.drop(columns="winner").to_json(tmp_path / "p.jsonl", orient="records", lines=True)
    sides = TABLE.rename(columns={"model_a": "left", "model_b": "right"}).assign(
        winner=TABLE["winner"].map({"model_a": "left", "model_b": "right", "tie": "tie"})
    )
    arena = TABLE.assign(conversation_a=[[{"role": "user"}]] * len(TABLE))
    arena.to_parquet(tmp_path / "arena.parquet")
    for table in (tmp_path / "annotations.json", tmp_path / "p.jsonl", sides,
                  tmp_path / "arena.parquet"):  # fmt: skip
        assert compare_battles(table).outcome.points == pytest.approx(points)
        if not isinstance(table, pd.DataFrame):
            assert main(["scores", str(table), "--quiet"]) == 0


def test_uncertain_preferences_and_missing_verdicts(tmp_path):
    weighted = pd.DataFrame(
        {"generator_1": "x", "generator_2": "y", "preference": [1.2, 1.4, 1.9, 1.5, 1.6]}
    )
    decision = compare_battles(weighted)
    assert list(decision.outcome.win_rate.values()) == [0.5, 0.5]
    with pytest.raises(BestOfKError, match="must be a number from 1"):
        compare_battles(weighted.assign(preference=[1, 2, 3, 1, 2]))
    games = pd.DataFrame({"model_1": "x", "model_2": "y", "g1_winner": ["model_1", "tie"] * 4,
                          "g2_winner": ["model_1", "tie", "error", "tie"] * 2})  # fmt: skip
    with pytest.raises(BestOfKError, match="row 3, column 'g2_winner' is empty or holds no"):
        compare_battles(games)
    assert compare_battles(games, missing="drop").outcome.n_battles == 6


def test_equal_models_may_both_be_the_best():
    rows = [("x", "y", w) for w in ("x", "y") * 8] + [("x", "z", "x")] * 9 + [("y", "z", "y")] * 9
    rows += [("x", "z", "z"), ("y", "z", "z")]
    decision = compare_battles(pd.DataFrame(rows, columns=COLUMNS))
    assert decision.candidates == ("x", "y")
    assert "y may be as good; z is ruled out" in decision.explain()


def test_candidates_and_bounds_follow_from_the_intervals():
    """The intervals of all differences of points at 1 - alpha / (K - 1), by scipy."""
    decision = compare_battles(TABLE[::2])
    battles = read_battles(TABLE[::2])
    fit = bradley_terry(battles.first, battles.second, battles.outcome, 4)
    beta, C = POINTS * fit.strengths, POINTS**2 * fit.covariance
    error = np.sqrt(np.maximum(np.add.outer(np.diag(C), np.diag(C)) - 2 * C, 0))
    behind = beta - beta[:, None]
    half = stats.t.ppf(1 - 0.05 / 3 / 2, fit.df) * error
    candidates = [k for k in range(4) if not (behind[k] > half[k]).any()]
    assert {battles.models[k] for k in candidates} == set(decision.candidates)
    assert 1 < len(candidates) < 4
    at_most = {name: max(0, *((behind + half)[k, j] for j in candidates if j != k))
               for k, name in enumerate(battles.models)}  # fmt: skip
    rows = decision.decision.standings
    assert {row.name: row.at_most for row in rows} == pytest.approx(at_most)


def test_ranks_and_pairs_are_the_second_view():
    decision = compare_battles(TABLE)
    pairs = decision.pairs
    assert pairs.adjusted_p.tolist() == pytest.approx(np.minimum(6 * pairs.p, 1).tolist())
    claims = {(a, b) for a, b, better in zip(pairs.a, pairs.b, pairs.better, strict=True) if better}
    assert decision.ranks["from"].tolist() == [
        1 + sum((other, name) in claims for other in decision.decision.ranking)
        for name in decision.decision.ranking
    ]
    assert decision.candidates == ("x",)
    assert len(compare_battles(TABLE, alpha=1e-6).candidates) == 4
    frame = decision.table
    assert frame["name"].tolist() == list(decision.decision.ranking)
    assert frame["battles"].sum() == 2 * len(TABLE)


def test_command_line_and_python_agree(tmp_path, capsys):
    path = written(tmp_path, TABLE.to_csv(index=False))
    assert main(["scores", path, "--column", "cluster=question_id", "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)
    decision = compare_battles(TABLE, cluster="question_id")
    assert stored == json.loads(json.dumps(decision.to_dict()))
    assert main(["scores", path]) == 0
    text = capsys.readouterr().out
    assert "Use x: it is the best of the four (95 % confidence)." in text
    assert "A tie counts as half a win for each model (32 ties)." in text
    assert "name question_id as the cluster" in text
    assert main(["scores", path, "--quiet"]) == 0
    assert capsys.readouterr().out.split() == list(decision.decision.ranking)


def test_cautions():
    few = compare_battles(TABLE.assign(judge=np.arange(len(TABLE)) % 5), cluster="judge")
    assert "Caution: 5 clusters (as informative as 5 of equal size) are few" in few.explain()
    same = pd.DataFrame([("x", "y", w) for w in "xxy" * 6], columns=COLUMNS)
    decision = compare_battles(same.assign(q=np.arange(18) // 3), cluster="q")
    assert decision.candidates == ("x", "y")
    assert "gives no bound" in decision.explain()
    assert "nothing is claimed about them" in decision.explain()


def test_missing_cells_are_refused_or_dropped(tmp_path, capsys):
    path = written(tmp_path, TABLE.to_csv(index=False) + "x,y,,1\nx,,model_a,2\n")
    assert main(["scores", path]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "column 'model_b' is empty or holds no outcome: --set missing=drop leaves" in error
    assert main(["scores", path, "--set", "missing=drop"]) == 0
    assert "2 of 219 battles lack a cell and were left out." in capsys.readouterr().out


WON = "x,y,model_a\nx,y,model_b\n"


@pytest.mark.parametrize(
    ("rows", "words"),
    [("x,y,model_a\nx,y,x\n", "x won every battle against the other models"),
     (WON + "x,z,x\ny,z,y\n", "z lost every battle against the other models"),
     (WON + "v,w,v\nv,w,w\n", "no battle connects x and y with the other models"),
     (WON + "x,y,2\n", "must be model_a, model_b, tie, the name of one of both models, or 1, 0"),
     (WON + "x,z,y\n", "column 'winner' must be model_a, model_b, tie"),
     (WON + "x,x,tie\n", "line 4: x cannot battle against itself"),
     ("1,0,1\n1,0,0\n", "'1' can be the name of a model or an outcome"),
     ("x,y,tie\n", "at least as many battles as models; got 1 and 2"),
     ("x,y,tie\ny,z,tie\n" * 10, "every battle is a tie"),
     ("", "no rows")],
    ids=["wins all", "loses all", "apart", "unknown", "third model", "itself", "ambiguous", "one",
         "ties", "empty"],
)  # fmt: skip
def test_bad_tables_are_refused_in_one_sentence(tmp_path, rows, words, capsys):
    path = written(tmp_path, "model_a,model_b,winner\n" + rows)
    with pytest.raises(BestOfKError, match=words):
        compare_battles(path)
    assert main(["scores", path]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_bad_arguments_are_refused(tmp_path, capsys):
    path = written(tmp_path, TABLE.to_csv(index=False))
    for words, message in [
        (["--set", "test=sign"], "--set test=sign does not apply to battles"),
        (["--metric", "accuracy"], "--metric accuracy does not apply to battles"),
        (["--column", "cluster=prompt"], "no column 'prompt'"),
    ]:
        assert main(["scores", path, *words]) == 2
        assert message in " ".join(capsys.readouterr().err.split())
    with pytest.raises(BestOfKError, match="compare_battles"):
        bk.compare_scores(TABLE)
    with pytest.raises(BestOfKError, match="needs the columns model_a, model_b and winner"):
        compare_battles(TABLE.drop(columns="winner"))
    with pytest.raises(BestOfKError, match="only one cluster"):
        compare_battles(TABLE.assign(judge="j"), cluster="judge")
    with pytest.raises(BestOfKError, match="one cluster holds almost all battles"):
        compare_battles(TABLE.assign(judge=["j"] + ["k"] * (len(TABLE) - 1)), cluster="judge")
    with pytest.raises(BestOfKError, match="a path, a URL, a data frame"):
        compare_battles([1, 2])
    with pytest.raises(BestOfKError, match=r"absent\.csv"):
        compare_battles("absent.csv")
