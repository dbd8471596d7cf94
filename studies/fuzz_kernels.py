"""Call every kernel with random data of extreme shapes and magnitudes, under the sanitizers.

    python studies/fuzz_kernels.py --seconds 600 --seed 0
    python studies/fuzz_kernels.py --seed 0 --case 1234
    python studies/fuzz_kernels.py --cases 500 --unsanitized

Each case draws a data set and a learner, or the input of a kernel of the papers, and checks that

- predictions are classes of the training rows, and probabilities are between 0 and 1,
- the predictions of a whole plan equal those of fitting split by split,
- an error is one of bestofk's,
- a case takes at most 20 s of CPU time (100 s under the sanitizers) and the process at most 2 GB.

The kernels are compiled with the address and undefined-behaviour sanitizers of gcc, so that a read
or write out of bounds ends the process. `--case` repeats one case, whose number is in the message.
The small form is tests/learners/kernels/test_fuzz.py.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
LEARNERS = (
    "max", "nmc", "nmc(scale='std')", "logistic", "c4.5", "c4.5(min_leaf=1, confidence=0.5)",
    "c4.5(pruning='holdout')", "c4.5(pruning=None)", "nn", "nn(scale='std')", "nn(scale=None)",
    "naive-bayes", "tan", "voted-perceptron",
)  # fmt: skip
MAX_SECONDS = 20.0
MAX_GB = 2.0
MAX_FAILURES = 20
MAX_PAPER_VALUES = 256
"""Nominal values of a column that the tree of the MultiTest paper accepts."""
"""Failures after which to stop."""
TOP = float(np.finfo(float).max)
EXTREMES = (
    0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2e-308, 1e-300, 1e-160, 1e-60, 1e-9, 1e8, 1e15,
    2.0**53, 1e60, 9e99, 1e150, 1.4e154, 1e300, 1e308, -1e308, 1.7e308, -1.7e308, TOP, -TOP,
)  # fmt: skip
"""Magnitudes at which sums, squares, products and reciprocals overflow or vanish."""

Rng = np.random.Generator


def numeric_column(rng: Rng, n: int) -> Any:
    """Draw a numeric column."""
    kind = rng.integers(8)
    if kind == 0:
        return rng.choice(EXTREMES, n)
    if kind == 1:  # two or three extreme values, which meet in one cut
        return rng.choice(rng.choice(EXTREMES, rng.integers(1, 4)), n)
    if kind == 2:  # neighbours of an extreme value
        base = np.full(n, rng.choice(EXTREMES))
        towards = np.where(rng.random(n) < 0.5, np.inf, -np.inf)
        near = np.nextafter(base, towards)
        return np.where(np.isfinite(near) & (rng.random(n) < 0.7), near, base)
    if kind == 3:  # a tiny spread around one value, and one far away
        column = rng.normal(size=n) * 10.0 ** rng.integers(-300, 10)
        column[rng.integers(n)] = rng.choice(EXTREMES)
        return column
    if kind == 4:
        return rng.normal(size=n) * 10.0 ** rng.integers(-307, 307)
    if kind == 5:
        return 10.0 ** rng.uniform(-320, 308, n) * rng.choice([-1.0, 1.0], n)
    if kind == 6:
        return rng.normal(size=n).round(int(rng.integers(0, 4)))
    return np.full(n, rng.choice(EXTREMES))


def drawn(rng: Rng) -> Any:
    """Draw an encoded data set."""
    from bestofk.data.schema import Encoded

    n = int(rng.choice([1, 2, 3, 5, 8, 31, 63, 64, 65, 100, 129, 200]))
    d = int(rng.choice([1, 1, 2, 3, 5, 9, 17, 33, 65]))
    classes = int(rng.choice([1, 2, 2, 2, 3, 4, 9]))
    kind = rng.integers(4)
    cardinality = np.array(
        [0 if kind == 0 or (kind == 1 and rng.random() < 0.5) else
         2 if kind == 2 else int(rng.integers(1, 40) if rng.random() < 0.97 else 3000)
         for _ in range(d)],
        dtype=np.int64,
    )  # fmt: skip
    columns = [
        rng.integers(0, c, n).astype(float) if c else numeric_column(rng, n) for c in cardinality
    ]
    values = np.column_stack(columns).astype(float)
    values[rng.random((n, d)) < rng.choice([0.0, 0.0, 0.1, 0.5, 1.0])] = np.nan
    y = rng.integers(0, classes, n)
    if rng.random() < 0.5:  # classes that a column tells apart
        y = (np.argsort(np.argsort(np.nan_to_num(values[:, 0]))) * classes // n).astype(np.int64)
    return Encoded(values=values, cardinality=cardinality, y=y, classes=np.arange(classes))


def check_learner(rng: Rng) -> str:
    """Fit, predict and evaluate a plan; return a label of the outcome."""
    from bestofk._base.errors import BestOfKError
    from bestofk.learners.base import predict_encoded_splits
    from bestofk.learners.specification import parse_learner
    from bestofk.splits.plans import plan

    data = drawn(rng)
    spec = str(rng.choice(LEARNERS))
    learner = parse_learner(spec)[1]
    try:
        model = learner.fit_encoded(data)
    except BestOfKError:
        return f"{spec}: refused"
    seen = np.unique(data.y)
    other = drawn(rng).values
    strange = np.resize(other, (5, data.d))
    strange[:, data.cardinality > 0] = np.nan
    for values in (data.values, strange, data.values[:0]):
        assert np.isin(model.predict_encoded(values), seen).all(), spec
        if hasattr(model, "_proba_encoded") and len(values):
            shares = model._proba_encoded(values)
            assert shares.shape == (len(values), len(seen))
            assert ((shares >= 0) & (shares <= 1 + 1e-9)).all(), f"{spec} gives {shares}"
            assert np.abs(shares.sum(axis=1) - 1).max() < 1e-6, f"{spec} gives {shares}"
    if data.n < 4:
        return f"{spec}: fitted"
    word = str(rng.choice(["2x2", "kfold:3", "bootstrap:2", "3x2"]))
    splits = plan(word, stratified=False, random_state=int(rng.integers(99))).materialise(data.n)
    at_once = (
        learner._predict_plan(data, splits)
        if hasattr(learner, "_predict_plan")
        else predict_encoded_splits(learner, data, splits)
    )
    for (_, _, train, test), codes in zip(splits, at_once, strict=True):
        alone = parse_learner(spec)[1].fit_encoded(data.take(train))
        alone_codes = alone.predict_encoded(data.values[test])
        assert np.array_equal(codes, alone_codes), f"{spec} differs on {word}"
        assert np.isin(codes, data.y[train]).all()
    return f"{spec}: compared"


def check_paper_kernels(rng: Rng) -> str:
    """Call the kernels of the MultiTest paper."""
    from bestofk.papers.multitest import learners as multitest
    from bestofk.papers.multitest.learners import Prepared

    data = drawn(rng)
    if data.n < 4 or data.n_classes < 2:
        return "paper: too small"
    if max(data.cardinality, default=0) > MAX_PAPER_VALUES:
        return "paper: too many values"
    prepared = Prepared(
        name="drawn", values=data.values, cardinality=data.cardinality,
        whole=rng.random(data.d) < 0.5, y=data.y, n_classes=data.n_classes, learning_rate=0.05,
    )  # fmt: skip
    marks = np.array([rng.permutation(np.arange(data.n) % 2 == 0) for _ in range(2)])
    sizes = np.column_stack(((~marks).sum(axis=1), marks.sum(axis=1)))
    seeds = rng.integers(0, 2**32, (len(marks), 2), dtype=np.uint32)
    for learner in multitest.LEARNERS:
        errors = multitest.count_errors(prepared, learner, marks, seeds)
        assert ((errors >= 0) & (errors <= sizes)).all()
    multitest.modes_agree(prepared, marks, multitest.fill(prepared, np.flatnonzero(marks[0]))[1])
    return "paper: called"


def check_weka_kernels(rng: Rng) -> str:
    """Call the kernels of the paper on calibrated tests."""
    from bestofk.papers.calibrated import weka_learners as weka

    n, d, folds = int(rng.integers(4, 150)), int(rng.integers(1, 20)), int(rng.integers(2, 5))
    values = rng.integers(1, 6, d)
    codes = np.column_stack([rng.integers(0, v, n) for v in values]).astype(np.int64)
    y, marks = rng.integers(0, 2, n), rng.permutation(np.arange(n) % folds).astype(np.int64)
    offset = np.concatenate(([0], np.cumsum(values))).astype(np.int64)
    inputs = np.column_stack([numeric_column(rng, n) for _ in range(d)]).astype(float)
    sizes = np.bincount(marks, minlength=folds)
    for errors in (
        weka.first_neighbour_errors(codes, y, marks, folds),
        weka.voted_perceptron_errors(inputs, y == 1, marks, folds, 1),
        weka.network_errors(codes, offset, y, 2, marks, folds),
    ):
        assert ((errors >= 0) & (errors <= sizes)).all()
    return "weka: called"


def check_case(seed: int, case: int, *, max_seconds: float = MAX_SECONDS) -> str:
    """Check one case; return a label of the outcome."""
    rng = np.random.default_rng([seed, case])
    check = (check_learner, check_learner, check_learner, check_learner, check_paper_kernels,
             check_weka_kernels)[case % 6]  # fmt: skip
    begin = time.process_time()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        outcome = check(rng)
    seconds = time.process_time() - begin
    assert seconds < max_seconds, f"{outcome} took {seconds:.1f} s"
    return outcome


def sanitized(arguments: list[str]) -> int:
    """Build the kernels with the sanitizers and run this script with them."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"]
        subprocess.run(
            [sys.executable, str(ROOT / "hatch_build.py"), "--only", "generic", "--into", folder,
             *(f"--flag={flag}" for flag in flags)],
            check=True,
        )  # fmt: skip
        libraries = [
            subprocess.run(
                ["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True
            ).stdout.strip()
            for name in ("libasan.so", "libubsan.so")
        ]
        environment = {
            **os.environ,
            "LD_PRELOAD": ":".join(libraries),
            "ASAN_OPTIONS": "detect_leaks=0",
            "BESTOFK_KERNELS": str(Path(folder) / "kernels-generic.bin"),
        }
        command = [sys.executable, __file__, "--unsanitized", "--slow", *arguments]
        return subprocess.run(command, env=environment).returncode


def main() -> int:
    """Check cases until the time is over; stop at the first failure."""
    import resource

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--cases", type=int, help="stop after this many cases")
    parser.add_argument("--case", type=int, help="repeat one case")
    parser.add_argument("--unsanitized", action="store_true", help="use the installed kernels")
    parser.add_argument("--slow", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.unsanitized:
        return sanitized(sys.argv[1:])
    outcomes: Counter[str] = Counter()
    end = time.monotonic() + options.seconds
    case, failed = options.case or 0, 0
    log = Path(tempfile.gettempdir()) / f"fuzz_kernels-{os.getpid()}"
    while time.monotonic() < end and (options.cases is None or case < options.cases):
        log.write_text(str(case))  # for a crash: the next line is not printed then
        try:
            limit = 5 * MAX_SECONDS if options.slow else MAX_SECONDS
            outcomes[check_case(options.seed, case, max_seconds=limit)] += 1
        except Exception as error:
            if options.case is not None:
                raise
            failed += 1
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:150]
            print(f"Case {case} of seed {options.seed} failed: {reason}", flush=True)
            if failed == MAX_FAILURES:
                break
        case += 1
        if options.case is not None:
            break
    log.unlink()
    for outcome, count in sorted(outcomes.items()):
        print(f"{outcome}: {count}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    passed = sum(outcomes.values())
    print(
        f"{passed} cases of seed {options.seed} passed, {failed} failed; peak memory {peak:.2f} GB"
    )
    return int(failed > 0 or peak > MAX_GB)


if __name__ == "__main__":
    sys.exit(main())
