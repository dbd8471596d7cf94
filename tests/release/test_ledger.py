"""The ledger under faults: every damage is reported, and nothing is lost."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bestofk import ArgumentError, StoreError
from bestofk.release.gate import accept, gate
from bestofk.release.ledger import _hash, merged, packed, read_ledger, unpacked, write_ledger
from bestofk.release.method import sum_of_levels


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


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text.replace('"look": 2', '"look": 3'), "line 4 does not match its hash"),
        (lambda text: text[: text.rindex("{")], "promises 5 lines and 4 lines follow"),
        (lambda text: text[:-40], "line 6 is not JSON"),
        (lambda text: text.splitlines()[0], "promises 5 lines and 0 lines follow"),
        (lambda text: "\n".join(text.splitlines()[:2] + text.splitlines()[3:]), "line 3 does not"),
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
    "change", [{"level": None}, {"answer": "fine"}, {"kind": "other"}, {"digest": 3}]
)
def test_a_forged_line_with_a_valid_hash_is_refused(ledger, change):
    history = read_ledger(ledger)
    line = {**history.lines[-1], **change}
    line.pop("hash")
    forged = [*history.lines[:-1], {**line, "hash": _hash(line)}]
    write_ledger(type(history)(lines=tuple(forged)), ledger)
    with pytest.raises(StoreError, match="line 6 lacks a field"):
        read_ledger(ledger)


def test_a_ledger_of_a_newer_bestofk_is_refused(ledger):
    write_ledger(read_ledger(ledger).with_line(kind="method", method=2), ledger)
    with pytest.raises(StoreError, match="method 2 of a newer bestofk"):
        gate(scores(9), ledger=ledger)


@pytest.fixture
def branches(ledger, tmp_path):
    """Two ledgers that continue the same one."""
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    for path, seeds in ((ours, (11, 12)), (theirs, (21, 22, 23))):
        path.write_bytes(ledger.read_bytes())
        for seed in seeds:
            gate(scores(seed), ledger=path, build=f"b{seed}")
    return ours, theirs


FIRST = ("baseline", "b0", "b1", "b2", "b3")


def test_two_branches_merge(branches):
    write_ledger(merged(*branches), branches[0])
    history = read_ledger(branches[0])
    assert [line["build"] for line in history.builds] == [
        "b0", "b1", "b2", "b3", "b11", "b12", "b21", "b22", "b23",
    ]  # fmt: skip
    assert [line["kind"] for line in history.lines].count("merge") == 1
    again = gate(scores(22), ledger=branches[0])
    assert (again.repeated, again.look, again.anchor) == (True, 6, (*FIRST, "b21"))
    result = gate(scores(5000), ledger=branches[0], build="after")
    # looks 5 and 6 were spent twice, so the next look comes after as much alpha as was spent
    assert sum_of_levels(result.look - 1, 0.05) >= history.spent * (1 - 1e-9)
    assert result.look > 10


def test_conflict_markers_are_explained(ledger):
    ledger.write_text(f"<<<<<<< HEAD\n{ledger.read_text()}=======\n>>>>>>> other\n")
    with pytest.raises(StoreError, match="run 'bestofk gate merge"):
        read_ledger(ledger)


def test_ledgers_without_a_common_start_do_not_merge(ledger, tmp_path):
    other = tmp_path / "other.json"
    gate(scores(1), scores(98), ledger=other)
    with pytest.raises(StoreError, match="no line in common"):
        merged(ledger, other)
    with pytest.raises(ArgumentError, match="nothing to merge"):
        merged(ledger)


@pytest.mark.needs("posix", "processes are killed")
@pytest.mark.parametrize(
    ("kind", "cases"),
    [("bytes changed", 5), ("cut off", 5), ("lines moved", 5), ("killed", 1), ("two processes", 1),
     ("merged", 2)],
)  # fmt: skip
def test_random_faults(kind, cases):
    from gate_faults import run_case

    for case in range(cases):
        assert run_case(kind, case) in ("reported", "harmless", "merged")


def test_accept_moves_the_anchor(ledger):
    history = accept(scores(50), ledger=ledger, build="chosen", reason="new prompt")
    assert history.lines[-1]["reason"] == "new prompt"
    gate(scores(50), ledger=ledger)
    assert gate(scores(51), ledger=ledger).anchor == ("chosen",)
    # the recorded answer about an older build was about another anchor
    assert not gate(scores(1), ledger=ledger).repeated


@pytest.mark.parametrize(
    "values",
    [np.array([0.0, 1.0, 1.0] * 7), np.linspace(0, 1, 11), np.arange(5, dtype=np.int32)],
)
def test_scores_survive_packing(values):
    assert np.array_equal(unpacked(packed(values), len(values)), values)


@pytest.mark.parametrize("text", [packed(np.full(10_000_000, 0.5)), "b", "x", "", "fAAAA"])
def test_scores_of_another_size_are_refused(text):
    with pytest.raises(StoreError, match="damaged"):
        unpacked(text, 1000)


def test_the_file_is_strict_json(ledger):
    for line in ledger.read_text().splitlines():
        json.loads(line, parse_constant=lambda name: pytest.fail(name))
