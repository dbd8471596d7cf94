"""Stand in for ``python``: forks of a process that has imported everything heavy.

Started with a socket, this script forks itself for every command line that comes in. The fork has
the streams, folder and environment that were asked for, runs the ``-m module`` or ``-c code`` at
the top level, and ends as any interpreter ends. What is imported *before* a command does its work
is tested in interpreters that are started anew, as is what depends on the seed of hashes.
"""

import gc
import io
import json
import os
import pickle
import runpy
import signal
import socket
import sys
import types
from importlib import import_module

HEAVY = (
    "pandas", "pyarrow", "scipy.stats", "sklearn.dummy", "sklearn.linear_model", "sklearn.tree",
    "sqlalchemy", "bestofk.cli.compare", "bestofk.lab", "bestofk.run.compare",
    "bestofk.run.store.cells",
)  # fmt: skip
"""What nearly every command imports."""


def loaded():
    """Import it."""
    for name in HEAVY:
        import_module(name)
    # a command chooses its kernels by the environment that it gets
    assert not import_module("bestofk.learners.kernels.library").library.cache_info().currsize
    gc.collect()
    gc.freeze()


def requests(server):
    """Go on in a fork for every request, with what it asked for; report its pid and its end."""
    while True:
        asked, files, *_ = socket.recv_fds(server, 1 << 20, 4)
        if not asked:
            os._exit(0)
        if os.fork():
            for file in files:
                os.close(file)
            os.wait3(os.WNOHANG)
            continue
        command = os.fork()
        if not command:
            server.close()
            return pickle.loads(asked), files
        for file in files[:3]:
            os.close(file)
        os.write(files[3], json.dumps(command).encode() + b"\n")
        os.write(files[3], json.dumps(os.waitpid(command, 0)[1]).encode() + b"\n")
        os._exit(0)


def become(asked, files):
    """Streams, folder, environment, signals and path as a new interpreter has them."""
    for wanted, file in enumerate(files[:3]):
        os.dup2(file, wanted)
    os.closerange(3, 256)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    for name in asked["ignored"]:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    how, _, errors = os.environ.get("PYTHONIOENCODING", "utf-8").partition(":")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        raw = open(number, "wb" if number else "rb")  # noqa: PTH123, SIM115
        wrong = "backslashreplace" if number == 2 else errors or "strict"
        stream = io.TextIOWrapper(raw, how, wrong, line_buffering=number == 2)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = ["", *(part for part in path if part), *sys.path[1:]]


if __name__ == "__main__":
    loaded()
    asked, files = requests(socket.socket(fileno=int(sys.argv[1])))
    become(asked, files)
    kind, what, *rest = asked["words"]
    sys.argv = [kind, *rest]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(what, "<string>", "exec"), vars(sys.modules["__main__"]))
