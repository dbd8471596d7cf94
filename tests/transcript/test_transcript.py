"""Every sentence that a verdict can have, in one file to be read from top to bottom.

``verdicts.txt`` is committed. Where a sentence changes, this test shows it; after reading the new
file write it with

    BESTOFK_UPDATE_TRANSCRIPT=1 python -m pytest tests/transcript
"""

import difflib
import os
import re
import textwrap
from pathlib import Path

import decisions
import pytest
import refusals
import single_tests
import studies

FILE = Path(__file__).parent / "verdicts.txt"
UPDATE = "BESTOFK_UPDATE_TRANSCRIPT"
WIDTH = 100


def wrapped(text):
    """Paragraphs of at most `WIDTH` columns, each begun by a dash so that its start is seen."""
    lines = []
    for paragraph in text.splitlines():
        lines.extend(
            textwrap.wrap(
                paragraph, WIDTH, initial_indent="- ", subsequent_indent="  ",
                break_long_words=False, break_on_hyphens=False,
            )
        )  # fmt: skip
    return "\n".join(lines)


def parts():
    for title, cases in decisions.PARTS.items():
        yield title, ((heading, decision.explain()) for heading, decision in cases())
    yield "Studies", ((heading, plain(study.explain())) for heading, study in studies.studies())
    yield "About a run", studies.sentences()
    for title, cases in single_tests.PARTS.items():
        yield title, ((heading, report.explain()) for heading, report in cases())
    yield "Refusals", refusals.refusals()


def plain(text):
    """Without what differs from machine to machine."""
    return re.sub(r"Run with bestofk [^:]+:", "Run with bestofk (version):", text)


@pytest.fixture(scope="module")
def made():
    blocks = []
    for title, cases in parts():
        blocks.append(f"{'=' * len(title)}\n{title}\n{'=' * len(title)}")
        last = ""
        for heading, text in cases:
            lines = text.splitlines()
            for place, line in enumerate(lines):
                if line.startswith("How sure:"):
                    # the same paragraph case after case is read once
                    lines[place], last = ("How sure: as above." if line == last else line), line
            shown = wrapped("\n".join(lines))
            blocks.append(f"## {heading[:1].upper()}{heading[1:]}\n{shown}")
    return "\n\n".join(blocks) + "\n"


def test_sentences_are_those_that_were_read(made):
    if os.environ.get(UPDATE):
        FILE.write_text(made, encoding="utf-8")
    kept = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    changed = "\n".join(
        difflib.unified_diff(kept.splitlines(), made.splitlines(), "read", "now", lineterm="", n=2)
    )
    if changed:
        pytest.fail(f"sentences changed; read them, then run with {UPDATE}=1\n{changed[:6000]}")


@pytest.mark.parametrize(
    "pattern",
    [
        r"\bnan\b",
        r"-0\b(?!\.)",  # minus nothing
        r"\d[eE]-\d\d",  # no scientific notation in prose
        r"\btie[sd]?\b",
        r"too close to call|adequate|guard",
        r"not shown\)",
        r"\b1 (pairs|runs|folds|fits|data sets|learners|others|comparisons|times)\b",
        r"\b(one|1) \w+ (are|were)\b",
        r"  \S+  ",
        r"(?<!\.)\.\.(?!\.)",
        r" ,| \.(?!\.)",
        r"\b(\w+) \1\b",
        r"NOT REFUSED",
        r"np\.|array\(|<[a-z]+ object",
    ],
)
def test_no_sentence_has_what_none_may_have(made, pattern):
    prose = "\n".join(line for line in made.splitlines() if not line.startswith("##"))
    joined = re.sub(r"\n  ", " ", prose)
    found = [match.group(0) for match in re.finditer(f".{{0,60}}(?:{pattern}).{{0,40}}", joined)]
    assert not found
