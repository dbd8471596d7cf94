"""What a second metric costs: the same comparison by one loss and by two, in one process.

- ``two-metrics-DATA``: `compare` by accuracy and log-loss (ours) against accuracy alone (peer),
  four learners of scikit-learn. The promise is a ratio of at least 1/1.10 = 0.909: the fits are
  shared.
- ``three-metrics-DATA``: with scikit-learn's f1_macro besides.

The sides take turns; the ratio is the median of the rounds' ratios. Seconds are those of the
processor, which a busy machine disturbs less than the clock on the wall.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median
from typing import Any

ROUNDS = 5
PLAN = "2x5"
ALONE = ["accuracy"]
TOGETHER = {
    "two-metrics": ["accuracy", "log-loss"],
    "three-metrics": ["accuracy", "log-loss", "f1_macro"],
}


def learners() -> dict[str, Any]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    return {
        "logistic": LogisticRegression(max_iter=200),
        "tree": DecisionTreeClassifier(random_state=0),
        "forest": RandomForestClassifier(n_estimators=20, random_state=0),
        "bayes": GaussianNB(),
    }


def seconds(data: Any, losses: list[str]) -> float:
    import bestofk as bk

    begin = time.process_time()
    bk.compare(
        learners(),
        data,
        cv=PLAN,
        scoring=losses,
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    return time.process_time() - begin


def measure(
    parts: Sequence[str] = ("iris", "breast-cancer"),
) -> list[tuple[str, float, float, float]]:
    import bestofk as bk

    rows = []
    for name in parts:
        data = bk.load(name)
        seconds(data, TOGETHER["three-metrics"])
        for asked, losses in TOGETHER.items():
            pairs = [(seconds(data, losses), seconds(data, ALONE)) for _ in range(ROUNDS)]
            ratio = median(alone / together for together, alone in pairs)
            ours, alone = (median(side) for side in zip(*pairs, strict=True))
            rows.append((f"{asked}-{name}", ratio, ours, alone))
    return rows
