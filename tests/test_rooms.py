"""The rooms and the ways through them, as the source has them; names and sizes at a glance."""

import importlib
import inspect
import re
import tomllib
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

import bestofk
from bestofk.adjust import CORRECTIONS
from bestofk.multiple.registry import MULTIPLE_TESTS
from bestofk.ordering.registry import PROCEDURES
from bestofk.pairwise.registry import PAIRWISE_TESTS
from bestofk.rooms import FLOWS, SOURCE, as_markdown, rooms

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "rooms.md"


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == as_markdown(), (
        "python -m bestofk.rooms > docs/rooms.md"
    )


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_passes_each_room_once(flow):
    passed = [room for stop in FLOWS[flow] for room in (stop.room, *stop.asks)]
    assert len(passed) == len(set(passed))
    assert set(passed) <= set(rooms())


@pytest.mark.parametrize("flow", FLOWS)
def test_each_step_of_a_flow_is_a_real_dependency(flow):
    stops = FLOWS[flow]
    for one, other in pairwise(stops):
        there, back = rooms()[one.room].imports, rooms()[other.room].imports
        assert {other.room} & there | {one.room} & back, (one.room, other.room)
    for stop in stops:
        assert set(stop.asks) <= rooms()[stop.room].imports, stop.room


def test_every_room_of_data_is_on_some_way():
    passed = {room for flow in FLOWS.values() for stop in flow for room in (stop.room, *stop.asks)}
    plain = {"checks", "errors", "wording", "presenting", "registry", "tails", "rearrange",
             "renamed", "whole_file", "kernels", "code_identity", "spoken_metric"}  # fmt: skip
    outside = {"cli", "papers", "estimates"}  # the door, the published work, estimates of one loss
    assert set(rooms()) - passed == plain | outside


def test_rooms_use_only_those_below_and_the_linter_knows_them_all():
    names = list(rooms())
    for place, name in enumerate(names):
        assert not rooms()[name].imports & set(names[:place]), name
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        contract["layers"]
        for contract in config["tool"]["importlinter"]["contracts"]
        if contract["name"].startswith("Rooms: ")
    )
    listed = {name for layer in layers for name in re.findall(r"bestofk\.(\w+)", layer)}
    assert listed >= set(names)


# exceptions, each with its reason
LONG_FILES = {
    "ordering/evidence/evidence.py": "the one value of all evidence, with its columns",
}
FULL_FOLDERS = {
    "cli": "one file per verb",
    "multiple": "one file per test of all learners",
}
SHARED_CLASS_NAMES: dict[str, str] = {}
ELSEWHERE = {
    "decide": "`order` from options that are one value",
    "stack_tables": "what `order_many` takes several times",
    "sort_by_overrides": "the graph part of MultiTest",
}


def test_files_and_folders_can_be_taken_in_at_a_glance():
    long, full = set(), set()
    for path in SOURCE.rglob("*.py"):
        if len(path.read_text(encoding="utf-8").splitlines()) > 455:
            long.add(path.relative_to(SOURCE).as_posix())
    for folder in {path.parent for path in SOURCE.rglob("*.py")}:
        if sum(path.name != "__init__.py" for path in folder.glob("*.py")) > 17:
            full.add(folder.relative_to(SOURCE).as_posix())
    assert long == set(LONG_FILES)
    assert full == set(FULL_FOLDERS)


def test_no_two_public_classes_share_a_name():
    homes = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        for name in re.findall(r"^class ([A-Za-z]\w*)", path.read_text(encoding="utf-8"), re.M):
            homes[name].append(path.relative_to(SOURCE).as_posix())
    assert len(homes) > 200
    shared = {name: where for name, where in homes.items() if len(where) > 1}
    assert set(shared) <= set(SHARED_CLASS_NAMES), shared


def public_functions():
    """(name, module) of every function that a room lists or the reference names.

    Functions of a room that is one file, such as ``bestofk.intervals.wilson``, say it themselves.
    """
    found = set()
    for room in ("", *(f".{name}" for name in rooms())):
        module = importlib.import_module(f"bestofk{room}")
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isfunction(value) and value.__module__ != module.__name__:
                found.add((name, value.__module__))
    for page in (ROOT / "docs" / "api").glob("*.md"):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if ".. currentmodule::" in line:
                module = line.split()[-1]
            elif re.fullmatch(r"   \w+", line) and module:
                value = getattr(importlib.import_module(module), line.strip())
                if inspect.isfunction(value) and value.__module__ != module:
                    found.add((line.strip(), value.__module__))
    return sorted(found)


def families():
    """The file that the family of an entry names, by the function of the entry."""
    found = {}
    for registry in (PAIRWISE_TESTS, MULTIPLE_TESTS, PROCEDURES):
        for entry in registry.values():
            found[entry.function.partition(":")[2]] = entry.family.replace("-", "_")
    for entry in CORRECTIONS.values():
        found[entry.function.__name__] = entry.family.replace("-", "_")
    return found


def guessed(name, module, family):
    """The file or a package has its name, its family's, or one that its name holds."""
    homes = module.split(".")[1:]
    words = set(name.split("_"))
    return (
        name in homes
        or family in homes
        or set(homes[-1].split("_")) <= words
        or any({home, home.removesuffix("s")} & words for home in homes[:-1])
    )


def test_a_public_function_lives_where_its_name_says():
    found = public_functions()
    assert len(found) > 90
    assert ("friedman", "bestofk.multiple.friedman") in found
    lost = {name for name, module in found if not guessed(name, module, families().get(name))}
    assert lost == set(ELSEWHERE)


@pytest.mark.parametrize(
    ("name", "file"),
    {
        "friedman": "multiple/friedman.py",
        "tukey": "multiple/tukey.py",
        "nemenyi": "multiple/nemenyi.py",
        "anova": "multiple/anova.py",
        "mcnemar": "pairwise/units/mcnemar.py",
        "wilcoxon": "pairwise/units/wilcoxon.py",
        "compare": "run/compare.py",
        "Plan": "plans/plan.py",
    }.items(),
)
def test_what_a_reader_looks_for_first(name, file):
    text = (SOURCE / file).read_text(encoding="utf-8")
    assert re.search(rf"^(def|class) {name}\b", text, re.MULTILINE)


def test_the_law_of_names_can_fail():
    assert not guessed("friedman", "bestofk.multiple.block_ranks", None)
    assert not guessed("compare", "bestofk.run.comparing", None)
    assert bestofk.order.__module__ == "bestofk.ordering.order"
