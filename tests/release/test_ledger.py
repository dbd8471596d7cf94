"""The ledger under faults: every damage is reported, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from bestofk import StoreError
from bestofk.release.gate import accept, gate
from bestofk.release.ledger import merged, packed, read_ledger, unpacked, write_ledger


def scores(seed, n=200, chance=0.7):
    return (np.random.default_rng(seed).random(n) < chance).astype(float)


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "gate.json"
    for build in range(4):
        gate(scores(build), scores(99), ledger=path, build=f"b{build}")
    return path


def test_one_line_per_build(ledger):
    history = read_ledger(ledger)
    assert [line["kind"] for line in history.lines] == ["start", *["build"] * 4]
    assert len(ledger.read_text().splitlines()) == 6
    assert [line["look"] for line in history.builds] == [1, 2, 3, 4]


def test_an_edited_line_is_detected(ledger):
    lines = ledger.read_text().splitlines()
    edited = json.loads(lines[3])
    edited["answer"] = "worse"
    lines[3] = json.dumps(edited)
    ledger.write_text("\n".join(lines) + "\n")
    with pytest.raises(StoreError, match="line 4 does not match its hash"):
        read_ledger(ledger)


@pytest.mark.parametrize("cut", ["line", "bytes", "all but one"])
def test_a_truncated_file_is_detected(ledger, cut):
    text = ledger.read_text()
    lines = text.splitlines(keepends=True)
    shorter = {"line": "".join(lines[:-1]), "bytes": text[:-40], "all but one": lines[0]}[cut]
    ledger.write_text(shorter)
    with pytest.raises(StoreError, match=r"damaged|not a ledger"):
        read_ledger(ledger)


def test_a_removed_line_is_detected(ledger):
    lines = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join(lines[:2] + lines[3:]))
    with pytest.raises(StoreError, match="does not match its hash"):
        read_ledger(ledger)


def test_a_damaged_ledger_blocks_the_gate_and_stays_as_it_is(ledger):
    ledger.write_text(ledger.read_text().replace('"answer": "pass"', '"answer": "worse"', 1))
    before = ledger.read_bytes()
    with pytest.raises(StoreError):
        gate(scores(9), ledger=ledger)
    assert ledger.read_bytes() == before


@pytest.fixture
def branches(ledger, tmp_path):
    """Two ledgers that continue the same one."""
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    for path, seeds in ((ours, (11, 12)), (theirs, (21, 22, 23))):
        path.write_bytes(ledger.read_bytes())
        for seed in seeds:
            gate(scores(seed), ledger=path, build=f"b{seed}")
    return ours, theirs


def check_merged(history):
    assert [line["build"] for line in history.builds] == [
        "b0", "b1", "b2", "b3", "b11", "b12", "b21", "b22", "b23",
    ]  # fmt: skip
    assert [line["kind"] for line in history.lines].count("merge") == 1


def test_two_branches_merge(branches):
    history = merged(*branches)
    check_merged(history)
    write_ledger(history, branches[0])
    check_merged(read_ledger(branches[0]))
    spent = read_ledger(branches[0]).spent
    result = gate(scores(5000), ledger=branches[0], build="after")
    # looks 5 and 6 were spent twice, so the next look comes after as much alpha as was spent
    from bestofk.release.method import sum_of_levels

    assert sum_of_levels(result.look - 1, 0.05) >= spent * (1 - 1e-9)
    assert result.look > 10


def test_conflict_markers_of_git_are_resolved(branches, tmp_path):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path / "repo")]
    repo = tmp_path / "repo"
    repo.mkdir()

    def run(*words, check=True):
        return subprocess.run([*git, *words], capture_output=True, text=True, check=check)

    base = read_ledger(branches[0])
    ledger = repo / "bestofk-gate.json"
    run("init", "-q", "-b", "main")
    write_ledger(type(base)(lines=base.lines[:5]), ledger)
    run("add", "."), run("commit", "-qm", "start")
    run("checkout", "-qb", "theirs")
    ledger.write_bytes(branches[1].read_bytes())
    run("commit", "-qam", "theirs"), run("checkout", "-q", "main")
    ledger.write_bytes(branches[0].read_bytes())
    run("commit", "-qam", "ours")
    assert run("merge", "theirs", check=False).returncode != 0
    with pytest.raises(StoreError, match="bestofk gate merge"):
        read_ledger(ledger)
    history = merged(ledger)
    check_merged(history)


def test_ledgers_without_a_common_start_do_not_merge(ledger, tmp_path):
    other = tmp_path / "other.json"
    gate(scores(1), scores(98), ledger=other)
    with pytest.raises(StoreError, match="no line in common"):
        merged(ledger, other)


WRITER = """
import sys, itertools, numpy as np
from bestofk.release.gate import gate
print("ready", flush=True)
for k in itertools.islice(itertools.count(int(sys.argv[2])), int(sys.argv[3])):
    gate((np.random.default_rng(k).random(200) < 0.7) * 1.0, ledger=sys.argv[1], build=f"p{k}")
"""


def start_writer(ledger, first, count):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(ledger), str(first), str(count)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_two_processes_at_once_lose_nothing(ledger):
    processes = [start_writer(ledger, first, 5) for first in (100, 200)]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    names = [line["build"] for line in read_ledger(ledger).builds]
    expected = [f"p{first + k}" for first in (100, 200) for k in range(5)]
    assert sorted(names[4:]) == expected


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_kills_while_writing_leave_a_whole_ledger(ledger):
    for attempt in range(3):
        before = len(read_ledger(ledger).builds)
        process = start_writer(ledger, 1000 * (attempt + 1), 1000)
        process.stdout.readline()
        time.sleep(0.05 + 0.02 * attempt)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert len(read_ledger(ledger).builds) >= before


def test_accept_moves_the_anchor(ledger):
    history = accept(scores(50), ledger=ledger, build="chosen", reason="new prompt")
    assert history.lines[-1]["reason"] == "new prompt"
    assert gate(scores(51), ledger=ledger).anchor == ("chosen",)


@pytest.mark.parametrize(
    "values",
    [np.array([0.0, 1.0, 1.0] * 7), np.linspace(0, 1, 11), np.arange(5, dtype=np.int32)],
)
def test_scores_survive_packing(values):
    assert np.array_equal(unpacked(packed(values), len(values)), values)


def test_a_compression_bomb_in_a_line_is_refused():
    bomb = packed(np.zeros(10_000_000) + 0.5)
    with pytest.raises(StoreError, match="damaged"):
        unpacked(bomb, 10)
