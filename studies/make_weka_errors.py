"""Create the data sets of ``tests/learners/weka`` and compute the errors of Weka on them.

Run as ``python studies/make_weka_errors.py WEKA_JAR`` with a JDK and weka.jar 3.8 or 3.9.
It writes ``sets.json`` (data sets drawn from seeds, and tiny literal ones), ``counts.json``
(Weka's errors by set, learner, run and fold) and, when BESTOFK_DATA names the folder with the
papers' data sets, ``counts_papers.json`` for those. Weka itself is not kept.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parents[1] / "tests" / "learners" / "weka"
RUNS, FOLDS = 2, 10
LARGEST = 2500


def keys(n, run):
    """Return a 64-bit key per row (splitmix64), whose order is a shuffle stable in all versions."""
    with np.errstate(over="ignore"):
        z = (np.arange(n, dtype=np.uint64) + np.uint64(1 + 1_000_003 * run)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def fold_of(y, run, folds=FOLDS):
    """Stratified folds: rows shuffled, grouped by class, dealt in turn."""
    dealt = np.lexsort((keys(len(y), run), y))
    fold = np.empty(len(y), dtype=np.int64)
    fold[dealt] = np.arange(len(y)) % folds
    return fold


def data_set(kind, cardinality, cells, y, n_classes):
    """A set as plain lists; nominal cells are codes, None is missing."""
    rows = [
        [
            None if np.isnan(c) else int(c) if v else float(c)
            for c, v in zip(row, cardinality, strict=True)
        ]
        for row in np.asarray(cells, dtype=float)
    ]
    return {
        "kind": kind,
        "cardinality": [int(v) for v in cardinality],
        "n_classes": int(n_classes),
        "rows": rows,
        "y": [int(c) for c in y],
        "fold_of": [
            fold_of(np.asarray(y), run, min(FOLDS, len(y))).tolist() for run in range(RUNS)
        ],
    }


def holes(rng, cells, share):
    """The cells with a share of them missing."""
    cells = cells.astype(float)
    cells[rng.random(cells.shape) < share] = np.nan
    return cells


def nominal_cells(rng, n, cardinality):
    """Nominal cells whose values have random shares; one of many values is never held."""
    columns = []
    for v in cardinality:
        share = rng.dirichlet(np.ones(v))
        if v > 3:
            share[rng.integers(v)] = 0.0
            share /= share.sum()
        columns.append(rng.choice(v, size=n, p=share))
    return np.column_stack(columns).astype(float)


def noisy(rng, y, share, n_classes):
    """Return the labels with a share of them redrawn."""
    return np.where(rng.random(len(y)) < share, rng.integers(n_classes, size=len(y)), y)


def drawn_sets():
    """The sets drawn from seeds, by name."""
    sets = {}

    rng = np.random.default_rng(1)
    for name, n, d, p in (("null-fair", 300, 10, 0.5), ("null-third", 300, 10, 0.35)):
        cells = (rng.random((n, d)) < rng.random(d)).astype(float)
        sets[name] = data_set("binary", [2] * d, cells, rng.random(n) < p, 2)
    cells = rng.integers(2, size=(240, 8)).astype(float)
    y = (cells[:, 0] != cells[:, 1]) | (cells[:, 2] * cells[:, 3] > 0)
    sets["binary-xor"] = data_set("binary", [2] * 8, cells, noisy(rng, y.astype(int), 0.15, 2), 2)
    cells = rng.integers(2, size=(60, 5)).astype(float)
    y = cells[:, 0] + cells[:, 1] + cells[:, 4]
    sets["binary-4-classes"] = data_set(
        "binary", [2] * 5, cells, noisy(rng, y.astype(int), 0.3, 4), 4
    )

    rng = np.random.default_rng(2)
    cardinality = [3, 2, 5, 4, 6, 2]
    cells = nominal_cells(rng, 260, cardinality)
    y = (cells[:, 0] + 2 * cells[:, 1] + (cells[:, 2] > 2)).astype(int) % 3
    sets["nominal-signal"] = data_set("nominal", cardinality, cells, noisy(rng, y, 0.2, 3), 3)
    cardinality = [3, 8, 3, 2, 5]
    cells = nominal_cells(rng, 200, cardinality)
    sets["nominal-null"] = data_set("nominal", cardinality, cells, rng.integers(2, size=200), 2)
    cardinality = [30, 40, 3, 2]
    cells = nominal_cells(rng, 90, cardinality)
    y = (cells[:, 2] > 0).astype(int)
    sets["nominal-many-values"] = data_set("nominal", cardinality, cells, noisy(rng, y, 0.3, 2), 2)
    cells = nominal_cells(rng, 80, [40, 50])
    sets["nominal-all-many"] = data_set(
        "nominal", [40, 50], cells, (cells[:, 0] < 9).astype(int), 2
    )
    cells = nominal_cells(rng, 150, [4, 3, 3, 7, 2, 2, 3])
    y = (cells[:, 0] > cells[:, 2]).astype(int) + (cells[:, 4] > 0)
    sets["nominal-3-classes"] = data_set(
        "nominal", [4, 3, 3, 7, 2, 2, 3], cells, noisy(rng, y, 0.1, 3), 3
    )

    rng = np.random.default_rng(3)
    y = rng.integers(3, size=210)
    cells = rng.normal(size=(210, 5)) + y[:, None] * np.array([0.9, 0.4, 0.0, -0.7, 0.1])
    sets["numeric-gauss"] = data_set("numeric", [0] * 5, cells.round(6), y, 3)
    y = rng.integers(2, size=250)
    cells = np.column_stack(
        [
            rng.poisson(4 + 2 * y),
            rng.integers(0, 5, size=250),
            (rng.normal(size=250) * 10 + 3 * y).round(),
            rng.exponential(size=250).round(1),
            np.full(250, 7.0),
        ]
    )
    sets["numeric-grid"] = data_set("numeric", [0] * 5, cells, y, 2)
    base = rng.integers(0, 40, size=(160, 3)) * 4e-6
    y = (base[:, 0] > 8e-5).astype(int)
    sets["numeric-close"] = data_set("numeric", [0] * 3, base, noisy(rng, y, 0.2, 2), 2)
    y = np.repeat(np.arange(6), [60, 40, 20, 10, 5, 2])
    cells = rng.normal(size=(137, 4)) * [1, 5, 1e-3, 1e4] + np.outer(y, [1, 2, 1e-3, 0])
    sets["numeric-rare-classes"] = data_set("numeric", [0] * 4, cells.round(5), y, 6)

    rng = np.random.default_rng(4)
    for name, n, classes in (("mixed-signal", 260, 3), ("mixed-null", 180, 2)):
        numbers = np.column_stack([rng.normal(size=n).round(2), rng.integers(0, 30, size=n)])
        cells = np.column_stack([numbers[:, :1], nominal_cells(rng, n, [4, 2]), numbers[:, 1:]])
        y = ((cells[:, 0] > 0) + (cells[:, 3] > 14) * cells[:, 2]).astype(int) % classes
        y = noisy(rng, y, 0.2 if name == "mixed-signal" else 1.0, classes)
        sets[name] = data_set("mixed", [0, 4, 2, 0], cells, y, classes)

    rng = np.random.default_rng(5)
    cells = nominal_cells(rng, 240, [3, 2, 5, 2])
    y = noisy(rng, (cells[:, 0] + cells[:, 1]).astype(int) % 3, 0.15, 3)
    sets["missing-nominal"] = data_set("missing", [3, 2, 5, 2], holes(rng, cells, 0.15), y, 3)
    y = rng.integers(2, size=220)
    cells = (rng.normal(size=(220, 4)) + y[:, None] * [1.0, 0.5, 0.0, -0.5]).round(2)
    sets["missing-numeric"] = data_set("missing", [0] * 4, holes(rng, cells, 0.2), y, 2)
    cells = np.column_stack([rng.normal(size=230).round(1), nominal_cells(rng, 230, [3, 4, 2])])
    y = noisy(rng, ((cells[:, 0] > 0) * 2 + cells[:, 3]).astype(int), 0.1, 4)
    sets["missing-mixed"] = data_set("missing", [0, 3, 4, 2], holes(rng, cells, 0.1), y, 4)
    cells = cells.copy()
    cells[::2, 0] = np.nan
    cells[:, 1] = np.nan
    sets["missing-half"] = data_set("missing", [0, 3, 4, 2], holes(rng, cells, 0.3), y, 4)
    return sets


def literal_sets():
    """Tiny sets that can be checked by eye."""
    weather = [
        (0, 85, 85, 0, 0), (0, 80, 90, 1, 0), (1, 83, 86, 0, 1), (2, 70, 96, 0, 1),
        (2, 68, 80, 0, 1), (2, 65, 70, 1, 0), (1, 64, 65, 1, 1), (0, 72, 95, 0, 0),
        (0, 69, 70, 0, 1), (2, 75, 80, 0, 1), (0, 75, 70, 1, 1), (1, 72, 90, 1, 1),
        (1, 81, 75, 0, 1), (2, 71, 91, 1, 0),
    ]  # fmt: skip
    table = np.array(weather, dtype=float)
    words = table.copy()
    words[:, 1] = np.digitize(table[:, 1], [70.5, 80.5])
    words[:, 2] = table[:, 2] > 80
    and_gate = np.array([(a, b, a & b) for a in (0, 1) for b in (0, 1) for _ in range(4)])
    return {
        "weather-numbers": data_set("mixed", [3, 0, 0, 2], table[:, :4], table[:, 4], 2),
        "weather-words": data_set("nominal", [3, 3, 2, 2], words[:, :4], words[:, 4], 2),
        "and-gate": data_set("binary", [2, 2], and_gate[:, :2], and_gate[:, 2], 2),
    }


def paper_sets(root):
    """The papers' data sets: declared values and classes in the order of first appearance."""
    for folder in ("uci", "keel"):
        for path in sorted((root / folder).glob("*.csv*")):
            opener = gzip.open if path.suffix == ".gz" else open
            with opener(path, "rt", newline="", encoding="utf-8") as file:
                _, *rows = list(csv.reader(file))
            if len(rows) > LARGEST:
                continue
            yield f"{folder}/{path.name.split('.csv')[0]}", from_text(rows)


