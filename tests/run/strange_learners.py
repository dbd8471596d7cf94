"""Learners that misbehave in every way that a run must survive, and small well-behaved ones."""

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

with contextlib.suppress(ModuleNotFoundError):
    # Windows has no such module
    import resource

from bestofk.data import read_data
from bestofk.run.inputs import named_estimators
from bestofk.run.live import Live
from bestofk.run.metrics import as_loss
from bestofk.splits.plans import plan as make_plan


def make_live(learners, datasets, plan="kfold:3", *, loss=None, random_state=7, **options):
    """A study as `compare` makes it, from a mapping of learners and {name: (X, y)}."""
    made = [read_data(X, y, name=name) for name, (X, y) in datasets.items()]
    classes = made[0].classes if made[0].task == "classification" else None
    default = "squared" if classes is None else "zero-one"
    splits = [make_plan(plan, random_state=random_state).materialise(one.n, one.y) for one in made]
    metrics = [as_loss(loss or default, classes=classes)]
    named = named_estimators(learners)
    return Live.of(named, made, splits, metrics, random_state=random_state, **options)


def by_place(live, cells):
    """{(learner's name, dataset, run, fold, repetition): cell}, each exactly once."""
    found = {}
    for cell in cells:
        name = live.record.names[cell.learner]
        at = (name, cell.dataset, cell.run, cell.fold, cell.repetition)
        assert at not in found, f"{at} came twice"
        found[at] = cell
    return found


def outcomes(live, results):
    """What must not depend on the engine: losses to the bit, kinds of failures, predictions."""
    return {
        at: (
            result.loss,
            result.failure and result.failure.kind,
            result.predictions,
        )
        for at, result in by_place(live, results).items()
    }


class Majority(ClassifierMixin, BaseEstimator):
    """Predicts the most frequent label; the base of the others."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.label_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.label_)


class Raises(Majority):
    def fit(self, X, y):
        raise RuntimeError("the third\nbearing is worn")


class FailsWithout(Majority):
    """Raises where a certain row is not among those that train."""

    def __init__(self, row=0.0):
        self.row = row

    def fit(self, X, y):
        if not (X[:, 0] == self.row).any():
            raise RuntimeError("that row is missing")
        return super().fit(X, y)


class RaisesInPredict(Majority):
    def predict(self, X):
        raise KeyError("colour")


class Leaves(Majority):
    def fit(self, X, y):
        raise SystemExit(3)


class Warns(Majority):
    def fit(self, X, y):
        for _ in range(100):
            warnings.warn("did not\nconverge", RuntimeWarning, stacklevel=1)
        return super().fit(X, y)


class Hangs(Majority):
    def fit(self, X, y):
        while True:
            time.sleep(60)


class HangsInC(Majority):
    """A loop in C that holds the lock of the interpreter and hears no signal for hours."""

    def fit(self, X, y):
        re.fullmatch("(a+)+", "a" * 64 + "b")


class Segfaults(Majority):
    def fit(self, X, y):
        # without the core file and the trace that a test suite's fault handler would print
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        ctypes.string_at(0)


class Exits(Majority):
    def fit(self, X, y):
        os._exit(17)


class OutOfMemory(Majority):
    def fit(self, X, y):
        raise MemoryError


class MemoryLimit(Majority):
    """Really runs out of memory: the address space is limited, then filled."""

    def fit(self, X, y):
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**26, hard))
        try:
            np.ones(2**28)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class PredictsNaN(Majority):
    def predict(self, X):
        return np.where(np.arange(len(X)) < 2, np.nan, 0.0)


class PredictsInfinity(Majority):
    def predict(self, X):
        return np.full(len(X), np.inf)


class WrongShape(Majority):
    def predict(self, X):
        return np.zeros((len(X), 2))


class UnknownClass(Majority):
    def predict(self, X):
        return np.full(len(X), "unheard of")


class NothingPredicted(Majority):
    def predict(self, X):
        return None


class NoProbabilities(Majority):
    pass


class NaNProbabilities(Majority):
    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), np.nan)


class CannotBePickled(Majority):
    """Runs in the process that made it, and nowhere else."""

    def __init__(self):
        self.lock = threading.Lock()

    def get_params(self, deep=True):
        return {}


class CannotBeLoaded(Majority):
    def __reduce__(self):
        return _refuse, ()


def _refuse():
    raise OSError("the licence server is down")


class Counted(Majority):
    """Writes a line for every fit; sleeps a little; slightly random so that seeds matter."""

    def __init__(self, log="", tag="", nap=0.0, random_state=None):
        self.log = log
        self.tag = tag
        self.nap = nap
        self.random_state = random_state

    def fit(self, X, y):
        if self.log:
            with Path(self.log).open("a") as log:
                log.write(f"{self.tag}\n")
        time.sleep(self.nap)
        return super().fit(X, y)

    def predict(self, X):
        rng = np.random.default_rng(self.random_state)
        return self.classes_[rng.integers(len(self.classes_), size=len(X))]


class CountedAndRaises(Counted):
    """Fails in every fit, which is counted."""

    def fit(self, X, y):
        super().fit(X, y)
        raise RuntimeError("the bearing is worn")


class FailsOnce(Counted):
    """Raises in its first fit ever."""

    def fit(self, X, y):
        mark = Path(self.log)
        if not mark.exists():
            mark.touch()
            raise RuntimeError("only once")
        return Majority.fit(self, X, y)


class KilledOnce(Counted):
    """Kills its own process with SIGKILL in its first fit ever (as someone outside might)."""

    def fit(self, X, y):
        mark = Path(self.log)
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Majority.fit(self, X, y)


class Waits(Counted):
    """Writes its process id to the log in every fit, then naps."""

    def fit(self, X, y):
        with Path(self.log).open("a") as log:
            log.write(f"{os.getpid()}\n")
        time.sleep(self.nap)
        return Majority.fit(self, X, y)


class Mended(Counted):
    """Does what the environment says, which is none of its settings."""

    def fit(self, X, y):
        super().fit(X, y)
        how = os.environ.get("HOW", "")
        if how == "kill":
            os.kill(os.getpid(), 9)
        if how == "memory":
            raise MemoryError
        if how == "missing":
            import package_that_comes_later  # noqa: F401
        if how == "raise":
            raise RuntimeError("worn")
        if how == "hang":
            time.sleep(600.0)
        return self


FIRST_ROW = np.random.default_rng(3).normal(size=(40, 3))[0]
"""The first row of the data in test_failures.py."""


class KilledInFirstFold(Counted):
    """Is killed whenever it meets the first of the rows among those that train it."""

    def fit(self, X, y):
        super().fit(X, y)
        if (X == FIRST_ROW).all(axis=1).any():
            os.kill(os.getpid(), 9)
        return self


class HangsLater(Counted):
    """Fits once, and hangs from then on."""

    def fit(self, X, y):
        begun = Path(self.log).exists()
        super().fit(X, y)
        time.sleep(60.0 if begun else 0.0)
        return self


class StartsThread(Majority):
    """Starts a thread as soon as it arrives in another process, as some packages do."""

    def __setstate__(self, state):
        super().__setstate__(state)
        threading.Thread(target=threading.Event().wait, daemon=True).start()


class TellsThreads(Majority):
    """Raises, to tell how many threads the libraries of its process may use."""

    def fit(self, X, y):
        from threadpoolctl import threadpool_info

        raise RuntimeError(f"threads {sorted({lib['num_threads'] for lib in threadpool_info()})}")


class TellsThreadsOfNumbers(RegressorMixin, TellsThreads):
    """Tells the same where numbers are predicted."""


class WritesOnData(Majority):
    """Overwrites what it is given."""

    def fit(self, X, y):
        super().fit(X, y)
        X[:] = 0.0
        y[:] = y[0]
        return self

    def predict(self, X):
        X[:] = 0.0
        return super().predict(X)


class UnloadableError(Exception):
    """Can be pickled, but not loaded."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class RaisesUnloadable(Majority):
    def fit(self, X, y):
        raise UnloadableError("this", "that")


