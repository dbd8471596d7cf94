"""The system clock jumps by months while a comparison runs (with libfaketime)."""

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
    '''Set the clock during every fit.'''
    def fit(self, X, y):
        clock, seen = Path(os.environ["CLOCK"]), Path(os.environ["SEEN"])
        super().fit(X, y)
        offset = "+200d" if clock.read_text() == "-100d" else "-100d"
        part = clock.with_suffix(f".{os.getpid()}")
        part.write_text(offset)
        part.replace(clock)  # atomic
        with seen.open("a") as lines:
            lines.write(f"{time.time()}\\n")
        return self

def run(engine, folder):
    begin = time.monotonic()
    os.environ["SEEN"] = f"{folder}/seen-{engine}"
    study = bk.compare(
        {"jumps": Jumps(), "tree": "sklearn.tree:DecisionTreeClassifier(max_features=1)",
         "nmc": "nmc"},
        data="iris", cv="2x5", n_jobs=2, store=f"{folder}/{engine}.db", timeout=3600, budget=3600,
        progress=False, execution=bk.Execution(engine=engine),
    )
    return {
        "losses": [value.hex() for value in study.scores.losses.ravel().tolist()],
        "order": study.order,
        "failures": len(study.failures),
        "notes": study.outcome.notes,
        "shortest": min(min(c.fit_time, c.predict_time) for c in study.outcome.costs.values()),
        "longest": max(max(c.fit_time, c.predict_time) for c in study.outcome.costs.values()),
        "took": time.monotonic() - begin,
    }

if __name__ == "__main__":
    print(json.dumps([run(engine, sys.argv[1]) for engine in sys.argv[2:]]))
"""
ENGINES = ("serial", "processes")


def seen(folder, engine):
    """Return the time of the clock after each fit."""
    return [float(line) for line in (folder / f"seen-{engine}").read_text().split()]


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """Return the results without a jump."""
    folder = tmp_path_factory.mktemp("clock")
    (folder / "clock").write_text("+0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLOCK", str(folder / "clock"))
        patch.setenv("SEEN", "")
        script = {"__name__": "usual"}
        exec(RUN, script)
        results = json.loads(json.dumps(script["run"]("serial", folder)))
    straight = seen(folder, "serial")
    assert max(straight) - min(straight) < 3600
    return results


@pytest.mark.skipif(
    not FAKETIME, reason="libfaketime is not installed (apt-get install faketime): no clock to set"
)
def test_a_clock_that_jumps_changes_nothing(tmp_path, usual):
    script, clock = tmp_path / "run.py", tmp_path / "clock"
    script.write_text(RUN)
    clock.write_text("+0")
    # only the wall clock jumps: that is what an administrator or a time server sets
    environment = {
        **os.environ,
        "CLOCK": str(clock),
        "LD_PRELOAD": str(FAKETIME[0]),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), *ENGINES],
        env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for engine, jumped in zip(ENGINES, json.loads(done.stdout), strict=True):
        steps = [later - earlier for earlier, later in pairwise(seen(tmp_path, engine))]
        assert min(steps) < -250 * 86400
        assert max(steps) > 250 * 86400
        assert jumped["losses"] == usual["losses"]
        assert jumped["order"] == usual["order"]
        # neither the budget nor the timeout uses that clock
        assert (jumped["failures"], jumped["notes"]) == (0, [])
        assert 0 <= jumped["shortest"] <= jumped["longest"] <= jumped["took"] < 3600
