"""Compare the speed of two checkouts, in turns; a ratio above 1 means that the second is faster.

python benchmarks/checkouts.py OLD [NEW]                    all cases
python benchmarks/checkouts.py OLD NEW read-csv mypy        some cases

The seconds are CPU time, also of child processes, the least of five; of the cases of half a minute
and more, of one run.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 5
LONG_CASES = ("default-20000", "mypy")
SCORES = (
    "import time, numpy as np, bestofk as bk; rng = np.random.default_rng(0)\n"
    "Scores = getattr(bk, 'Scores', None) or bk.Losses  # the older name\n"
    "decide = bk.compare_scores if hasattr(bk, 'compare_scores') else bk.order\n"
)
TABLE = (
    f"{SCORES}"
    "def table(K, *shape):\n"
    "    losses = rng.normal(size=(K, *shape)).T + np.linspace(0, 1, K)\n"
    "    return Scores(losses.T)\n"
)
COMPARE = (
    "import os, sys, time, numpy as np, bestofk as bk\n"
    "def spent():\n    return sum(os.times()[:4])\n"
    "def data(rows, columns):\n"
    "    X = np.random.default_rng(0).normal(size=(rows, columns))\n"
    "    return X, (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)\n"
)
CASES = {
    "order-1000": f"{TABLE}t = table(1000, 10, 10); decide(t)\n"
    "start = time.process_time(); decide(t).headline",
    "multitest-3000": f"{TABLE}t = table(3000, 5, 2); start = time.process_time()\n"
    "decide(t, prefer='listed', rule='multitest')",
    "small-orders": f"{TABLE}tables = [table(5, 10, 10) for _ in range(200)]\n"
    "decide(tables[0])\n"
    "start = time.process_time()\nfor t in tables: decide(t).headline",
    "permutation-40": f"{SCORES}t = Scores(rng.normal(size=(5, 40, 1)))\n"
    "start = time.process_time(); decide(t, test='permutation').headline",
    "read-csv": "import os, time, tempfile, numpy as np, bestofk as bk\n"
    "with tempfile.TemporaryDirectory() as folder:\n"
    "    path = os.path.join(folder, 'a.csv'); rng = np.random.default_rng(0)\n"
    "    names = [*(f'x{i}' for i in range(12)), 'y']\n"
    "    X = np.column_stack([rng.normal(size=(100_000, 12)), rng.integers(0, 2, 100_000)])\n"
    "    np.savetxt(path, X, delimiter=',', fmt='%.6g', header=','.join(names), comments='')\n"
    "    read = getattr(bk, 'read_dataset', None) or bk.read_data  # the older name\n"
    "    start = time.process_time(); read(path, target='y')",
    "read-evals": "import os, time, tempfile, numpy as np, bestofk as bk\n"
    "with tempfile.TemporaryDirectory() as folder:\n"
    "    path = os.path.join(folder, 'a.csv'); rng = np.random.default_rng(0)\n"
    "    lines = [f'm{m},q{i},{s}' for m, row in enumerate(rng.integers(0, 2, (20, 40_000)))\n"
    "             for i, s in enumerate(row)]\n"
    "    open(path, 'w').write('model,item,score\\n' + '\\n'.join(lines))\n"
    "    start = time.process_time(); bk.read_evals(path)",
    "first-compare": f"{COMPARE}import sklearn.linear_model, sklearn.tree, sklearn.naive_bayes\n"
    "start = spent(); bk.compare(['logistic', 'nmc', 'sklearn.naive_bayes:GaussianNB()',\n"
    "    'sklearn.tree:DecisionTreeClassifier()'], 'iris', cv='5x2', progress=False, n_jobs=1)\n"
    "time.process_time = spent",
    "default-20000": f"{COMPARE}start = spent()\n"
    "bk.compare(None, *data(20_000, 30), progress=False, n_jobs=2)\n"
    "time.process_time = spent",
    "import": "import time; start = time.process_time(); import bestofk",
    "first-order": f"import time; start = time.process_time()\n{TABLE}"
    "decide(table(5, 10, 10)).headline",
    "help": "import contextlib, io, time; start = time.process_time()\n"
    "from bestofk.cli import main\n"
    "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
    "    main(['--help'])",
}


def seconds(case: str, checkout: Path) -> float:
    """Return the CPU time of one case in a new process."""
    if case == "mypy":
        return cold_mypy(checkout)
    program = f"{CASES[case]}\nprint(time.process_time() - start)"
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    return float(done.stdout.split()[-1])


def cold_mypy(checkout: Path) -> float:
    """Return the CPU time of mypy without a cache."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "mypy", f"--cache-dir={cache}"]
        subprocess.run(command, cwd=checkout, capture_output=True, check=False)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main() -> None:
    """Print the least CPU time of both sides and their ratio, by case."""
    old = Path(sys.argv[1])
    new = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parents[1]
    for name in sys.argv[3:] or (*CASES, "mypy"):
        rounds = 1 if name in LONG_CASES else ROUNDS
        times = [(seconds(name, old), seconds(name, new)) for _ in range(rounds)]
        before, after = (min(side) for side in zip(*times, strict=True))
        print(
            f"{name:16} ratio={before / after:.2f} old={before:.3f} s new={after:.3f} s", flush=True
        )


if __name__ == "__main__":
    main()
