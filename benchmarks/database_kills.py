"""Kill a PostgreSQL server at random moments under a comparison: nothing is lost.

    python benchmarks/database_kills.py [KILLS]     10 by default

Starts a server of its own, which must be installed. While a comparison with slow fits fills its
store, the server is stopped at once (as in a crash) and started again. At the end the losses must
be those of a run without a store, to the bit, and all fits must be in the store; the fits beyond
one for each cell are counted.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1] / "tests" / "run"
PLAN = "20x5"


def main(kills: int) -> int:
    sys.path.insert(0, str(TESTS))
    import strange_learners as strange

    import bestofk as bk
    from bestofk.run.store.store import open_store
    from conftest import Server, server_programs

    programs = server_programs()
    if programs is None:
        print("PostgreSQL is not installed.", file=sys.stderr)
        return 2
    moments = random.Random(5)
    X, y = np.random.default_rng(2).normal(size=(48, 3)), np.tile(["a", "b"], 24)
    with tempfile.TemporaryDirectory(prefix="bestofk-pg-") as name:
        folder, log = Path(name), Path(name) / "fits"
        server = Server(programs, folder)
        shutil.chown(folder, *server.owner())
        folder.chmod(0o755)
        server.start()
        url = server.database()
        learners = {n: strange.Counted(log=str(log), tag=n, nap=kills * 0.015) for n in "pq"}
        options = {
            "cv": PLAN,
            "random_state": 4,
            "progress": False,
            "execution": bk.Execution(engine="serial"),
        }
        found: list[np.ndarray] = []

        def work() -> None:
            found.append(bk.compare(learners, X, y, store=url, **options).losses.values)

        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive() and not log.exists():
            time.sleep(0.05)  # a server that was never there is not waited for
        for _ in range(kills):
            time.sleep(moments.uniform(0.5, 2.0))
            server.down()
            time.sleep(moments.uniform(0.0, 1.0))
            server.up()
        thread.join()
        fits = len(log.read_text(encoding="ascii").split())
        with open_store(url, read_only=True) as store:
            kept = store.n_cells()
        expected = bk.compare(learners, X, y, **options).losses.values
        server.down()
    same = len(found) == 1 and np.array_equal(found[0], expected)
    print(f"{kills} kills: {kept} fits kept of 200, {fits - 200} made again, equal: {same}")
    return 0 if same and kept == 200 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
