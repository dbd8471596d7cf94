"""Every thread catches its own warnings, and global state is restored."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

from bestofk.run.process_state import caught_warnings, warnings_by_thread


def test_threads_catch_their_own_warnings():
    together = threading.Barrier(4, timeout=10)

    def give(number):
        together.wait()
        with caught_warnings() as outer:
            for _ in range(200):
                warnings.warn(f"of {number}", stacklevel=1)
            with caught_warnings() as inner:
                warnings.warn("inside", stacklevel=1)
        return [str(w.message) for w in outer], [str(w.message) for w in inner]

    with warnings_by_thread(), ThreadPoolExecutor(4) as pool:
        results = list(pool.map(give, range(4)))
    assert results == [([f"of {number}"] * 200, ["inside"]) for number in range(4)]


def test_a_thread_that_catches_none_shows_its_warnings_as_before():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with warnings_by_thread():
            warnings.warn("seen", stacklevel=1)
        warnings.warn("after", stacklevel=1)
    assert [str(w.message) for w in seen] == ["seen", "after"]


def test_overlapping_runs_restore_the_original_settings():
    filters, show = list(warnings.filters), warnings.showwarning
    first, second = warnings_by_thread(), warnings_by_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    with caught_warnings() as caught:
        warnings.warn("still caught", stacklevel=1)
    second.__exit__(None, None, None)
    assert len(caught) == 1
    assert warnings.filters == filters
    assert warnings.showwarning is show
