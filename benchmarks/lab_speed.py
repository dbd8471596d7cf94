"""Measure the lab: naive Bayes against C4.5 in stratified 10x10 on 300 x 10 binary rows.

Peers: scikit-learn's `cross_val_score` with BernoulliNB and DecisionTreeClassifier and, if
BESTOFK_WEKA_JAR names a weka.jar (java on the path), Weka's `Evaluation.crossValidateModel` with
NaiveBayes and J48 after its compiler has warmed up. CPU seconds for 1,000 data sets, scaled from as
many data sets as each side needs; bestofk also draws the data sets and the splits.

Further rows: the tests against the fits, and two processes against one (wall time; two idle cores
are needed).
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from bestofk.papers import lab
from bestofk.papers.stats.repeated_kfold import VARIANTS
from timing import Row

SETS = 1000
OURS, SKLEARN, WEKA, PROCESSES = 200, 2, 20, 10_000
"""Data sets of each side."""
ENGINE = "processes"

JAVA = """
import java.lang.management.*;
import java.util.*;
import weka.classifiers.*;
import weka.classifiers.bayes.NaiveBayes;
import weka.classifiers.trees.J48;
import weka.core.*;

public class Lab {
  public static void main(String[] args) throws Exception {
    int sets = Integer.parseInt(args[0]);
    Random random = new Random(1);
    ArrayList<Attribute> attributes = new ArrayList<>();
    for (int a = 0; a <= 10; a++) attributes.add(new Attribute("a" + a, Arrays.asList("0", "1")));
    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    long best = Long.MAX_VALUE;
    for (int round = 0; round < 4; round++) {
      long total = 0;
      for (int s = 0; s < sets; s++) {
        Instances data = new Instances("null", attributes, 300);
        data.setClassIndex(10);
        double[] p = new double[11];
        for (int a = 0; a < 10; a++) p[a] = random.nextDouble();
        p[10] = 0.5;
        for (int i = 0; i < 300; i++) {
          double[] row = new double[11];
          for (int a = 0; a <= 10; a++) row[a] = random.nextDouble() < p[a] ? 1 : 0;
          data.add(new DenseInstance(1.0, row));
        }
        long start = clock.getCurrentThreadCpuTime();
        for (int run = 0; run < 10; run++)
          for (Classifier learner : new Classifier[] {new NaiveBayes(), new J48()})
            new Evaluation(data).crossValidateModel(learner, data, 10, new Random(run));
        total += clock.getCurrentThreadCpuTime() - start;
      }
      best = Math.min(best, total);
    }
    System.out.println(best * 1e-9);
  }
}
"""


def ours() -> float:
    lab.simulate(sets=3, n_jobs=1)
    begin = process_time()
    lab.simulate(sets=OURS, random_state=1, n_jobs=1, engine="serial")
    return (process_time() - begin) * SETS / OURS


def sklearn() -> float:
    from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    begin = 0.0
    for one in range(SKLEARN + 1):
        X = (rng.random((300, 10)) < rng.random(10)).astype(float)
        y = rng.random(300) < 0.5
        if one == 1:  # the first one warms up
            begin = process_time()
        for learner in (BernoulliNB(), DecisionTreeClassifier(random_state=0)):
            folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=one)
            cross_val_score(learner, X, y, cv=folds)
    return (process_time() - begin) * SETS / SKLEARN


def weka(jar: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "Lab.java")
        source.write_text(JAVA, encoding="utf-8")
        classpath = os.pathsep.join(str(path) for path in Path(jar).parent.glob("*.jar"))
        done = subprocess.run(
            ["java", "-cp", classpath, str(source), str(WEKA)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    return float(done.stdout) * SETS / WEKA


def statistics() -> float:
    """Calibrate all eleven tests of 10x10 losses on 1,000 data sets; return seconds per test."""
    simulation = lab.simulate(problem="normal(cv='10x10')", sets=SETS)
    tests = (*VARIANTS, "corrected-repeated-kfold-t")
    lab.calibrate(simulation=simulation)
    begin = process_time()
    for test in tests:
        lab.calibrate(test, simulation=simulation)
    return (process_time() - begin) / len(tests)


def two_processes() -> tuple[float, float]:
    """Return the wall seconds of one and of two workers, start-up included."""
    seconds = []
    for jobs in (1, 2):
        begin = perf_counter()
        lab.simulate(sets=PROCESSES, random_state=1, n_jobs=jobs, engine=ENGINE)
        seconds.append(perf_counter() - begin)
    return seconds[0], seconds[1]


def measure() -> list[Row]:
    fits = ours()
    peer = sklearn()
    rows = [("lab-vs-cross-val-score", peer / fits, fits, peer)]
    jar = os.environ.get("BESTOFK_WEKA_JAR")
    if jar:
        peer = weka(jar)
        rows.append(("lab-vs-weka-evaluation", peer / fits, fits, peer))
    test = statistics()
    rows.append(("lab-statistics-vs-fits", fits / test, test, fits))
    one, two = two_processes()
    rows.append(("lab-two-processes", one / two, two, one))
    return rows
