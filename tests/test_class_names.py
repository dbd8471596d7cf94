"""Class names are unique across the package."""

import re
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "bestofk"


def test_no_two_public_classes_share_a_name():
    files = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        for name in re.findall(r"^class ([A-Za-z]\w*)", path.read_text(encoding="utf-8"), re.M):
            files[name].append(path.relative_to(SOURCE).as_posix())
    assert len(files) > 200
    assert {name: paths for name, paths in files.items() if len(paths) > 1} == {}
