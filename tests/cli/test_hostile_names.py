"""Names of learners and data sets cannot inject code into terminals, sheets, pages or LaTeX."""

import ast
import csv
import html.parser
import io
import json
import os
from pathlib import Path

import pytest

import bestofk
from bestofk.cli import main
from bestofk.losses import Scores

NAMES = (
    "\x1b[2J", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\link", "\x1bc",
    "\x1b[8mhidden", "a\x08\x08b", "bell\x07", "\x9b31mC1", "\x9d0;t\x9c", "del\x7f", "a\rb",
    "two\nlines", "tab\tin", "\u202etxet", "\u2066iso\u2069", "\u200bzero", "\ufeffmark",
    "x\u2028y",
    "=1+1", "+1+1", "-2+3", "@SUM(A1)", '=HYPERLINK("http://x")', "=cmd|' /C calc'!A0", "\uff1d1",
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style><b>", "&lt;i&gt;",
    "javascript:alert(1)", "[a](javascript:b)", "![](http://x)", "`code`", "| pipe |",
    "[red]rich[/]", "[/bold]", "\\input{/etc/passwd}", "\\write18{ls}", "$x_1$ & 50% #~^{}",
    "'; DROP TABLE cells; --",
    "{{ 7*7 }}", "{% raw %}", "%s%n", "../../etc/passwd", "名前", "e\u0301", "n" * 300,
)  # fmt: skip


def has_control(text):
    return [c for c in text if c not in "\n" and not c.isprintable()]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Losses of learners with these names, as a file."""
    import numpy as np

    values = np.random.default_rng(3).random((len(NAMES), 6))
    values += np.linspace(0, 1, len(NAMES))[:, None]
    path = tmp_path_factory.mktemp("names") / "t.jsonl"
    table = Scores(values, dims=("learner", "dataset"), learners=NAMES, datasets=NAMES[6:12])
    frame = table.to_frame().assign(loss_name="[/x]\x1b[2J=loss")
    frame.to_json(path, orient="records", lines=True, double_precision=15)
    return str(path)


COMMANDS = (
    ["scores", "TABLE", "--set", "family=preference", "--prefer", "listed"],
    ["scores", "TABLE", "--quiet"],
    ["scores", "TABLE", "--json"],
    ["papers", "test", "TABLE", "--test", "friedman"],
    ["papers", "test", "TABLE", "--test", "friedman", "--json"],
    *(
        ["scores", "TABLE", "--control", NAMES[place], "--set", "family=control"]
        for place in (0, 14)
    ),
    *(["scores", "TABLE", "--prefer", f"{NAMES[place]},none"] for place in (1, 8, 35)),
    *(["scores", name, "--set", f"test={name}"] for name in ("\x1b[2J.csv", "\u202e", "a\x9bb")),
    *(["compare", "iris", "--learner", f"{name}=nosuch"] for name in NAMES[:3]),
    *(["compare", "iris", "--cv", name] for name in NAMES[:3]),
    *(["show", name] for name in NAMES[:3]),
    [NAMES[0]],
    ["scores", f"--{NAMES[8]}"],
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: repr(" ".join(words))[:40])
def test_no_control_character_is_printed(words, table, capfd) -> None:
    code = main([table if word == "TABLE" else word for word in words])
    captured = capfd.readouterr()
    assert "Traceback" not in captured.err
    assert has_control(captured.out) == []
    assert has_control(captured.err) == []
    if "--json" in words:
        assert code == 0
        text = json.dumps(json.loads(captured.out), ensure_ascii=False)
        assert all(json.dumps(name, ensure_ascii=False)[1:-1] in text for name in NAMES[:12])


class Tags(html.parser.HTMLParser):
    """What a browser would take for elements, scripts and addresses."""

    def __init__(self):
        super().__init__()
        self.found, self.scripts, self.inside = set(), 0, False

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.scripts += tag == "script"
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name, value)
            if name not in ("data-label", "title"):
                assert not (value or "").lstrip().lower().startswith("javascript:")


def test_reports_and_tables(table, tmp_path, capfd) -> None:
    path = tmp_path / "r.html"
    assert main(["scores", table, "--report", str(path), "--quiet"]) == 0
    capfd.readouterr()
    page = path.read_text()
    tags = Tags()
    tags.feed(page)
    assert "img" not in tags.found
    assert "alert(1)</script>" not in page
    assert [c for c in has_control(page) if c < "\xa0" and c != "\t"] == []
    losses = bestofk.read_scores(table, higher_is_better=False)
    order = bestofk.compare_scores(losses)
    from bestofk.report.tables import learners_table

    shown = learners_table(order.outcome)
    for row in csv.reader(io.StringIO(shown.to_csv(), newline="")):
        assert not any(cell[:1] in set("=@\t\r\uff1d") for cell in row)
        assert not any(c < " " and c not in "\n\t\r" for cell in row for c in cell)


def test_a_store_with_such_names(tmp_path, capfd) -> None:
    """compare, show and report."""
    from sklearn.dummy import DummyClassifier

    store = tmp_path / "s.db"
    chosen = [n for n in NAMES if n == n.strip()][:16]
    X = [[float(i)] for i in range(20)]
    learners = {name: DummyClassifier() for name in (*chosen, "=1+1", "\x1b]0;t\x07")}
    bestofk.compare(
        learners,
        X,
        [0, 1] * 10,
        cv="kfold:2",
        store=str(store),
        execution=bestofk.Execution(engine="serial"),
    )
    for words in (["show", str(store)], ["show", str(store), "--json"],
                  ["show", str(store), "--report", str(tmp_path / "r.html")]):  # fmt: skip
        assert main(words) == 0, capfd.readouterr().err
        captured = capfd.readouterr()
        assert has_control(captured.out) == []
        assert has_control(captured.err) == []


def test_logs(capfd) -> None:
    from bestofk.run.progress import observer

    stream = io.StringIO()
    lines = observer("log", stream=stream)
    lines.start(total=3, done=1)
    lines.last = -1e9
    lines.item(label=f"{NAMES[0]} on {NAMES[14]}", failed=False)
    assert stream.getvalue().count("\n") == 2
    assert has_control(stream.getvalue()) == []


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_terminals_of_other_encodings(encoding, table, fork_server) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding,
                   "PYTHONPATH": str(Path(bestofk.__file__).parents[1])}  # fmt: skip
    twice = (
        "import sys; from bestofk.cli import main; words = ['scores', sys.argv[1]]; "
        "assert main(words) == 0; print('AND AS JSON', flush=True); "
        "sys.exit(main([*words, '--json']))"
    )
    ran = fork_server.run(["-c", twice, table], env=environment, encoding=encoding)
    assert ran.returncode == 0, ran.stderr
    said, _, as_json = ran.stdout.partition("AND AS JSON")
    assert said
    if encoding == "ascii":
        assert said.isascii()
        assert as_json.isascii()
    assert "名前" in json.loads(as_json)["order"]


def test_everything_printed_goes_one_way() -> None:
    """Verbs print through `say` and `plain`; registry entries, which are ours, may be styled."""
    root = Path(bestofk.__file__).parent / "cli"
    found = []
    for file in sorted(root.glob("*.py")):
        if file.name in ("say.py", "listings.py", "reproduce.py"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in ("click.echo", "print", "click.secho", "sys.stdout.write"):
                    found.append(f"{file.name}:{node.lineno} {called}")
    assert found == []
