"""Reports of a model choice: tables, figure, and hostile names."""

import pytest

import bestofk as bk
import bestofk.evals
from bestofk.report.figures.kinds.cost_frontier import cheapest_of_each_quality, layout_frontier
from bestofk.report.model_tables import model_tables
from bestofk.report.tables import learners_table

HOSTILE = [
    "<script>alert(1)</script>",
    "'\"><img src=x onerror=alert(2)>",
    "a\u202eb ]]> --> {{ 7 * 7 }} {% raw %} \\end{document}",
    '=HYPERLINK("http://x")|`x`',
]


@pytest.fixture
def hostile(tmp_path):
    """Models, tasks, items and clusters whose names try to break out."""
    import csv

    path = tmp_path / "logs.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["learner", "task", "item", "cluster", "score", "cost"])
        for k, name in enumerate(HOSTILE):
            for i in range(24):
                task = f"<b>{HOSTILE[i % 2]}"
                score = (i * 7 + k * 3) % 5 / 4
                item, cluster = f"{i}{HOSTILE[i % 4]}", f"{i // 3}</td><script>"
                out.writerow([name, task, item, cluster, score, k + 1])
    evals = bk.read_evals(path, cluster="cluster", higher_is_better=True)
    return bk.compare_evals(evals, prefer="cost", margin=0.05).outcome


def test_the_page_holds_every_part(tmp_path):
    choice = bk.compare_evals(
        bestofk.evals.example_evals("inspect-sums"), prefer="cost", margin=0.1
    ).outcome  # fmt: skip
    page = bk.Result(choice).report(tmp_path / "r.html").read_text(encoding="utf-8")
    for words in (
        "Quality against cost", "The items that decide", "have the same score",
        "Samples of every model by status", "may be the best",
        "With 95\N{NO-BREAK SPACE}% confidence", "Clusters of instances are independent",
    ):  # fmt: skip
        assert words in page


def test_the_tables_say_what_the_scores_say(hostile):
    tables = {table.name: table for table in (learners_table(hostile), *model_tables(hostile))}
    assert set(tables) == {"learners", "items", "agreement", "tasks", "samples"}
    scores = hostile.scores
    board = tables["learners"].to_frame().set_index("learner")
    for k, name in enumerate(scores.models):
        assert board.loc[name, "mean_score"] == pytest.approx(scores.mean[k].mean())
        assert board.loc[name, "cost"] == 1000 * (k + 1)
    best = hostile.recommended
    other = next(name for name in hostile.decision.by_mean if name != best)
    who, rival = (scores.models.index(name) for name in (best, other))
    items = tables["items"].to_frame()
    apart = (scores.mean[who] != scores.mean[rival]).sum()
    assert len(items) == apart
    same = tables["agreement"].to_frame().iloc[who, rival + 1]
    assert same == pytest.approx(1 - apart / len(scores.items))
    assert tables["tasks"].to_frame()["items"].tolist() == [12, 12]
    assert tables["samples"].to_frame()["scored"].tolist() == [24] * 4


def test_the_frontier_holds_those_that_nothing_beats():
    choice = bk.compare_evals(bestofk.evals.example_evals("inspect-sums"), prefer="tokens").outcome
    costs, means = choice.costs["tokens"], choice.decision.mean_losses
    found = cheapest_of_each_quality(costs, means)
    for name in costs:
        beaten = any(
            costs[k] <= costs[name] and means[k] <= means[name]
            and (costs[k] < costs[name] or means[k] < means[name])
            for k in costs
        )  # fmt: skip
        assert (name in found) != beaten
    assert f"on the frontier: {', '.join(found)}." in layout_frontier(choice).alt
