"""Signals and lines as a terminal has them, however the tests were started."""

import contextlib
import os
import signal


def pytest_configure():
    # some runners export their width; lines in a pipe are as long as they are
    os.environ.pop("COLUMNS", None)
    # what is started in the background, or by nohup, has them ignored, and so would its children
    with contextlib.suppress(AttributeError, ValueError):
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
