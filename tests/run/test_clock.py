"""A clock that jumps by months, to and fro, while a comparison runs (with libfaketime)."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))

RUN = """
import json, os, sys, time
from pathlib import Path
import bestofk as bk
from sklearn.naive_bayes import GaussianNB

class Jumps(GaussianNB):
    '''A learner during whose every fit somebody sets the clock.'''
    def fit(self, X, y):
        clock, seen = Path(os.environ["CLOCK"]), Path(os.environ["SEEN"])
        super().fit(X, y)
        offset = "+200d" if clock.read_text() == "-100d" else "-100d"
        part = clock.with_suffix(f".{os.getpid()}")
        part.write_text(offset)
        part.replace(clock)  # at once: nobody sees half of it
        with seen.open("a") as lines:
            lines.write(f"{time.time()}\\n")
        return self

if __name__ == "__main__":
    begin = time.monotonic()
    study = bk.compare(
        {"jumps": Jumps(), "forest": "sklearn.ensemble:RandomForestClassifier(n_estimators=3)",
         "nmc": "nmc"},
        data="iris", plan="2x5", engine=sys.argv[1], n_jobs=2, store=sys.argv[2], timeout=60,
        budget=100, progress=False,
    )
    print(json.dumps({
        "losses": [value.hex() for value in study.losses.values.ravel().tolist()],
        "order": study.order,
        "failures": len(study.failures),
        "notes": study.notes,
        "shortest": min(min(c.fit_time, c.predict_time) for c in study.costs.values()),
        "longest": max(max(c.fit_time, c.predict_time) for c in study.costs.values()),
        "took": time.monotonic() - begin,
    }))
"""


def run(folder, engine, *, jumping):
    folder.mkdir()
    script, clock, seen = (folder / name for name in ("run.py", "clock", "seen"))
    script.write_text(RUN)
    clock.write_text("+0")
    environment = {**os.environ, "CLOCK": str(clock), "SEEN": str(seen)}
    if jumping:
        # the clock on the wall alone: that is what an administrator or a time server sets
        environment |= {
            "LD_PRELOAD": str(FAKETIME[0]),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
    done = subprocess.run(
        [sys.executable, str(script), engine, str(folder / "study.db")],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    clocks = [float(line) for line in seen.read_text().split()]
    return json.loads(done.stdout), clocks


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """Of any engine: all say the same."""
    found, straight = run(tmp_path_factory.mktemp("clock") / "usual", "serial", jumping=False)
    assert max(straight) - min(straight) < 60
    return found


@pytest.mark.skipif(
    not FAKETIME, reason="libfaketime is not installed (apt-get install faketime): no clock to set"
)
@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_a_clock_that_jumps_changes_nothing(tmp_path, engine, usual):
    jumped, clocks = run(tmp_path / "jumped", engine, jumping=True)
    steps = [later - earlier for earlier, later in pairwise(clocks)]
    assert min(steps) < -250 * 86400
    assert max(steps) > 250 * 86400
    assert jumped["losses"] == usual["losses"]
    assert jumped["order"] == usual["order"]
    # neither the budget nor a timeout went by that clock
    assert (jumped["failures"], jumped["notes"]) == (0, [])
    assert 0 <= jumped["shortest"] <= jumped["longest"] <= jumped["took"] < 60
