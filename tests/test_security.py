"""The statements of SECURITY.md: which inputs are executed, and which never are."""

import json
import os
import pickle
import re
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import closing, suppress
from html import unescape
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import bestofk as bk
from bestofk._base.errors import BestOfKError, StoreError, TableError
from bestofk.cli import main
from bestofk.learners.specification import parse_learner
from bestofk.run.store.store import open_store
from reader_bombs import BOMBS

ROOT = Path(__file__).parents[1]
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


class Bomb:
    """An object that writes a file when it is unpickled."""

    def __init__(self, target):
        self.target = str(target)

    def __reduce__(self):
        return (open, (self.target, "w"))


@pytest.fixture
def mark(tmp_path):
    """A file that must not be created."""
    return tmp_path / "executed"


def test_the_page_names_every_boundary():
    for words in (
        "learner specification", "Python file", "plugin", "worker processes", "BESTOFK_KERNELS",
        "store", "evaluation log", "report", "BESTOFK_MAX_MEMORY", "working folder",
    ):  # fmt: skip
        assert words in SECURITY, words


def test_the_page_states_the_limits_of_the_code():
    from bestofk.data.tables import limits

    assert f"more than {limits.MAX_RATIO} times their size" in SECURITY
    assert f"{limits.EXPANDED >> 20} MB" in SECURITY
    assert f"measures {len(BOMBS)} hostile inputs" in SECURITY


def test_the_tests_that_the_page_names_exist():
    paths = set(re.findall(r"`(tests/[\w/]+\.py)`", SECURITY))
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).is_file()] == []


def test_actions_are_pinned_by_commit_and_build_requirements_are_bounded():
    """A tag can be moved to other code, and a new major version can change what is built."""
    workflows = [*(ROOT / ".github").rglob("*.yml")]
    used = [line for path in workflows for line in re.findall(r"uses: (\S+)", path.read_text())]
    assert len(used) > 10
    assert [one for one in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one)] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    requirements = project["build-system"]["requires"]
    requirements += re.findall(r'"(ziglang[^"]*)"\]', (ROOT / "hatch_build.py").read_text())
    assert len(requirements) == 2
    assert [one for one in requirements if "<" not in one] == []


def test_no_message_installs_bestofk_by_its_name():
    """The name does not exist on PyPI yet, so it could become somebody else's."""
    texts = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs" / "use").rglob("*.md")]
    advice = re.compile(r"pip install[^\n`]*?['\s]bestofk\b")
    assert [path.name for path in texts if advice.search(path.read_text(encoding="utf-8"))] == []


def test_only_fetch_opens_connections_and_no_archive_is_extracted():
    network, extracting = [], []
    for path in (ROOT / "src").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if re.search(r"(import|from) (urllib\.request|socket|http|requests|ftplib)\b", source):
            network.append(path.name)
        if re.search(r"\.extract(all)?\(|unpack_archive", source):
            extracting.append(path.name)
    assert (network, extracting) == (["data.py"], [])  # papers/data.py has `fetch`


@pytest.mark.parametrize(
    "suffix", [".csv", ".json", ".parquet", ".eval", ".xlsx", ".arff", ".db", ""]
)
def test_pickles_are_never_loaded(suffix, tmp_path, mark):
    path = tmp_path / f"file{suffix}"
    path.write_bytes(pickle.dumps(Bomb(mark)))
    for read in (bk.read_scores, bk.read_data, bk.read_evals, bk.open_study):
        with pytest.raises(BestOfKError):
            read(path)
    assert not mark.exists()


