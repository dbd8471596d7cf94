"""No text promises an error rate without its conditions."""

import re
from pathlib import Path

import pytest

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
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "measured" not in path.parts),
]


@pytest.mark.parametrize("pattern", PROMISES)
def test_no_unconditional_promise(pattern):
    found = [
        str(path.relative_to(ROOT))
        for path in FILES
        if re.search(pattern, " ".join(path.read_text(encoding="utf-8").split()), re.IGNORECASE)
    ]
    assert found == []
