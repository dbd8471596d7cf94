"""Kill process groups as soon as the process that started this one is gone.

Executed as a script, without bestofk: ``python reaper.py PARENT``. Each line of stdin adds a group
("+123") or removes it ("-123"), or names a folder of the parent ("=/tmp/x"). The groups are killed
at the end of stdin, or when the process PARENT is no longer the parent, and the folder is removed.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from shutil import rmtree

GRACE_SECONDS = 0.2
"""Time that processes have to end by themselves before they are killed."""


def main() -> None:
    """Wait for the end of the parent."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    parent, groups, unread, folder = int(sys.argv[1]), set[int](), b"", b""
    while os.getppid() == parent:
        # forks of the parent may keep the pipe open after its end
        if not select.select([0], [], [], 0.2)[0]:
            continue
        received = os.read(0, 1 << 16)
        if not received:
            break
        *lines, unread = (unread + received).split(b"\n")
        for line in lines:
            if line[:1] == b"=":
                folder = line[1:]
            else:
                (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))
    for number in (signal.SIGTERM, signal.SIGCONT, signal.SIGKILL):
        if number == signal.SIGKILL and groups:
            # trackers of shared memory remove it meanwhile
            time.sleep(GRACE_SECONDS)
        for group in groups:
            with contextlib.suppress(OSError):
                try:
                    os.killpg(group, number)
                except ProcessLookupError:
                    # a process that is still starting leads no group
                    os.kill(group, number)
    rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