def test_a_specification_does_not_import_from_the_working_folder(tmp_path, mark):
    (tmp_path / "mine.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    command = Path(sys.executable).with_name("bestofk")
    if not command.exists():
        pytest.skip("the command is not installed")
    done = subprocess.run(
        [command, "compare", "iris", "--learner", "mine:Learner", "--learner", "max"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 2
    assert not mark.exists()


def test_only_python_itself_imports_from_the_working_folder(tmp_path, mark):
    (tmp_path / "bestofk.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    command = Path(sys.executable).with_name("bestofk")
    if command.exists():
        subprocess.run([command, "--version"], cwd=tmp_path, check=True, timeout=100)
        assert not mark.exists()
    subprocess.run([sys.executable, "-m", "bestofk"], cwd=tmp_path, check=True, timeout=100)
    assert mark.exists()


def test_a_python_file_is_executed(tmp_path, mark):
    (tmp_path / "models.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    with pytest.raises(BestOfKError):
        parse_learner(f"{tmp_path}/models.py:nothing")
    assert mark.exists()


@pytest.fixture
def stored(tmp_path):
    """A store of a small study."""
    path = tmp_path / "study.db"
    execution = bk.Execution(store=path, progress=False, engine="serial")
    bk.compare(["max", "nmc"], "iris", cv="2x2", random_state=1, execution=execution)
    return path


def change_spec(path, change, *, forged=True):
    with closing(sqlite3.connect(path)) as db:
        (text,) = db.execute("SELECT specification FROM bestofk_studies").fetchone()
        spec = json.loads(text)
        change(spec)
        text = json.dumps(spec)
        checksum = crc32(text.encode()) if forged else 0
        db.execute("UPDATE bestofk_studies SET specification = ?, checksum = ?", (text, checksum))
        db.commit()


def test_a_store_imports_and_runs_nothing(stored, tmp_path, monkeypatch):
    (tmp_path / "evil_module.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)

    def change(spec):
        spec["learners"][0]["settings"] = "evil_module.Learner()"
        spec["decisions"][0]["command"] = ["bestofk", "compare", "--learner", "evil_module:Learner"]

    change_spec(stored, change)
    study = bk.open_study(stored)
    study.report(tmp_path / "report.html")
    assert "evil_module" not in sys.modules


def test_a_report_marks_a_stored_command_and_blocks_other_resources(stored, tmp_path):
    def change(spec):
        for decision in spec["decisions"]:
            decision["command"] = ["rm", "-rf", "/"]

    change_spec(stored, change)
    page = bk.open_study(stored).report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.search(r"repeats it \(text from the store; read it before you run it\)", page)
    assert "default-src 'none'; script-src 'sha256-" in unescape(page)
    assert re.findall(r"<(?:script|img|iframe|link)[^>]+(?:src|href)=.https?:", page) == []


def test_a_store_with_a_pickle_in_place_of_predictions(stored, mark):
    with closing(sqlite3.connect(stored)) as db:
        data = pickle.dumps(Bomb(mark))
        db.execute("UPDATE bestofk_cells SET predictions = ?", (data,))
        db.commit()
    with suppress(BestOfKError):
        bk.open_study(stored)
    with open_store(str(stored)) as store, suppress(BestOfKError):
        study = store.studies()[0]
        for batch in store.scan(study):
            store.get_arrays(batch["digest"])
    assert not mark.exists()


@pytest.mark.parametrize("change", [
    {"repetitions": -1}, {"learners": []}, {"title": 5}, {"n_train": ""}, {"title": "\ud800"},
    {"decisions": [{"options": {"test": {"name": 1}}}]}, {"decisions": [{"options": 5}]},
])  # fmt: skip
def test_a_changed_specification_is_damaged(change, stored):
    change_spec(stored, lambda spec: spec.update(change), forged=False)
    with pytest.raises(StoreError, match="the specification of study 1 is damaged"):
        bk.open_study(stored)


@pytest.mark.parametrize("change", [
    {"repetitions": -1}, {"title": 5}, {"metrics": []}, {"decisions": [{"options": 5}]},
])  # fmt: skip
def test_a_forged_specification_ends_in_one_sentence(change, stored, capfd):
    change_spec(stored, lambda spec: spec.update(change))
    assert main(["show", str(stored)]) == 4
    message = " ".join(capfd.readouterr().err.split())
    assert message.startswith("bestofk: unexpected error, ")
    assert "Traceback" not in message


def test_a_forged_decision_reads_no_file(stored, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # opening it for reading would wait for a writer

    def change(spec):
        spec["decisions"][-1]["options"]["test_options"] = {"df": str(pipe)}

    change_spec(stored, change)
    with pytest.raises(ValueError, match="must not name a file"):
        bk.open_study(stored)


def test_cells_beyond_the_plan_are_ignored(stored):
    def change(spec):
        for data in spec["datasets"]:
            data["folds"] = 1

    change_spec(stored, change)
    with pytest.raises(BestOfKError):
        bk.open_study(stored)


def test_texts_for_people_have_no_control_characters(tmp_path):
    rng = np.random.default_rng(0)
    table = {"a\x1b[31m\u202e": rng.random(10).tolist(), "b": rng.random(10).tolist()}
    decision = bk.compare_scores(table, design="cv", higher_is_better=False)
    losses = bk.Scores(list(table.values()), dims=("learner", "fold"), learners=list(table))
    (tmp_path / "d\x1b.csv").write_text("a\x1b[31m,class\n" + "x,y\nx\x1b,n\n" * 9)
    data = bk.read_data(tmp_path / "d\x1b.csv")
    for text in (str(decision), repr(decision), decision.explain(), decision.headline,
                 losses.explain(), data.explain()):  # fmt: skip
        assert not set("\x1b\u202e") & set(text)
    learners = {"a\x1b[2J": "max", "b": "nmc"}
    execution = bk.Execution(progress=False, engine="serial")
    study = bk.compare(learners, "iris", cv="2x2", execution=execution)
    assert "\x1b" not in str(study) + repr(study) + study.explain() + study.headline


class Shouts(DummyClassifier):
    def fit(self, X, y):
        raise RuntimeError("\x1b[2J\x00 gone")


def test_messages_of_learners_have_no_control_characters():
    execution = bk.Execution(progress=False, engine="serial")
    study = bk.compare(
        {"a": "max", "b": "nmc", "c": Shouts()}, "iris", cv="2x2", execution=execution
    )
    (reason,) = {cell.reason for cell in study.outcome.failures}
    assert reason == "RuntimeError: \ufffd[2J\ufffd gone"
    assert "\x1b" not in study.headline + study._repr_html_()


def test_an_xml_file_with_entities_is_refused(tmp_path):
    (tmp_path / "description.xml").write_text(
        '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><oml:run>&e;</oml:run>'
    )
    (tmp_path / "predictions.arff").write_text("@relation r\n@attribute a numeric\n@data\n1\n")
    with pytest.raises(BestOfKError):
        bk.read_scores(tmp_path)


def test_logs_and_tables_run_no_formula_and_no_template(tmp_path):
    path = tmp_path / "losses.csv"
    path.write_text("learner,fold,error\n=cmd|'/c calc'!A0,1,0.1\n{{7*7}},1,0.2\n")
    losses = bk.read_scores(path)
    assert set(losses.learners) == {"=cmd|'/c calc'!A0", "{{7*7}}"}


def test_errors_have_no_control_characters():
    assert str(TableError("the metrics \x1b[31m and error")) == "the metrics \ufffd[31m and error"
