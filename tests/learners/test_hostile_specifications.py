"""Untrusted specifications run no code except that which creates learners.

The audit hook of Python (PEP 578) reports what a process does; it sees programs started, files
opened, sockets, code executed and modules imported, whoever asks for them.
"""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import bestofk
from bestofk._base.errors import BestOfKError
from bestofk.learners import parse_learner
from bestofk.learners.specification import Call, parse_call

TRACE = "trace-of-the-attack"
HOSTILE = (
    f"os:system(command='touch {TRACE}')",
    f"x=os:system(command='touch {TRACE}')",
    f"os:popen(cmd='touch {TRACE}')",
    f"os:mkdir(path='{TRACE}')",
    f"os:execv(path='/bin/touch', argv=['touch', '{TRACE}'])",
    "os:_exit(status=3)",
    f"subprocess:run(args=['touch', '{TRACE}'])",
    f"subprocess:Popen(args=['touch', '{TRACE}'])",
    f"pty:spawn(argv=['touch', '{TRACE}'])",
    f'timeit:timeit(stmt=\'open("{TRACE}", "w")\', number=1)',
    f'builtins:exec(source=\'open("{TRACE}", "w")\')',
    f'builtins:eval(source=\'open("{TRACE}", "w")\')',
    f"builtins:open(file='{TRACE}', mode='w')",
    "builtins:__import__(name='antigravity')",
    "importlib:import_module(name='planted')",
    "runpy:run_path(path_name='planted.py')",
    "antigravity:fly",
    "__main__:run",
    "pip.__main__:main",
    "sys:exit(1)",
    "pickle:loads(data=b\"cos\\nsystem\\n(S'touch trace-of-the-attack'\\ntR.\")",
    "ctypes:CDLL(name='libc.so.6')",
    f"pathlib:Path('{TRACE}')",
    "tempfile:NamedTemporaryFile(dir='.', delete=False)",
    "shutil:rmtree(path='.')",
    f"sqlite3:connect(database='{TRACE}')",
    "socket:create_connection(address=('127.0.0.1', 9))",
    "urllib.request:urlopen(url='http://127.0.0.1:9/')",
    "multiprocessing:Process(target=os:system)",
    "functools:partial(os:system, 'touch trace-of-the-attack')",
    "operator:methodcaller('system')",
    "planted:Learner",
    "planted:run",
    "numpy:load(file='x.npy', allow_pickle=True)",
    "numpy:memmap(filename='trace-of-the-attack', mode='w+', shape=3)",
    "pandas:read_pickle(filepath_or_buffer='x')",
    f"pandas:ExcelWriter(path='{TRACE}.xlsx')",
    "pandas:eval(expr='1')",
    "joblib:load(filename='x')",
    "joblib:Memory(location='.')",
    "cloudpickle:loads(data=b'x')",
    "sklearn.datasets:fetch_openml(name='iris')",
    f"click:File(filename='{TRACE}', mode='w')",
    f"nmc(scale=os:system(command='touch {TRACE}'))",
    f"sklearn.svm:SVC(C=subprocess:Popen(args=['touch', '{TRACE}']))",
    f"sklearn.pipeline:make_pipeline(pathlib:Path('{TRACE}'), sklearn.svm:SVC())",
    f"sklearn.pipeline:make_pipeline(memory=joblib:Memory(location='{TRACE}'))",
    "sklearn.preprocessing:FunctionTransformer(func=os:system)",
    "sklearn.pipeline:make_pipeline(sklearn.preprocessing:FunctionTransformer(func=numpy:load))",
    "sklearn.ensemble:BaggingClassifier(estimator=planted:Learner())",
    "sklearn.svm:SVC.__init__",
    "sklearn.svm:SVC().fit.__globals__",
    "sklearn.svm:__builtins__",
    "sklearn.svm:SVC.__class__.__bases__",
    f"nmc(scale=open('{TRACE}', 'w'))",
    f"nmc(scale=__import__('os').system('touch {TRACE}'))",
    f"nmc(scale=(lambda: open('{TRACE}', 'w'))())",
    f"nmc(scale=[open('{TRACE}', 'w') for _ in 'a'])",
    f"nmc(scale=f\"{{open('{TRACE}', 'w')}}\")",
    "nmc(scale='a'.__class__)",
    "nmc(scale=(x := 3))",
    f"nmc(**{{'scale': open('{TRACE}', 'w')}})",
    f"nmc(*[open('{TRACE}', 'w')])",
    f"nmc(scale='std') or open('{TRACE}', 'w')",
    f"nmc()); open('{TRACE}', 'w'",
)
WATCHER = """
import json, os, sys
texts = json.loads(sys.stdin.read())
import joblib, numpy, pandas, scipy, cloudpickle, click, difflib, warnings, importlib.util
import sklearn.svm, sklearn.pipeline, sklearn.preprocessing, sklearn.ensemble, sklearn.datasets
import sklearn.utils, bestofk.learners.class_names, bestofk._base.synonyms
import pandas.io.pytables
from bestofk.learners import parse_learner
from bestofk._base.errors import BestOfKError
parse_learner("nmc"), parse_learner("sklearn.svm:SVC(C=1)")
seen, current, left = [], "", []
SPELLED = ("os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
    "subprocess.Popen", "pty.spawn", "exec", "ctypes.dlopen", "pickle.find_class", "os.mkdir",
    "os.remove", "os.rename", "os.rmdir", "webbrowser.open", "urllib.Request", "sqlite3.connect",
    "tempfile.mkstemp", "tempfile.mkdtemp", "shutil.copyfile", "shutil.rmtree", "code.__new__",
    "builtins.input", "sys.settrace", "import")
def hook(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) if isinstance(flags, int) else 0
        if writes or (isinstance(mode, str) and set(mode) & set("wax+")):
            seen.append((current, event, str(path)))
    elif event in SPELLED or event.startswith("socket."):
        seen.append((current, event, str(arguments[0])[:200]))
sys.addaudithook(hook)
made = []
for part in texts:
    for current in part:
        try:
            parse_learner(current)
            made.append(current)
        except BestOfKError as error:
            if len(str(error).splitlines()) > 1 or "Traceback" in str(error):
                seen.append((current, "said", str(error)))
    left.append(os.listdir("."))
current = "after"
result = json.dumps({"seen": seen, "made": made, "left": left})
print(result)
"""


