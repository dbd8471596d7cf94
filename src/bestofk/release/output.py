"""The answer of the gate as Markdown and as a JUnit file."""

from __future__ import annotations

from xml.etree import ElementTree

from bestofk._base.formatting import printable, pvalue_words
from bestofk.release.gate import GateResult, signed

SYMBOLS = {"pass": "✅", "worse": "❌", "undecided": "⚠️"}
MAX_HISTORY_ROWS = 10


def markdown(result: GateResult) -> str:
    """Return a comment for a pull request or a step summary."""
    form = f".{result.decimals()}f"
    rows = [
        ("build", _cell(result.build)),
        ("anchor", _cell(", ".join(result.anchor))),
        (_cell(result.metric), f"{result.mean:{form}} (anchor {result.anchor_mean:{form}})"),
        ("difference", f"{signed(result.difference, form)} "
                       f"({signed(result.low, form)} to {signed(result.high, form)})"),
        ("p of worse", f"{pvalue_words(result.pvalue, result.level)[2:].lstrip('= ')} "
                       f"(level {result.level:.2g})"),
        (f"{result.unit}s", f"{result.units:,}"),
        ("alpha spent", f"{result.spent:.2g} of {result.alpha:g}"),
    ]  # fmt: skip
    lines = [
        f"### {SYMBOLS[result.answer]} {_cell(result.headline())}",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in rows),
    ]
    lines += [f"\n{_cell(note)}" for note in result.notes]
    builds = [] if result.history is None else result.history.builds[-MAX_HISTORY_ROWS:]
    if result.ledger is not None and builds:
        lines += ["", "<details><summary>Last builds</summary>", "",
                  "| build | difference from the anchor | answer |", "|---|---|---|"]  # fmt: skip
        lines += [
            f"| {_cell(line['build'])} | {signed(line['difference'], form)} | {line['answer']} |"
            for line in builds
        ]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _cell(text: object) -> str:
    """Return text that is safe in a Markdown table."""
    clean = " ".join(printable(str(text)).split())
    for character in "\\`|<>[]*_":
        clean = clean.replace(character, f"\\{character}")
    return clean


def junit(result: GateResult) -> str:
    """Return a JUnit file with one test case."""
    failed = result.exit_code != 0
    suite = ElementTree.Element(
        "testsuite", name="bestofk gate", tests="1", failures=str(int(failed)), errors="0"
    )
    case = ElementTree.SubElement(
        suite, "testcase", classname="bestofk.release", name=printable(result.build)
    )
    if failed:
        details = ElementTree.SubElement(
            case, "failure", message=printable(result.headline()), type=result.answer
        )
    else:
        details = ElementTree.SubElement(case, "system-out")
    details.text = "\n".join(map(printable, result.explain().split("\n")))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