class InterruptsItself(Majority):
    def fit(self, X, y):
        raise KeyboardInterrupt


class LacksPackage(Majority):
    """Needs a package that is there as soon as the folder in the environment holds it."""

    def fit(self, X, y):
        import package_that_is_not_there  # noqa: F401

        return super().fit(X, y)


class ClosesOutput(Majority):
    def fit(self, X, y):
        sys.stdout.close()
        os.close(1)
        return super().fit(X, y)


class ChangesProcess(Majority):
    """Changes the working folder and the environment, and tells nobody."""

    def fit(self, X, y):
        os.chdir("/")
        os.environ["BESTOFK_STRANGE"] = "1"
        os.environ.pop("PATH", None)
        return super().fit(X, y)


class NoticesChanges(Majority):
    """Raises where another learner has left its traces."""

    def fit(self, X, y):
        if Path.cwd() == Path("/"):
            raise RuntimeError("another working folder")
        if "BESTOFK_STRANGE" in os.environ or "PATH" not in os.environ:
            raise RuntimeError("another environment")
        print("printing works")
        os.fstat(1)
        return super().fit(X, y)


class HeavyModel(Majority):
    """A fitted model that cannot be pickled."""

    def fit(self, X, y):
        self.lock_ = threading.Lock()
        return super().fit(X, y)


class StartsProcess(Majority):
    """Starts a process, logs it, and hangs."""

    def __init__(self, log="", nap=600.0):
        self.log = log
        self.nap = nap

    def fit(self, X, y):
        child = subprocess.Popen(["sleep", "600"])
        with Path(self.log).open("a") as log:
            log.write(f"{child.pid}\n")
        time.sleep(self.nap)
        return super().fit(X, y)


class LockedLoss:
    """A loss that cannot be pickled."""

    __name__ = "locked"

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, true, predicted):
        return float(np.mean(true != predicted))


class StopsItself(Majority):
    """Stops its own process, as SIGSTOP from outside would."""

    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGSTOP)
        return super().fit(X, y)
