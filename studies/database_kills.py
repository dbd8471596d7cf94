"""Kill a PostgreSQL server at random moments during a comparison, and check that nothing is lost.

    python studies/database_kills.py [KILLS]     10 by default

Start a private server (PostgreSQL must be installed). While a comparison with slow fits fills its
store, stop the server as in a crash and start it again. At the end the losses must be bit-for-bit
those of a run without a store, and all fits must be in the store. Print the number of fits beyond
one per cell.
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
        results: list[np.ndarray] = []

        def work() -> None:
            results.append(bk.compare(learners, X, y, store=url, **options).scores.losses)

        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive() and not log.exists():
            time.sleep(0.05)  # the store must have been opened before the first kill
        for _ in range(kills):
            time.sleep(moments.uniform(0.5, 2.0))
            server.down()
            time.sleep(moments.uniform(0.0, 1.0))
            server.up()
        thread.join()
        fits = len(log.read_text(encoding="ascii").split())
        with open_store(url, read_only=True) as store:
            stored = store.n_cells()
        expected = bk.compare(learners, X, y, **options).scores.losses
        server.down()
    same = len(results) == 1 and np.array_equal(results[0], expected)
    print(f"{kills} kills: {stored} of 200 fits stored, {fits - 200} repeated, equal: {same}")
    return 0 if same and stored == 200 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
