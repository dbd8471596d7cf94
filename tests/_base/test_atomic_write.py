"""Atomic writes, which do not follow symlinks."""

import ast
import os
import stat
import threading
from pathlib import Path

import pytest

import bestofk
from bestofk._base.atomic_write import atomic_file, write_text
from bestofk.data.tables import read_table
from bestofk.data.tables.workbooks import as_text_cell, from_text_cell


def test_a_file_is_written_and_keeps_its_permissions(tmp_path) -> None:
    path = tmp_path / "a.txt"
    mask = os.umask(0o027)
    try:
        write_text(path, "é\r\n")
        assert path.read_bytes() == "é\r\n".encode()
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        write_text(path, "b")
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(mask)
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_an_exception_leaves_the_file_unchanged(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail():
        with atomic_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_no_link_is_followed(tmp_path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = tmp_path / "a.txt"
    path.symlink_to(victim)
    for name in (".a.txt.part", f".a.txt.{os.getpid()}.part", "a.part"):
        (tmp_path / name).symlink_to(victim)
    write_text(path, "new")
    assert victim.read_text() == "precious"
    assert path.read_text() == "new"
    assert not path.is_symlink()


def test_pipes_and_devices_are_written_to(tmp_path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_text()))
    reader.start()
    write_text(path, "through")
    reader.join(10)
    assert got == ["through"]
    write_text("/dev/null", "away")
    assert not Path("/dev/null").is_file()


WRITERS = {"write_text", "write_bytes", "savefig", "mkstemp", "NamedTemporaryFile", "write_table"}


def test_all_files_are_written_atomically() -> None:
    """No other code of the library opens a file for writing."""
    allowed = {
        "_base/atomic_write.py": {"open", "mkstemp", "write_text"},
        "papers/data.py": {"write_bytes"},  # in a new private folder
    }
    root = Path(bestofk.__file__).parent
    others = []
    for file in sorted(root.rglob("*.py")):
        name = file.relative_to(root).as_posix()
        text = file.read_text(encoding="utf-8")
        if not any(word in text for word in ("open(", *WRITERS)):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            called = getattr(function, "attr", getattr(function, "id", ""))
            modes = [
                argument.value
                for argument in (*node.args, *(k.value for k in node.keywords if k.arg == "mode"))
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ]
            opens = called == "open" and any(
                set(mode) & set("wax+") and set(mode) <= set("rwaxbt+") for mode in modes
            )
            plain = isinstance(function, ast.Attribute) and called in WRITERS
            handed = called in ("savefig", "write_table") and any(
                isinstance(argument, ast.Name) and argument.id == "file" for argument in node.args
            )
            if (opens or plain) and not handed and called not in allowed.get(name, set()):
                others.append(f"{name}:{node.lineno} {called}")
    assert others == []


FORMULAS = ("=1+1", "+1+1", "-2+3+cmd|' /C calc'!A0", "@SUM(1)", '=HYPERLINK("http://x","y")',
            "\uff1d1", "'=1", "''=1", "-x", "=")  # fmt: skip


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_text_in_csv(name) -> None:
    assert as_text_cell(name).startswith("'")
    assert from_text_cell(as_text_cell(name)) == name


@pytest.mark.parametrize("text", ["-1.5", "+3", "-.5e-3", "1", "nn", "'quoted'", "", "'", "-inf"])
def test_numbers_and_words_are_unchanged(tmp_path, text) -> None:
    assert as_text_cell(text) == text
    assert from_text_cell(text) == text
    path = tmp_path / "t.csv"
    path.write_text(f'a,b\n"{text}",1\n')
    assert read_table(path).cells("a").tolist() == [text]
