"""Run Python commands in forks of a process that has imported the heavy packages.

A command that needs scikit-learn then starts in a tenth of a second instead of two seconds. Use it
to test what a command does. To test what a command imports, or anything that depends on the hash
seed, start a new interpreter.

Executed as a script, this module is the server.
"""

import contextlib
import gc
import io
import json
import os
import pickle
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import types
from importlib import import_module
from pathlib import Path

PRELOADED = (
    "pandas", "pyarrow", "scipy.stats", "sklearn.dummy", "sklearn.linear_model", "sklearn.tree",
    "sqlalchemy", "bestofk.cli.compare", "bestofk.papers.lab", "bestofk.run.compare",
    "bestofk.run.store.store",
)  # fmt: skip
"""Modules that nearly every command imports."""


class Process:
    """A running command, with the part of the interface of `subprocess.Popen` that tests use."""

    def __init__(self, pid, status_pipe, streams=(None, None, None)):
        self.pid = pid
        self.stdin, self.stdout, self.stderr = streams
        self.returncode = None
        self._status_pipe = status_pipe

    def poll(self):
        """Return the exit code, or None while the command runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout=None):
        """Wait for the end of the command and return its exit code."""
        if self.returncode is None:
            if not select.select([self._status_pipe], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            self.returncode = os.waitstatus_to_exitcode(int(self._status_pipe.readline()))
            self._status_pipe.close()
        return self.returncode

    def send_signal(self, number):
        """Send a signal if the command has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        """Kill the command."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Close the pipes and wait for the end of the command."""
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()


class ForkServer:
    """Start commands; the words of a command are the arguments of ``python``: -m or -c first."""

    def __init__(self):
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()]
            )

    def close(self):
        """End the server."""
        self._socket.close()
        self._server.wait()

    def start(self, words, *, cwd=None, env=None, ignored_signals=()):
        """Start a command, with pipes of text to its standard streams."""
        child_in, stdin = os.pipe()
        stdout, child_out = os.pipe()
        stderr, child_err = os.pipe()
        streams = (os.fdopen(stdin, "w"), os.fdopen(stdout), os.fdopen(stderr))
        files = [child_in, child_out, child_err]
        try:
            return self._fork(words, files, streams, cwd, env, ignored_signals)
        finally:
            for file in files:
                os.close(file)

    def run(self, words, *, cwd=None, env=None, timeout=600, encoding="utf-8"):
        """Run a command to its end and return a `subprocess.CompletedProcess` with its output."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            with Path(os.devnull).open() as nothing:
                files = [nothing.fileno(), out.fileno(), err.fileno()]
                process = self._fork(words, files, (None, None, None), cwd, env, ())
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            output = []
            for file in (out, err):
                file.seek(0)
                output.append(file.read().decode(encoding))
        return subprocess.CompletedProcess(words, code, *output)

    def _fork(self, words, files, streams, cwd, env, ignored_signals):
        request = {
            "words": [str(word) for word in words],
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
            "ignored_signals": [int(number) for number in ignored_signals],
        }
        status, child_status = os.pipe()
        socket.send_fds(self._socket, [pickle.dumps(request)], [*files, child_status])
        os.close(child_status)
        status_pipe = os.fdopen(status)
        return Process(int(status_pipe.readline()), status_pipe, streams)


class NewInterpreters:
    """Replace `ForkServer` on platforms other than Linux: start a new interpreter every time."""

    def close(self):
        """Do nothing: there is no server."""

    def start(self, words, *, ignored_signals=(), **options):
        def ignore():
            for number in ignored_signals:
                signal.signal(number, signal.SIG_IGN)

        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        before = {"preexec_fn": ignore} if ignored_signals else {}
        command = [sys.executable, *map(str, words)]
        return subprocess.Popen(command, text=True, **pipes, **before, **options)

    def run(self, words, *, timeout=600, encoding="utf-8", **options):
        command = [sys.executable, *map(str, words)]
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, encoding=encoding,
            timeout=timeout, check=False, **options,
        )  # fmt: skip


def serve(server):
    """Fork for every request: report the pid and the exit status, and return in the fork."""
    while True:
        request, files, *_ = socket.recv_fds(server, 1 << 20, 4)
        if not request:
            os._exit(0)
        if os.fork():
            for file in files:
                os.close(file)
            os.wait3(os.WNOHANG)
            continue
        command = os.fork()
        if not command:
            server.close()
            return pickle.loads(request), files
        for file in files[:3]:
            os.close(file)
        os.write(files[3], json.dumps(command).encode() + b"\n")
        os.write(files[3], json.dumps(os.waitpid(command, 0)[1]).encode() + b"\n")
        os._exit(0)


def prepare(request, files):
    """Set streams, folder, environment, signals and path as a new interpreter has them."""
    for target, file in enumerate(files[:3]):
        os.dup2(file, target)
    os.closerange(3, 256)
    start = Path.cwd()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for number in request["ignored_signals"]:
        signal.signal(number, signal.SIG_IGN)
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "utf-8").partition(":")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        raw = open(number, "wb" if number else "rb")  # noqa: PTH123, SIM115
        handler = "backslashreplace" if name == "stderr" else errors or "strict"
        stream = io.TextIOWrapper(raw, encoding, handler, line_buffering=name == "stderr")
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = ["", *(str(start / folder) for folder in folders if folder), *sys.path[1:]]


def main():
    """Import the heavy packages, wait for requests, and execute each one in a fork."""
    for name in PRELOADED:
        import_module(name)
    # a command chooses its kernels by its own environment
    assert not import_module("bestofk.learners.kernels.library").library.cache_info().currsize
    gc.collect()
    gc.freeze()
    request, files = serve(socket.socket(fileno=int(sys.argv[1])))
    prepare(request, files)
    option, program, *arguments = request["words"]
    sys.argv = [option, *arguments]
    if option == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(program, "<string>", "exec"), vars(sys.modules["__main__"]))


if __name__ == "__main__":
    main()
