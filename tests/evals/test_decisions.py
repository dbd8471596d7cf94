"""Run every decision of docs/use/language-models.md on data whose truth is known.

The page shows each command with the first sentence of its answer.
"""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "use" / "language-models.md"
DECISIONS = re.findall(
    r"^### (.+?)\n[^#]*?```console\n\$ bestofk (.+?)\n(.+?)\n```",
    PAGE.read_text(encoding="utf-8"),
    flags=re.DOTALL | re.MULTILINE,
)


def answers(rng, models, items, *, epochs=1, spread=1.5, score="correct"):
    """Return right and wrong answers; items differ in difficulty, models in skill."""
    hard = rng.normal(scale=spread, size=items)
    luck = rng.logistic(size=(len(models), items, epochs))
    return pd.DataFrame([
        {"model": model, "item": f"q{k}", "epoch": epoch + 1,
         score: int(luck[m, k, epoch] < skill - hard[k])}
        for m, (model, skill) in enumerate(models.items())
        for k in range(items) for epoch in range(epochs)
    ])  # fmt: skip


def write(folder):
    """Write the files of the page."""
    rng = np.random.default_rng(12)

    def save(name, frame):
        frame.to_csv(folder / name, index=False)

    save("two.csv", answers(rng, {"new": 1.6, "old": 0.9}, 600))

    four = answers(rng, {"large": 1.5, "medium": 1.45, "small": 0.7, "tiny": 0.1}, 800)
    save("four.csv", four.assign(input_tokens=900, output_tokens=250))
    save("prices.csv", pd.DataFrame({
        "model": ["large", "medium", "small", "tiny"], "input": [3, 1, 0.3, 0.1],
        "output": [15, 5, 1.2, 0.4],
    }))  # fmt: skip

    prompts = answers(rng, {f"prompt {k}": 0.4 + 0.1 * k for k in range(1, 9)}, 50)
    wide = prompts.pivot(index="item", columns="model", values="correct")
    wide.to_csv(folder / "prompts.csv")

    agents = answers(rng, {"agent v2": 1.2, "agent v1": 0.2}, 80, epochs=4)
    save("agents.csv", agents.assign(repo=agents["item"].str[1:].astype(int) % 16))

    # the judge favours birch, people do not
    quality = 3.4 + rng.normal(size=600) + rng.normal(scale=0.7, size=(2, 600))
    judge = quality + rng.normal(scale=0.6, size=(2, 600)) + [[0.0], [0.5]]
    labelled = rng.permutation(600) < 120
    save("judged.csv", pd.concat(pd.DataFrame({
        "model": name, "item": np.arange(600), "judge_score": np.clip(np.rint(judge[k]), 1, 5),
        "human_score": np.where(labelled, np.clip(np.rint(quality[k]), 1, 5), np.nan),
    }) for k, name in enumerate(["atlas", "birch"])))  # fmt: skip

    # one judge prefers long answers, the other short ones
    both = answers(rng, {"long": 1.4, "short": 0.4}, 500, score="judge_a")
    other = answers(rng, {"long": 0.3, "short": 1.2}, 500, score="judge_b")
    save("judges.csv", both.assign(judge_b=other["judge_b"]))

    # the new model is better, and less safe
    safe = answers(rng, {"new": 1.6, "old": 0.9, "mid": 1.4}, 900, score="quality")
    rates = safe["model"].map({"new": 0.9, "old": 0.985, "mid": 0.985})
    safe["safe"] = (rng.random(len(safe)) < rates).astype(int)
    save("safe.csv", safe)

    save("tasks.csv", pd.concat(
        answers(rng, {"large": large, "small": small}, items).assign(task=task)
        for task, items, large, small in (("math", 300, 1.2, 0.2), ("code", 80, 1.2, 0.2),
                                          ("law", 40, 0.8, 0.2))
    ))  # fmt: skip

    # the slow model has no answer to items that it would have got wrong
    slow = answers(rng, {"fast": 0.9, "slow": 0.9}, 300)
    hard = slow[(slow["model"] == "slow") & (slow["correct"] == 0)].index[:45]
    slow["status"] = "scored"
    slow.loc[hard, "status"], slow.loc[hard, "correct"] = "timeout", np.nan
    save("slow.csv", slow)

    part = answers(rng, {"a": 1.6, "b": 0.7, "c": 1.5}, 300)
    save("part.csv", part[(part["model"] != "c") | (part["item"].str[1:].astype(int) < 120)])

    production = answers(rng, {"prod": 1.0, "new": 1.25}, 1500, spread=3)
    for name, rows in production.groupby("model"):
        rows[["item", "correct"]].to_json(folder / f"{name}.jsonl", orient="records", lines=True)

    # five copies of each of 60 questions, of which 21 only new and 12 only old has right
    k = np.arange(60)
    right = np.stack([(k >= 12) & (k < 48), (k < 12) | ((k >= 33) & (k < 48))])
    save("copies.csv", pd.DataFrame(
        [(model, f"{k}-{copy}", f"question {k}", int(right[m, k]))
         for m, model in enumerate(["new", "old"]) for k in range(60) for copy in range(5)],
        columns=["model", "item", "question", "correct"],
    ))  # fmt: skip

    # 1.0 and 1.5 seconds
    quick = answers(rng, {"small": 1.0, "large": 1.05}, 400)
    seconds = rng.lognormal(sigma=0.4, size=len(quick))
    save("latency.csv", quick.assign(
        latency=(seconds * quick["model"].map({"small": 1.0, "large": 1.5})).round(3)
    ))  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("decisions")
    write(path)
    return path


def test_the_page_has_sixteen_decisions_in_1500_words():
    assert len(DECISIONS) == 16
    assert len(PAGE.read_text(encoding="utf-8").split()) <= 1500


@pytest.mark.parametrize(("title", "command", "shown"), DECISIONS, ids=[d[0] for d in DECISIONS])
def test_the_answer_begins_as_on_the_page(run, folder, monkeypatch, title, command, shown):
    monkeypatch.chdir(folder)
    code, out, err = run(*shlex.split(command))
    assert code == 0, (title, err)
    assert " ".join(out.split()).startswith(" ".join(shown.split()))


def test_copies_of_a_question_get_a_note(run, folder):
    _, out, _ = run("evals", str(folder / "copies.csv"))
    assert out.startswith("Use new: it is the best of the two")
    note = "The 300 items have 60 different values of 'question': pass --cluster question"
    assert note in " ".join(out.split())
