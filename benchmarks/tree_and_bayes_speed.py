"""Measure C4.5 and naive Bayes on null data (300 rows, 10 binary columns) in stratified 10x10.

Peers: scikit-learn's DecisionTreeClassifier, BernoulliNB, CategoricalNB and, for numeric columns,
GaussianNB; bare fit and predict on arrays that were sliced before. If BESTOFK_WEKA_JAR names a
weka.jar (java on the path; the source archive of python-weka-wrapper3 on PyPI has one), Weka's J48
as well, after its compiler has warmed up.

All sides are CPU seconds of one thread for the same 100 splits of each data set, the best of
several rounds.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np

from bestofk.data.schema import Encoded
from bestofk.learners.c45 import C45
from bestofk.learners.naive_bayes import NaiveBayes
from bestofk.splits import Splits, plan
from timing import Row, best

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
    """Draw class and columns at random, each column with its own share of ones."""
    sets = []
    for seed in range(SETS):
        rng = np.random.default_rng(seed)
        values = (rng.random((ROWS, COLUMNS)) < rng.random(COLUMNS)).astype(float)
        y = (rng.random(ROWS) < 0.5).astype(np.int64)
        encoded = Encoded(values=values, cardinality=np.full(COLUMNS, 2), y=y, classes=np.arange(2))
        sets.append((encoded, plan("10x10", random_state=seed).materialise(ROWS, y)))
    return sets


def sliced(sets: list[tuple[Encoded, Splits]], dtype: Any) -> list[tuple[np.ndarray, ...]]:
    """Return training rows, their classes and test rows of every split."""
    return [
        (data.values[train].astype(dtype), data.y[train], data.values[test].astype(dtype))
        for data, splits in sets
        for _, _, train, test in splits
    ]


def bare_fits(make: Any, parts: list[tuple[np.ndarray, ...]]) -> None:
    """Fit and predict every split."""
    for train, labels, test in parts:
        make().fit(train, labels).predict(test)


def trees() -> Iterator[Row]:
    from sklearn.tree import DecisionTreeClassifier

    sets = null_sets()
    model = C45()
    ours = best(
        lambda: [model._predict_plan(data, splits) for data, splits in sets],
        times=30,
        clock=thread_time,
    )
    parts = sliced(sets, np.float32)
    sklearn = best(lambda: bare_fits(DecisionTreeClassifier, parts), times=3, clock=thread_time)
    yield "c4.5-vs-sklearn", sklearn / ours, ours, sklearn
    jar = os.environ.get("BESTOFK_WEKA_JAR")
    if jar:
        weka, wrong = _weka_trees(jar, sets)
        assert wrong == _errors(model, sets), "the trees differ"
        yield "c4.5-vs-weka", weka / ours, ours, weka


def _errors(model: C45, sets: list[tuple[Encoded, Splits]]) -> int:
    wrong = 0
    for data, splits in sets:
        for (_, _, _, test), codes in zip(splits, model._predict_plan(data, splits), strict=True):
            wrong += int((codes != data.y[test]).sum())
    return wrong


def _weka_trees(jar: str, sets: list[tuple[Encoded, Splits]]) -> tuple[float, int]:
    """Return the CPU seconds of J48 for all splits, and its number of errors."""
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


def naive_bayes() -> Iterator[Row]:
    from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

    nominal = null_sets()
    numeric = [(_numeric(data, seed), splits) for seed, (data, splits) in enumerate(nominal)]
    for name, sets, make, dtype in (
        ("naive-bayes-vs-bernoulli", nominal, BernoulliNB, np.float64),
        ("naive-bayes-vs-categorical", nominal, lambda: CategoricalNB(min_categories=2), np.int64),
        ("naive-bayes-vs-gaussian", numeric, GaussianNB, np.float64),
    ):
        ours = best(
            lambda sets=sets: [NaiveBayes()._predict_plan(data, splits) for data, splits in sets],
            times=20,
            clock=thread_time,
        )
        parts = sliced(sets, dtype)
        theirs = best(
            lambda make=make, parts=parts: bare_fits(make, parts), times=2, clock=thread_time
        )
        yield name, theirs / ours, ours, theirs


def _numeric(data: Encoded, seed: int) -> Encoded:
    rng = np.random.default_rng(1000 + seed)
    return Encoded(
        values=rng.normal(size=(ROWS, COLUMNS)),
        cardinality=np.zeros(COLUMNS, dtype=np.int64),
        y=data.y,
        classes=data.classes,
    )


def measure() -> Iterator[Row]:
    yield from trees()
    yield from naive_bayes()
