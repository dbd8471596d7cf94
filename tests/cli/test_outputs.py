"""Files that decisions are written to, and the checks before the first fit."""

import json
import sys

import pytest

import bestofk as bk
from bestofk._base.errors import MissingExtraError
from bestofk.report.figures import draw

TABLE = "breast-cancer-10x10"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_matplotlib(monkeypatch):
    """Make `import matplotlib` fail."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_all_outputs_at_once(run, folder):
    code, out, err = run(
        "scores", TABLE, "--report", "r.html", "--figure", "a.svg", "--figure", "b.pdf",
        "--figure", "matrix.png", "--figure", "losses=c.svg", "--csv", "t.csv",
        "--figure-width", "3.3",
    )  # fmt: skip
    assert (code, err) == (0, "")
    for name in ("r.html", "a.svg", "b.pdf", "matrix.png", "t.csv"):
        assert (folder / name).stat().st_size > 200
        assert f" is in {name}." in out
    assert (folder / "a.svg").read_text().startswith("<svg")
    assert (folder / "b.pdf").read_bytes().startswith(b"%PDF")
    assert (folder / "matrix.png").read_bytes().startswith(b"\x89PNG")
    decision = bk.compare_scores(bk.read_scores(TABLE))
    assert (folder / "t.csv").read_text().splitlines()[1].startswith("logistic-regression,")
    # 3.3 inches are 237.6 points
    assert 'width="237.6"' in (folder / "a.svg").read_text()
    # the name of a file can choose the figure; so can KIND=
    assert draw(decision, "losses").alt in (folder / "c.svg").read_text()
    assert draw(decision, "forest").alt in (folder / "a.svg").read_text()


def test_paths_are_in_the_json_object(run):
    _, out, _ = run("scores", TABLE, "--figure", "a.svg", "--csv", "t.csv", "--json")
    answer = json.loads(out)
    assert (answer["figures"], answer["csv"]) == (["a.svg"], "t.csv")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--report r.pdf", "use --report r.html, or --figure r.pdf"),
        ("--report r.txt", "--report must end in .html or .htm"),
        ("--report nowhere/r.html", "the folder 'nowhere' does not exist"),
        ("--report .", "must name a file"),
        ("--figure a.bmp", "--figure must end in .svg, .pdf or .png"),
        ("--figure nowhere/a.svg", "the folder 'nowhere' does not exist"),
        ("--figure forst=a.svg", "There is no figure 'forst': did you mean 'forest'"),
        ("--figure roc=a.svg", "There is no figure 'roc'"),
        ("--figure-width 3.3", "add --figure F.svg"),
        ("--csv t.tex", "--csv must end in .csv"),
        ("--csv t.csv --figure t.svg --figure losses=t.svg", "Two outputs have the same path"),
    ],
)
def test_a_wrong_path_is_refused_before_the_first_fit(run, options, words, monkeypatch):
    import bestofk.run.compare

    monkeypatch.setattr(bestofk.run.compare, "compare", pytest.fail)
    for call in (["compare", "iris"], ["scores", TABLE]):
        code, out, err = run(*call, *options.split())
        assert (code, out) == (2, "")
        assert words in err


def test_a_decision_is_printed_even_if_a_figure_cannot_be_drawn(run):
    code, out, err = run("scores", TABLE, "--figure", "heatmap=a.svg", "-q")
    assert (code, out.splitlines()[0]) == (2, "logistic-regression")
    assert err.startswith("bestofk: ")


def test_svg_needs_no_matplotlib(run, no_matplotlib, folder):
    assert run("scores", TABLE, "--figure", "a.svg", "-q")[0] == 0
    assert (folder / "a.svg").exists()
    code, _, err = run("scores", TABLE, "--figure", "a.pdf")
    assert code == 2
    assert "pip install matplotlib, or use --figure a.svg" in err


def test_python_says_how_to_install_matplotlib(no_matplotlib):
    decision = bk.compare_scores(bk.read_scores(TABLE))
    for call in (
        lambda: decision.plot("forest"),
        lambda: decision.plot(path="a.pdf"),
    ):
        with pytest.raises(MissingExtraError, match=r"pip install matplotlib\."):
            call()
    decision.plot(path="a.svg")