def from_text(rows):
    """A set from the cells of a CSV file: a column is numeric when all its known cells are."""
    columns = list(zip(*rows, strict=True))
    cardinality, cells = [], []
    for column in columns[:-1]:
        try:
            cells.append([float(c) if c else np.nan for c in column])
            cardinality.append(0)
        except ValueError:
            seen = list(dict.fromkeys(c for c in column if c))
            cells.append([seen.index(c) if c else np.nan for c in column])
            cardinality.append(len(seen))
    labels = list(dict.fromkeys(columns[-1]))
    y = [labels.index(c) for c in columns[-1]]
    kind = "nominal" if all(cardinality) else "mixed" if any(cardinality) else "numeric"
    cells = np.array(cells, dtype=float).T
    if np.isnan(cells).any():
        kind = "missing"
    return data_set(kind, cardinality, cells, y, len(labels))


def write_arff(path, fixture):
    """Write the set as ARFF, with its splits in another file."""
    lines = ["@relation fixture"]
    for at, v in enumerate(fixture["cardinality"]):
        kind = "{" + ",".join(f"v{code}" for code in range(v)) + "}" if v else "numeric"
        lines.append(f"@attribute a{at} {kind}")
    lines.append(
        "@attribute class {" + ",".join(f"c{k}" for k in range(fixture["n_classes"])) + "}"
    )
    lines.append("@data")
    for row, label in zip(fixture["rows"], fixture["y"], strict=True):
        cells = [
            "?" if c is None else f"v{c}" if v else repr(c)
            for c, v in zip(row, fixture["cardinality"], strict=True)
        ]
        lines.append(",".join([*cells, f"c{label}"]))
    path.write_text("\n".join(lines) + "\n")
    splits = []
    for folds in np.array(fixture["fold_of"]):
        for fold in range(folds.max() + 1):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            splits.append(" ".join(map(str, train)) + "|" + " ".join(map(str, test)))
    path.with_suffix(".splits").write_text("\n".join(splits) + "\n")


