"""The answer of the gate as Markdown and as a JUnit file."""

from __future__ import annotations

from xml.etree import ElementTree

from bestofk._base.formatting import printable, pvalue_text
from bestofk.release.gate import GateResult, decimals, next_step, signed

SYMBOLS = {"pass": "✅", "blocked": "❌", "suspect": "⚠️"}
MAX_HISTORY_ROWS = 10


def markdown(result: GateResult) -> str:
    """Return a comment for a pull request or a step summary."""
    lines = [
        f"### {SYMBOLS[result.answer]} {_cell(result.headline)}",
        "",
        "| metric | new | baseline | difference | interval | p of worse |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, row in result.results.items():
        form = f".{decimals(row)}f"
        cells = (
            _cell(name), f"{row['mean']:{form}}", f"{row['baseline']:{form}}",
            signed(row["difference"], form),
            f"{signed(row['low'], form)} to {signed(row['high'], form)}",
            pvalue_text(row["p"], row["level"]),
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    lines += [f"\n{_cell(note)}" for note in result.notes]
    step = next_step(result)
    lines += [f"\n{_cell(step)}"] if step else []
    if result.worse_items and result.answer != "pass":
        lines += ["", "Items that got worse:", "", "| item | metric | baseline | new |"]
        lines += ["|---|---|---:|---:|"]
        lines += [
            f"| {_cell(item['item'])} | {_cell(item['metric'])} | {item['baseline']:.3g} | "
            f"{item['new']:.3g} |"
            for item in result.worse_items
        ]
    builds = result.history.builds[-MAX_HISTORY_ROWS:]
    if result.ledger is not None and builds:
        lines += ["", "<details><summary>Last builds</summary>", "",
                  "| build | metric | difference | from the first baseline | answer |",
                  "|---|---|---:|---:|---|"]  # fmt: skip
        lines += [
            f"| {_cell(build['build'])} | {_cell(name)} | {signed(row['difference'], '.3f')} | "
            f"{signed(row['since_start'], '.3f')} | {build['answer']} |"
            for build in builds
            for name, row in build["metrics"].items()
        ]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _cell(text: object) -> str:
    """Return text that is safe in a Markdown table, and in which nothing becomes a link."""
    clean = " ".join(printable(str(text)).split()).encode("utf-8", "replace").decode()
    for character in "\\`|<>[]*_":
        clean = clean.replace(character, f"\\{character}")
    return clean.replace("://", ":\u200b//").replace("@", "@\u200b").replace("www.", "www\u200b.")


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
            case, "failure", message=printable(result.headline), type=result.answer
        )
    else:
        details = ElementTree.SubElement(case, "system-out")
    details.text = "\n".join(map(printable, result.explain().split("\n")))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
