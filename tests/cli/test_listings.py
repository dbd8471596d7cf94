"""``bestofk list``: names, explanations, groups and completion."""

import json

import pytest
from click.shell_completion import ShellComplete

from bestofk.cli.app import bestofk
from bestofk.cli.listings import LISTINGS, PAPERS


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("tests", 30),
        ("rules", 7),
        ("plans", 6),
        ("learners", 8),
        ("datasets", 4),
        ("problems", 5),
        ("metrics", 8),
        ("settings", 20),
        ("formats", 15),
    ],
)
def test_listings(run, kind, count):
    code, out, _ = run("list", kind, "--json")
    assert code == 0
    rows = json.loads(out)[kind]
    assert len(rows) >= count
    _, text, _ = run("list", kind)
    for row in rows:
        assert row["name"] in text
        assert row["summary"].replace("`", "") in text


@pytest.mark.parametrize("kind", LISTINGS)
def test_listings_have_one_line_per_entry(run, kind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    lines = run("list", kind)[1].splitlines()
    assert max(map(len, lines)) <= 90
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    assert set(names) == set(LISTINGS[kind].entries())


@pytest.mark.parametrize("kind", ["tests", "rules", "plans"])
def test_every_method_is_explained_in_three_sentences(run, kind):
    for name, entry in LISTINGS[kind].entries().items():
        assert len(entry.explanation) == 3, name
        what, right, wrong = entry.explanation
        assert all(sentence.endswith(".") for sentence in entry.explanation), name
        assert right.startswith("Use it"), name
        assert wrong.startswith("Do not"), name
        assert not what.startswith(("Use", "Do")), name


def test_an_explanation_comes_before_the_source(run):
    code, out, _ = run("list", "tests", "nested-cv-t")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].strip() == "nested-cv-t"
    assert lines[2].strip().startswith("Use it for any learners")
    assert out.index("Do not use it") < out.index("Bates")
    code, _, err = run("list", "tests", "nested")
    assert code == 2
    assert "nested-cv-t" in err
    code, _, err = run("list", "foo")
    assert (code, "there are learners, metrics" in err) == (2, True)
    assert run("list", "test", "sign")[0] == 0


@pytest.mark.parametrize(
    ("kind", "old"),
    [
        ("rules", "test-first anova-choice newman-keuls-choice most-wins roc-hull "
         "multinomial-selection"),
        ("learners", "tan voted-perceptron"),
        ("tests", "use-all-data folds runs sorted-runs folds-averaged-t"),
    ],
)  # fmt: skip
def test_methods_of_the_papers_come_last(run, kind, old):
    _, out, _ = run("list", kind)
    first, _, second = out.partition(f"{PAPERS}:\n")
    for name in old.split():
        assert f"\n  {name} " in "\n" + second
        assert f"\n  {name} " not in "\n" + first


def completions(*words, incomplete=""):
    complete = ShellComplete(bestofk, {}, "bestofk", "_BESTOFK_COMPLETE")
    return [item.value for item in complete.get_completions(list(words), incomplete)]


def test_shell_completion():
    assert completions(incomplete="co") == ["compare"]
    assert "tests" in completions("list")
    assert completions("list", "tests", incomplete="nested") == ["nested-cv-t", "nested-cv-z"]
    assert completions("compare", incomplete="--sco") == ["--scoring"]


def test_a_name_without_its_list_and_with_capitals(run):
    assert run("list", "Looney") == run("list", "tests", "looney")
    code, _, said = run("list", "looney", "sign")
    assert (code, "bestofk list looney." in said) == (2, True)
    code, _, said = run("scores", "digits-5x2", "--set", "test=Friedman")
    assert (code, "compares all learners at once" in said) == (2, True)
