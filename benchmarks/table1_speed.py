"""Table 1 of the MultiTest paper, the whole command: the promised processor time over ours.

1,000 runs of 5x2 on 30 data sets, five learners, are promised in 12 core-minutes; the start, the
reading of the data sets and both workers count. ``table1_speed`` does 100 runs, of which a tenth
is promised; ``table1_speed:1000`` does all of them. The data sets are UCI's from the folder
BESTOFK_DATA. What agrees with the print is printed beside it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence

PROMISED_SECONDS = 720.0
OF_RUNS = 1000


def measure(only: Sequence[str] = ("100",)) -> Iterator[tuple[str, float, float, float]]:
    """A row for each number of runs."""
    for runs in only:
        asked = ["--table", "1", "--runs", runs, "--jobs", "2", "--json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "bestofk", "reproduce", "multitest", *asked]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        for table in json.loads(said)["tables"]:
            print(table["summary"])
        promised = PROMISED_SECONDS * int(runs) / OF_RUNS
        yield f"multitest-table-1-{runs}-runs", promised / seconds, seconds, promised
