"""The rooms of the house and the ways through it: ``python -m bestofk.rooms``.

Rooms, their files and what they import are read from the source; nothing is imported.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent
_NO_ROOMS = ("__init__", "__main__", "rooms", "lazily", "version")


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A package or a file right under ``bestofk``."""

    name: str
    words: str
    """The first line of its docstring."""
    files: int
    imports: frozenset[str]
    """The rooms that it uses."""
    rooms: tuple[tuple[str, str, int], ...] = ()
    """The rooms inside: name, words and number of files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A room on a flow, and the rooms that it asks on the way."""

    room: str
    asks: tuple[str, ...] = ()


FLOWS: dict[str, tuple[Stop, ...]] = {
    "data to report": (
        Stop(room="tables"),
        Stop(room="data"),
        Stop(room="learners"),
        Stop(room="run", asks=("plans", "stopping")),
        Stop(room="losses"),
        Stop(room="ordering", asks=("pairwise", "multiple", "adjust")),
        Stop(room="planning", asks=("corrected_minimum",)),
        Stop(room="report"),
    ),
    "losses to report": (
        Stop(room="tables"),
        Stop(room="losses", asks=("plans",)),
        Stop(room="ordering", asks=("pairwise", "multiple", "adjust")),
        Stop(room="planning", asks=("corrected_minimum",)),
        Stop(room="report"),
    ),
    "logs to report": (
        Stop(room="tables"),
        Stop(room="evals"),
        Stop(room="losses", asks=("plans",)),
        Stop(room="ordering", asks=("pairwise", "multiple", "adjust")),
        Stop(room="planning", asks=("corrected_minimum",)),
        Stop(room="model_choice"),
        Stop(room="report"),
    ),
    "problem to rate": (
        Stop(room="problems", asks=("data", "plans")),
        Stop(room="lab", asks=("learners", "run", "losses", "ordering", "pairwise", "multiple",
                               "intervals")),
    ),
}  # fmt: skip
"""How a value goes through the house: each room is passed once. Of two rooms in a row, one uses the
other; a room uses those that it asks."""


@cache
def rooms() -> dict[str, Room]:
    """All rooms by name, those that use others before those that are used."""
    found = {}
    for path in sorted(SOURCE.iterdir()):
        if path.stem in _NO_ROOMS or not (path.suffix == ".py" or (path / "__init__.py").is_file()):
            continue
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        first = path / "__init__.py" if path.is_dir() else path
        found[path.stem] = Room(
            name=path.stem,
            words=_words(first),
            files=sum(file.name != "__init__.py" for file in files),
            imports=frozenset().union(*map(_imports, files)) - {path.stem, *_NO_ROOMS},
            rooms=_inside(path) if path.is_dir() else (),
        )
    return {name: found[name] for name in _from_the_top(found)}


def _words(path: Path) -> str:
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return said.partition("\n")[0]


def _inside(path: Path) -> tuple[tuple[str, str, int], ...]:
    return tuple(
        (
            inner.parent.name,
            _words(inner),
            sum(file.name != "__init__.py" for file in inner.parent.rglob("*.py")),
        )
        for inner in sorted(path.glob("*/__init__.py"))
    )


def _imports(path: Path) -> set[str]:
    """The rooms that a file imports from, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            parts = node.module.split(".")
            if parts[0] == "bestofk":
                found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
    return found


def _from_the_top(found: dict[str, Room]) -> list[str]:
    """Names in layers: a room stands after all that use it, and else by name."""
    depth: dict[str, int] = {}

    def deep(name: str) -> int:
        if name not in depth:
            below = [deep(other) for other in found[name].imports if other in found]
            depth[name] = 1 + max(below, default=0)
        return depth[name]

    return sorted(found, key=lambda name: (-deep(name), name))


def as_markdown() -> str:
    """The page of the documentation."""
    lines = [
        "# Rooms",
        "",
        "Made from the source by `python -m bestofk.rooms`. A room uses those below it, never",
        "those above.",
        "",
        "| room | holds | files | uses |",
        "|---|---|---|---|",
    ]
    for room in rooms().values():
        uses = ", ".join(name for name in rooms() if name in room.imports)
        lines.append(f"| `{room.name}` | {room.words} | {room.files} | {uses} |")
        for name, words, files in room.rooms:
            lines.append(f"| `{room.name}.{name}` | {words} | {files} | |")
    lines += ["", "## Ways through the house", ""]
    for name, flow in FLOWS.items():
        lines += [f"**{name[:1].upper()}{name[1:]}**", ""]
        for turn, stop in enumerate(flow, 1):
            asks = f", which asks {', '.join(f'`{one}`' for one in stop.asks)}" if stop.asks else ""
            lines.append(f"{turn}. `{stop.room}`{asks}")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_markdown())
