"""The ledger under faults: every damage is reported, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import ExitStack

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError, StoreError
from bestofk.release import ledger as ledgers
from bestofk.release.gate import accept, gate, start
from bestofk.release.ledger import _hash, packed, read_ledger, unpacked


def scores(seed, n=200, chance=0.7):
    return (np.random.default_rng(seed).random(n) < chance).astype(float)


def drop_entry(text):
    content = json.loads(text)
    return json.dumps(content | {"builds": content["builds"][1:]})


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "gate.json"
    start(scores(99), ledger=path)
    for build in range(4):
        gate(scores(build), ledger=path, build=f"b{build}")
    return path


def test_the_file_is_json_with_one_line_per_build(ledger):
    content = json.loads(ledger.read_text())
    assert [build["build"] for build in content["builds"]] == ["b0", "b1", "b2", "b3"]
    lines = ledger.read_text().splitlines()
    assert [sum(f'"build": "b{k}"' in line for line in lines) for k in range(4)] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda text: text.replace('"build": "b2"', '"build": "b7"'),
            "entry 3 of builds was chang",
        ),
        (
            lambda text: text.replace('"false_blocks": 0.01', '"false_blocks": 0.2'),
            "first line was",
        ),
        (lambda text: drop_entry(text), "an entry is missing"),
        (lambda text: text[:-40], "is not a ledger"),
        (lambda text: "item,correct\n1,1\n", "is not a ledger"),
        (lambda text: "", "is not a ledger"),
    ],
)
def test_damage_is_reported_and_the_file_stays_as_it_is(ledger, damage, message):
    ledger.write_text(damage(ledger.read_text()))
    before = ledger.read_bytes()
    with pytest.raises(StoreError, match=message):
        gate(scores(9), ledger=ledger)
    assert ledger.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runs": "1"}, "entry 1 of builds lacks a field"),
        ({"runs": 0}, "has no runs"),
        ({"answer": "fine"}, "has no answer"),
        ({"metrics": {"score": {"p": 0.5}}}, "lacks a number"),
        ({"failures": None}, "lacks a field"),
    ],
)
def test_a_forged_entry_with_a_valid_hash_is_checked(ledger, change, message):
    content = json.loads(ledger.read_text())
    entry = {**content["builds"][0], **change}
    entry.pop("hash")
    content["builds"][0] = {**entry, "hash": _hash(entry)}
    ledger.write_text(json.dumps(content))
    with pytest.raises(StoreError, match=message):
        read_ledger(ledger)


def test_branches_join_their_builds(ledger, tmp_path):
    """Git's conflict markers leave both sides in the file; the gate keeps the builds of both."""
    folder = tmp_path / "repository"
    folder.mkdir()

    def git(*arguments, code=0):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr

    path = folder / "gate.json"
    path.write_bytes(ledger.read_bytes())
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "start")
    git("checkout", "-qb", "other")
    for seed in (21, 22, 23):
        gate(scores(seed), ledger=path, build=f"theirs {seed}")
    git("commit", "-qam", "theirs")
    git("checkout", "-q", "main")
    for seed in (11, 12):
        gate(scores(seed), ledger=path, build=f"ours {seed}")
    git("commit", "-qam", "ours")
    git("merge", "-q", "other", code=1)
    assert "<<<<<<<" in path.read_text()
    gate(scores(31), ledger=path, build="merged")
    names = {build["build"] for build in json.loads(path.read_text())["builds"]}
    assert names == {"b0", "b1", "b2", "b3", "ours 11", "ours 12", "theirs 21", "theirs 22",
                     "theirs 23", "merged"}  # fmt: skip


WRITER = """
import sys
import numpy as np
from bestofk.release import ledger
from bestofk.release.gate import gate
if sys.argv[3] == "no locks":
    def fail(handle):
        raise OSError("no locks here")
    ledger._lock = fail
for k in range(3):
    scores = (np.random.default_rng([int(sys.argv[2]), 50 + k]).random(200) < 0.7) * 1.0
    gate(scores, ledger=sys.argv[1], build=f"p{sys.argv[2]}-{k}")
"""


@pytest.mark.parametrize("locks", ["locks", "no locks"])
def test_no_build_of_parallel_processes_is_lost(ledger, locks, fork_server):
    with ExitStack() as running:
        writers = [
            running.enter_context(fork_server.start(["-c", WRITER, ledger, k, locks]))
            for k in range(4)
        ]
        assert [writer.wait(timeout=120) for writer in writers] == [0] * 4
    names = {build["build"] for build in read_ledger(ledger).builds}
    assert {f"p{k}-{j}" for k in range(4) for j in range(3)} <= names
    assert sorted(one.name for one in ledger.parent.iterdir()) == ["gate.json"]


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links")
def test_a_link_to_a_ledger_is_followed(ledger, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(ledger)
    gate(scores(7), ledger=link, build="linked")
    assert link.is_symlink()
    assert read_ledger(ledger).builds[-1]["build"] == "linked"


def test_a_ledger_is_started_once_and_needs_a_baseline(tmp_path, ledger):
    with pytest.raises(ArgumentError, match="gate accept"):
        start(scores(1), ledger=ledger)
    with pytest.raises(ArgumentError, match="gate start"):
        accept(scores(1), ledger=tmp_path / "none.json")
    with pytest.raises(ArgumentError, match="has a baseline: leave out baseline"):
        gate(scores(1), scores(2), ledger=ledger)
    with pytest.raises(ArgumentError, match=r"share 0\.01 of false blocks"):
        gate(scores(1), ledger=ledger, false_blocks=0.05)
    with pytest.raises(ArgumentError, match="There is no folder"):
        start(scores(1), ledger=tmp_path / "none" / "gate.json")


def test_the_lock_is_not_waited_for_forever(ledger, monkeypatch):
    monkeypatch.setattr(ledgers, "_LOCK_SECONDS", 0.1)
    with ledgers.locked(ledger), pytest.raises(StoreError, match="another process"):
        gate(scores(8), ledger=ledger)


@pytest.mark.parametrize(
    "values", [scores(1, n=13), np.linspace(-1, 1, 7), np.arange(5, dtype=np.uint64)]
)
def test_packed_arrays_come_back(values):
    assert np.array_equal(unpacked(packed(values), len(values)), values)
    with pytest.raises(StoreError, match="no scores of 3 items"):
        unpacked(packed(values), 3)
