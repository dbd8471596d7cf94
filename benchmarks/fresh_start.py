"""The default panel on iris in a fresh virtual environment: the first run and the second.

Two rows: the second run over the first (at least 1 / 1.2 is asked), and the imports of
scikit-learn, scipy.stats and pandas over the second (at least 1 / 2). Processor seconds of whole
processes, children included, one after the other; the environment is made for the purpose, with
what pip installs for the package.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
IMPORTS = "import sklearn, scipy.stats, pandas"
TIMES = 5


def processor_seconds(command: list[str]) -> float:
    """Of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    hidden = {"PYTHONPATH", "BESTOFK_KERNELS"}
    environment = {name: text for name, text in os.environ.items() if name not in hidden}
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd="/")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure() -> Iterator[tuple[str, float, float, float]]:
    """First against second, second against imports."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "venv")
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        python = str(place / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "-q", str(ROOT)], check=True)
        compare = [str(place / "bin" / "bestofk"), "compare", "iris"]
        imports = [python, "-c", IMPORTS]
        processor_seconds(imports)  # what other packages keep from their first import
        first = processor_seconds(compare)
        # no other run is a first one: beside the one, the middle of the others, not their best
        second = median(processor_seconds(compare) for _ in range(TIMES))
        least = median(processor_seconds(imports) for _ in range(TIMES))
        yield "fresh start: second over first run", second / first, first, second
        yield "fresh start: imports over second run", least / second, second, least