OPENLY = ("./planted.py:Learner", "sklearn.cluster:KMeans()")


@pytest.fixture(scope="module")
def watched(planted):
    """Return the events of the audit hook while texts were parsed, and which created something.

    First the hostile ones, then some that ask openly; after each part, the files in the folder.
    """
    where = str(Path(bestofk.__file__).parents[1])
    ran = subprocess.run(
        # isolated from the environment, with the working folder first on the path as in `-c`
        [sys.executable, "-c", WATCHER],
        input=json.dumps([HOSTILE, OPENLY]),
        cwd=planted,
        env={**os.environ, "PYTHONPATH": where, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Create a folder with a module that acts when it is imported."""
    tmp_path = tmp_path_factory.mktemp("planted")
    (tmp_path / "planted.py").write_text(
        f"open({str(tmp_path / TRACE)!r}, 'w')\n"
        "class Learner:\n    def fit(self): ...\n    def predict(self): ...\n"
        "def run(): ...\n"
    )
    return tmp_path


def test_hostile_specifications_run_nothing(watched) -> None:
    assert len(set(HOSTILE)) >= 60
    assert [event for event in watched["seen"] if event[0] not in OPENLY] == []
    assert set(watched["made"]) <= set(OPENLY)
    assert watched["left"][0] == ["planted.py"]


def test_the_watcher_sees(watched, planted) -> None:
    """The check above can fail: it sees openly requested imports."""
    events = {event for _, event, _ in watched["seen"]}
    assert {"open", "exec", "import"} <= events
    assert (planted / TRACE).exists()


words = st.sampled_from(
    ["nmc", "os:system", "sklearn.svm:SVC", "a=", "(", ")", "[", "]", "{", "}", ",", ":", "=", "'",
     '"', "C", "1", "-", "None", "\\", "\n", "\0", "**", "*", " ", ".", "f'", "\ud800", "é", "1e9"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=60), st.lists(words, max_size=14).map("".join)))
def test_any_text_is_a_learner_or_one_sentence(text: str) -> None:
    with contextlib.suppress(BestOfKError):  # and nothing else is raised
        name, estimator = parse_learner(text)
        assert name
        assert hasattr(estimator, "fit")


literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8) | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["a", "b", "C", "max"]), literals, max_size=3), literals)
def test_what_is_written_as_literals_is_read_back(values, argument) -> None:
    inner = f"pkg.mod:Inner({', '.join(f'{name}={value!r}' for name, value in values.items())})"
    text = f"x.y:outer({argument!r}, part=[{inner}])"
    call = parse_call(text, "learner", is_name=["max", "c4.5"].__contains__)
    assert call == Call("x.y:outer", (argument,), {"part": [Call("pkg.mod:Inner", (), values)]})


@pytest.mark.parametrize(
    "text",
    [
        "nmc(scale=" + "[" * 5000 + "]" * 5000 + ")",
        "nmc(scale=" + "[" * 300 + "]" * 300 + ")",
        "nmc(scale=" + "1" * 5000 + ")",
        "nmc(scale=" + "-" * 4000 + "1)",
        "nmc(scale=" + "- " * 4000 + "1)",
        "nmc(scale=" + "not " * 2000 + "1)",
        "nmc(scale=" + "1+" * 4000 + "1)",
        "nmc(scale=" + "1**" * 3000 + "1)",
        "nmc(scale=" + "a." * 4000 + "b)",
        "nmc(scale=" + "sklearn.svm:SVC(C=" * 200 + "1" + ")" * 200 + ")",
        "nmc" + " " * 200_000 + "x",
        "a" * 9_000 + ":" + "b" * 500,
        "=" * 9_000,
        "nmc(" + "'" * 9_001 + ")",
    ],
    ids=lambda text: text[:14],
)
def test_long_and_deep_texts_are_refused(text: str) -> None:
    with pytest.raises(BestOfKError) as caught:
        parse_learner(text)
    assert len(str(caught.value)) < 1500
