"""Compare the speed of two checkouts, in turns; a ratio above 1 means that the second is faster.

python benchmarks/checkouts.py OLD [NEW]
"""

import os
import subprocess
import sys
from pathlib import Path

ROUNDS = 5
TABLE = (
    "import time, numpy as np, bestofk as bk; rng = np.random.default_rng(0)\n"
    "def table(K, *shape):\n"
    "    losses = rng.normal(size=(K, *shape)).T + np.linspace(0, 1, K)\n"
    "    return bk.Scores(losses.T)\n"
)
CASES = {
    "order-1000": f"{TABLE}t = table(1000, 10, 10); bk.compare_scores(t)\n"
    "start = time.process_time(); bk.compare_scores(t).headline",
    "multitest-3000": f"{TABLE}t = table(3000, 5, 2); start = time.process_time()\n"
    "bk.compare_scores(t, prefer='listed', rule='multitest')",
    "small-orders": f"{TABLE}tables = [table(5, 10, 10) for _ in range(200)]\n"
    "bk.compare_scores(tables[0])\n"
    "start = time.process_time()\nfor t in tables: bk.compare_scores(t).headline",
    "import": "import time; start = time.process_time(); import bestofk",
    "first-order": f"import time; start = time.process_time()\n{TABLE}"
    "bk.compare_scores(table(5, 10, 10)).headline",
    "help": "import contextlib, io, time; start = time.process_time()\n"
    "from bestofk.cli import main\n"
    "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
    "    main(['--help'])",
}


def seconds(case: str, checkout: Path) -> float:
    """Return the CPU time of one case in a new process."""
    program = f"{case}\nprint(time.process_time() - start)"
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    return float(done.stdout.split()[-1])


def main() -> None:
    """Print the least CPU time of both sides and their ratio, by case."""
    old = Path(sys.argv[1])
    new = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parents[1]
    for name, case in CASES.items():
        times = [(seconds(case, old), seconds(case, new)) for _ in range(ROUNDS)]
        before, after = (min(side) for side in zip(*times, strict=True))
        print(f"{name:16} ratio={before / after:.2f} old={before:.3f} s new={after:.3f} s")


if __name__ == "__main__":
    main()