def ask_weka(jar, sets):
    """Weka's predictions by set, learner and split (in the order run, fold)."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        names = {name.replace("/", "@"): name for name in sets}
        for written, name in names.items():
            write_arff(work / f"{written}.arff", sets[name])
        classpath = os.pathsep.join([*(str(p) for p in Path(jar).parent.glob("*.jar")), folder])
        source = HERE / "WekaPredictions.java"
        subprocess.run(["javac", "-cp", classpath, "-d", folder, str(source)], check=True)
        done = subprocess.run(
            ["java", "-Xss64m", "-cp", classpath, "WekaPredictions", folder],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    found = {}
    for line in done.stdout.splitlines():
        written, learner, split, codes = line.split("\t")
        found.setdefault(names[written], {}).setdefault(learner, {})[int(split)] = [
            int(c) for c in codes.split()
        ]
    return found


def errors(fixture, predictions):
    """Errors by run and fold."""
    y, counts = np.array(fixture["y"]), []
    for run, folds in enumerate(np.array(fixture["fold_of"])):
        n_folds = int(folds.max()) + 1
        counts.append(
            [
                int((y[folds == fold] != predictions[run * n_folds + fold]).sum())
                for fold in range(n_folds)
            ]
        )
    return counts


def count(jar, sets):
    """Weka's errors by set and learner."""
    answers = ask_weka(jar, sets)
    return {
        name: {learner: errors(sets[name], found) for learner, found in answers[name].items()}
        for name in sets
    }


def write(path, counts):
    """Write one line per set, so that changes are readable."""
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in counts.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    jar = sys.argv[1]
    sets = {**literal_sets(), **drawn_sets()}
    write(HERE / "sets.json", sets)
    write(HERE / "counts.json", count(jar, sets))
    root = os.environ.get("BESTOFK_DATA")
    if root:
        write(HERE / "counts_papers.json", count(jar, dict(paper_sets(Path(root)))))


if __name__ == "__main__":
    main()
