"""Links between the pages of the methods and the API reference, both ways, by one rule.

A page of a method belongs to the functions that it names in its code (``pairwise.sign``, ``adjust``
after ``from bestofk.stats.adjust import adjust``) and to the function of the registered test
or rule
whose name it has, or that is named on no other page.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from public_names import home_of, public_modules, public_names

DOCS = Path(__file__).resolve().parents[1]
MODULES = (
    "bestofk.stats.pairwise", "bestofk.stats.multiple", "bestofk.stats.adjust",
    "bestofk.stats.intervals", "bestofk.papers.stats.estimates",
    "bestofk.papers.stats", "bestofk.papers.decide",
)  # fmt: skip
REGISTRIES = (
    ("bestofk.stats.pairwise", "PAIRWISE_TESTS"),
    ("bestofk.stats.multiple", "MULTIPLE_TESTS"),
    ("bestofk.decide", "RULES"),
)
_FENCE = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def method_pages() -> dict[str, str]:
    """Stem: text, of every page of a method."""
    pages = sorted((DOCS / "methods").glob("*.md"))
    return {page.stem: page.read_text() for page in pages if page.stem not in ("index", "all")}


def registered() -> dict[str, str]:
    """Name of a test or rule: its public function, ``bestofk.stats.pairwise.sign``, or itself."""
    found = {}
    for module, registry in REGISTRIES:
        for name, entry in getattr(import_module(module), registry).items():
            function = entry.function.partition(":")[2].partition(".")[0]
            for home in (module, "bestofk", "bestofk.papers.stats", "bestofk.papers.decide"):
                if function in public_names(home):
                    found[name] = f"{home}.{function}"
            found.setdefault(name, name)
    return found


def explanations(stem: str) -> str:
    """Say in three sentences each what the tests of a page do, when to use them and when not.

    Tests whose last two sentences agree share them.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    functions, texts = registered(), method_pages()
    for module, registry in REGISTRIES:
        for name, entry in getattr(import_module(module), registry).items():
            pages = [
                page for page, about in functions_of_pages().items() if functions.get(name) in about
            ]
            asks = [page for page in pages if f"**Question** (`{name}`)" in texts[page]]
            if stem == (name if name in pages else next(iter([*asks, *pages]), None)):
                groups.setdefault(entry.explanation[1:], []).append(
                    f"`{name}`: {entry.explanation[0]}"
                )
    parts = []
    for advice, firsts in groups.items():
        last = " ".join(advice)
        if len(firsts) == 1:
            parts.append(f"{firsts[0]} {last}")
        else:
            parts.append("\n".join(f"- {first}" for first in firsts) + f"\n\n{last}")
    return "\n\n".join(parts)


@cache
def functions_of_pages() -> dict[str, tuple[str, ...]]:
    """Stem of a page: public functions that it is about."""
    pages = method_pages()
    found: dict[str, list[str]] = {stem: [] for stem in pages}
    for stem, text in pages.items():
        code = "\n".join([*_FENCE.findall(text), *re.findall(r"`([^`\n]+)`", text)])
        for module in MODULES:
            short = module.rpartition(".")[2]
            named = set(re.findall(rf"\b{short}\.(\w+)", code))
            for line in re.findall(rf"from {re.escape(module)} import ([^\n]+)", code):
                named |= {word.strip() for word in line.split(",")}
            found[stem] += sorted(f"{module}.{n}" for n in named & set(public_names(module)))
    for name, function in registered().items():
        if name in pages:
            found[name].append(function)
        elif not any(function in functions for functions in found.values()):
            for stem, text in pages.items():
                if f"`{name}`" in text:
                    found[stem].append(function)
                    break
    return {
        stem: tuple(dict.fromkeys(f for f in functions if not _caps(f)))
        for stem, functions in found.items()
    }


def is_function(name: str) -> bool:
    """Return whether a name of `registered` is a function, not a rule of `compare_scores`."""
    return "." in name


def _caps(function: str) -> bool:
    return function.rpartition(".")[2].isupper()


@cache
def pages_of_functions() -> dict[str, tuple[str, ...]]:
    """Public function: stems of the pages that are about it."""
    found: dict[str, list[str]] = {}
    for stem, functions in functions_of_pages().items():
        for function in filter(is_function, functions):
            found.setdefault(described(function), []).append(stem)
    return {function: tuple(stems) for function, stems in found.items()}


def described(function: str) -> str:
    """The name under which a public function has its page."""
    module, _, name = function.rpartition(".")
    return f"{home_of(module, name)}.{name}"


def documented(stem: str) -> list[str]:
    """The functions of a page that the API reference describes."""
    names = map(described, filter(is_function, functions_of_pages().get(stem, ())))
    return [name for name in names if name.rpartition(".")[0] in public_modules()]


def add_reference(app: Any, docname: str, source: list[str]) -> None:
    """Begin the page of a method in plain words, and end it with links to its functions."""
    folder, _, stem = docname.rpartition("/")
    if folder == "methods" and (words := explanations(stem)):
        title, _, rest = source[0].partition("\n\n")
        question, _, rest = rest.partition("\n\n")
        box = f":::{{admonition}} In plain words\n:class: bk-plain\n\n{words}\n:::"
        source[0] = "\n\n".join((title, question, box, rest))
    functions = documented(stem) if folder == "methods" else ()
    if functions:
        links = ", ".join(f"{{py:obj}}`{name} <{name}>`" for name in functions)
        source[0] += (
            f"\n\n```{{admonition}} In the API reference\n:class: bk-related\n{links}\n```\n"
        )


def add_methods(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """End the description of a function with links to the pages that explain it."""
    stems = pages_of_functions().get(name, ())
    if stems:
        links = ", ".join(f":doc:`/methods/{stem}`" for stem in stems)
        lines += ["", ".. admonition:: Explained in", "   :class: bk-related", "", f"   {links}"]


def setup(app: Any) -> dict[str, Any]:
    """Sphinx asks."""
    app.connect("source-read", add_reference)
    # after numpydoc, which reads the docstring first
    app.connect("autodoc-process-docstring", add_methods, priority=900)
    return {"version": "1", "parallel_read_safe": True}
