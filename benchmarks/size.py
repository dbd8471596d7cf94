"""Count lines, lines of code, files and functions by package, in one or more checkouts.

Lines of code are those with at least one token that is neither a comment nor a docstring.

    python benchmarks/size.py [CHECKOUT ...]
    python benchmarks/size.py --installed    megabytes of bestofk's dependencies, without extras
"""

import ast
import contextlib
import io
import re
import sys
import tokenize
from collections import Counter
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

_IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def sizes(text: str) -> Counter[str]:
    """Return the four counts of one file."""
    tree = ast.parse(text)
    prose: set[int] = set()
    for node in ast.walk(tree):
        # a string that is a statement describes what stands before it
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _IGNORED and token.string:
            code |= set(range(token.start[0], token.end[0] + 1))
    functions = sum(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in ast.walk(tree)
    )
    lines = len(text.splitlines())
    return Counter(lines=lines, code=len(code - prose), files=1, functions=functions)


def by_package(checkout: Path) -> dict[str, Counter[str]]:
    """Return the counts of every package of ``src``, of the tests, and of all packages."""
    found: dict[str, Counter[str]] = {}
    source = checkout / "src" / "bestofk"
    for path in [*source.rglob("*.py"), *(checkout / "tests").rglob("*.py")]:
        count = sizes(path.read_text())
        if path.is_relative_to(source):
            inside = path.relative_to(source).parts
            names = [inside[0] if len(inside) > 1 else "(top)", "(all of src)"]
        else:
            names = ["(tests)"]
        for name in names:
            found[name] = found.get(name, Counter()) + count
    return found


def installed(name: str, known: dict[str, float]) -> dict[str, float]:
    """Add the megabytes of an installed package and its dependencies to those that are known."""
    with contextlib.suppress(PackageNotFoundError):  # for other systems
        package = distribution(name)
        files = [file.locate() for file in package.files or ()]
        known[name] = sum(file.stat().st_size for file in files if file.is_file()) / 1e6
        for line in package.requires or ():
            needed = re.split(r"[^\w.-]", line)[0]
            if "extra ==" not in line and needed not in known:
                installed(needed, known)
    return known


def main() -> None:
    if sys.argv[1:] == ["--installed"]:
        megabytes = installed("bestofk", {})
        for name, size in sorted(megabytes.items(), key=lambda each: -each[1]):
            print(f"{name:20} {size:6.1f}")
        print(f"{'together':20} {sum(megabytes.values()):6.1f}")
        return
    checkouts = [Path(word) for word in sys.argv[1:]] or [Path(__file__).parents[1]]
    columns = [by_package(checkout) for checkout in checkouts]
    heads = ["lines", "code", "files", "functions"]
    print(f"{'package':14}" + "".join(f"{head:>10}" for _ in columns for head in heads))
    for name in sorted(set().union(*columns), key=lambda name: (name[0] == "(", name)):
        numbers = [column.get(name, Counter())[head] for column in columns for head in heads]
        print(f"{name:14}" + "".join(f"{number:>10,}" for number in numbers))


if __name__ == "__main__":
    main()
