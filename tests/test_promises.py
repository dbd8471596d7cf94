"""No text promises an error rate without its conditions."""

import re
from pathlib import Path

import pytest

import bestofk

ROOT = Path(__file__).resolve().parents[1]
PROMISES = (
    r"(?<!in )at most 5 (?:%|percent) of (?:studies|claims|cases)",
    r"false claim(?:s)? is at most 5",
    r"at most 5 percent is allowed",
    r"holds for (?:all|any|every) (?:learner|shape)",
    r"whatever the shape",
    r"of 120 situations",
    r"the error rate holds",
)
FILES = [
    *sorted((ROOT / "src").rglob("*.py")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("pattern", PROMISES)
def test_no_unconditional_promise(pattern):
    found = [
        str(path.relative_to(ROOT))
        for path in FILES
        if re.search(pattern, " ".join(path.read_text(encoding="utf-8").split()), re.IGNORECASE)
    ]
    assert found == []


def test_the_changelog_and_the_citation_have_the_current_version():
    assert f"\n## {bestofk.__version__} (" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f'\nversion: "{bestofk.__version__}"\n' in (ROOT / "CITATION.cff").read_text(
        encoding="utf-8"
    )
