"""Decide whether a new build may be released."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import ceil, floor, isfinite, log2, log10
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats, one_of
from bestofk._base.errors import ArgumentError, RunError, UnknownNameError, use
from bestofk._base.formatting import counted, pvalue_words
from bestofk._base.results import Drawn, json_ready, listed, present
from bestofk.release import DEFAULT_LEDGER
from bestofk.release.builds import Build, digest_of, item_hashes, read_build
from bestofk.release.ledger import (
    Ledger,
    locked,
    packed,
    packed_scores,
    read_ledger,
    unpacked,
    unpacked_scores,
    write_entry,
)
from bestofk.release.method import (
    ENOUGH_RUNS,
    FALSE_BLOCKS,
    RERUNS,
    SUSPECT,
    level_of,
    worse_test,
)

if TYPE_CHECKING:
    import pandas as pd

EXIT_CODES = {"pass": 0, "blocked": 1, "suspect": 3}
_DOCUMENTED = "answer exit_code build table worse_items headline notes explain plot report to_dict"
MAX_WORSE_ITEMS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult(Drawn):
    """The answer of the gate about one build.

    Attributes
    ----------
    answer : {"pass", "blocked", "suspect"}
        ``"blocked"``: shown to be worse than the baseline. ``"suspect"``: run it twice more on the
        same items, and gate these runs under the same name.
    exit_code : int
        0, 1 or 3.
    build : str
        Its name.
    table : DataFrame
        One row per metric: mean, baseline, difference, the ends of the interval that belongs to the
        level of the test, the p-value of *worse*, the level, the difference from the first
        baseline.
    worse_items : list of dict
        The items that got worse, the largest loss first.
    headline, notes
        The verdict in one sentence; what counted as wrong or was left out.
    """

    build: str
    worse_items: Sequence[Mapping[str, Any]]
    items: int
    repeated: bool
    """True if the ledger already holds these scores."""
    ledger: str | None
    entry: Mapping[str, Any]
    """The line of the ledger about this build."""
    history: Ledger

    def __dir__(self) -> list[str]:
        return listed(self, _DOCUMENTED)

    def __repr__(self) -> str:
        return "\n".join((self.headline, *self.notes))

    @property
    def answer(self) -> str:
        """``"pass"``, ``"blocked"`` or ``"suspect"``."""
        answer: str = self.entry["answer"]
        return answer

    @property
    def notes(self) -> tuple[str, ...]:
        """What counted as wrong or was left out."""
        return tuple(self.entry["notes"])

    @property
    def results(self) -> Mapping[str, Mapping[str, Any]]:
        """The row of the table by metric."""
        results: Mapping[str, Mapping[str, Any]] = self.entry["metrics"]
        return results

    @property
    def exit_code(self) -> int:
        """0 if the build may be released, 1 if it is worse, 3 if it should run again."""
        return EXIT_CODES[self.answer]

    def __bool__(self) -> bool:
        return self.exit_code == 0

    @property
    def better(self) -> bool:
        """True if a metric is shown to be better, and none to be worse."""
        return self.answer == "pass" and any(row["better"] for row in self.results.values())

    @property
    def table(self) -> pd.DataFrame:
        """One row per metric."""
        rows = [{"metric": name, **row} for name, row in self.results.items()]
        frame: pd.DataFrame = present("frame", {key: [r[key] for r in rows] for key in rows[0]})
        return frame

    @property
    def headline(self) -> str:
        """Return the verdict in one sentence."""
        shown = [
            name for name, result in self.results.items() if verdict_of(result) == self.answer
        ] or list(self.results)
        numbers = "; ".join(self._numbers(name) for name in shown)
        within = f" in {' and '.join(shown)}" if len(self.results) > 1 else ""
        claim = {
            "blocked": f"Blocked: {self.build} is worse than the baseline{within}",
            "suspect": f"Suspect: {self.build} may be worse than the baseline{within}",
            "pass": f"Pass: {self.build} is "
            f"{'better' if self.better else 'not shown to be worse'} than the baseline",
        }[self.answer]
        return f"{claim} ({numbers})."

    def _numbers(self, name: str) -> str:
        result = self.results[name]
        form = f".{decimals(result)}f"
        text = (
            f"{name} {result['mean']:{form}} against {result['baseline']:{form}}, difference "
            f"{signed(result['difference'], form)}, {100 - 200 * result['level']:g} % interval "
            f"{signed(result['low'], form)} to {signed(result['high'], form)}"
        )
        if self.answer == "pass":
            return text
        return f"{text}, {pvalue_words(result['p'], result['level'])}"

    def explain(self) -> str:
        """Return the verdict, its evidence and what the gate promises."""
        baseline, runs = self.history.baseline, counted(self.entry["runs"], "run")
        lines = [self.headline, *self.notes]
        lines.append(
            f"{counted(self.items, 'item')}, {runs} of {self.build} and {baseline['runs']} of "
            f"{baseline['build']}."
        )
        lines += [worse_words(self)] if self.worse_items else []
        if len(self.history.baselines) > 1:
            since = ", ".join(
                f"{name} {signed(row['since_start'], '.3f')}" for name, row in self.results.items()
            )
            lines.append(f"Difference from the first baseline: {since}.")
        if self.repeated:
            lines.append("The ledger already has these scores; this is its answer.")
        blocked = 100 * self.history.false_blocks
        lines.append(
            f"Of 100 builds that are as good as the baseline, about {blocked:g} "
            f"{'is' if blocked == 1 else 'are'} blocked. 'bestofk gate --rehearse' says what "
            "these items can catch."
        )
        return "\n".join(lines)

    def report(self, path: str | os.PathLike[str], *, command: Sequence[str] = ()) -> Path:
        """Write a self-contained HTML file and return its path."""
        written: Path = present("report", self, path, command=command)
        return written

    def to_dict(self) -> dict[str, Any]:
        """Return the result for strict JSON."""
        table = [{"metric": name, **json_ready(row)} for name, row in self.results.items()]
        return {
            "answer": self.answer, "exit_code": self.exit_code, "build": self.build,
            "headline": self.headline, "table": table,
            "worse_items": json_ready(self.worse_items), "notes": list(self.notes),
            "baseline": self.history.baseline["build"], "runs": self.entry["runs"],
            "items": self.items, "false_blocks": self.history.false_blocks,
            "ledger": self.ledger,
        }  # fmt: skip


def next_step(result: GateResult, source: str = "NEW") -> str:
    """Return what to do now; empty if there is nothing to do.

    `source` are the words of a command that name the build.
    """
    ledger = f" --ledger {quote(str(result.ledger))}" if result.ledger != DEFAULT_LEDGER else ""
    if result.answer == "suspect":
        again = f"Run it {RERUNS} more times on the same items"
        if result.ledger is None:
            return f"{again}, and give all runs: bestofk gate RUN1 RUN2 RUN3 --baseline FILE"
        return f"{again}, and type: bestofk gate RUN2 RUN3 --build {quote(result.build)}{ledger}"
    if result.ledger is None:
        return ""
    command = f"bestofk gate accept {source}{ledger} --reason TEXT"
    if result.answer == "blocked":
        return f"If the loss is intended, make this build the baseline: {command}"
    if result.better:
        return f"To hold later builds to it, make it the baseline: {command}"
    return ""


def worse_words(result: GateResult) -> str:
    """List the items that got worse."""
    names = ", ".join(str(item["item"]) for item in result.worse_items)
    return f"Items that got worse: {names}." if names else ""


def verdict_of(result: Mapping[str, Any]) -> str:
    """Return the verdict of one metric."""
    if result["p"] <= result["level"]:
        return "blocked"
    return "suspect" if result["suspect"] else "pass"


def decimals(result: Mapping[str, Any]) -> int:
    """Return the decimals that show two digits of the half width of the interval."""
    ends = [
        abs(result[end] - result["difference"]) for end in ("low", "high") if _known(result[end])
    ]
    sizes = [size for size in (*ends, 10 * abs(result["difference"])) if size > 1e-12]
    return max(0, 1 - floor(log10(min(sizes, default=0.01))))


def _known(value: float | None) -> bool:
    return value is not None and isfinite(value)


def signed(value: float | None, form: str) -> str:
    """Return a number with its sign."""
    if value is None or not isfinite(value):
        return "unbounded"
    return f"{value:+{form}}" if abs(value) > 1e-12 else "0"


def gate(
    new: Any,
    baseline: Any = None,
    *,
    metric: str | Sequence[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    false_blocks: float | None = None,
    build: str | None = None,
    model: str | None = None,
    baseline_model: str | None = None,
    missing: str = "refuse",
    rerun: str | Callable[[], Any] | None = None,
    **reading: Any,
) -> GateResult:
    """Decide whether a new build may replace the baseline.

    Parameters
    ----------
    new : path, Evals, data frame, mapping, sequence of numbers, or a list of these
        The scores of the new build: evaluation logs, a table of items, scores by item, or one
        number per item. Several sources with the same items are runs, and their mean counts.
    baseline : as `new`, optional
        The released build, if there is no ledger yet.
    metric : str or sequence of str, optional
        The metrics to gate; each gets its share of `false_blocks`. None: those of the ledger, or
        the only one.
    ledger : path, optional
        The file with the baseline and all builds. None: compare `new` with `baseline` and record
        nothing, so that a suspect is not remembered.
    false_blocks : float, optional
        The share of good builds that may be blocked; 0.01 for a new ledger.
    build : str, optional
        The name of the build; by default that of the model.
    model, baseline_model : str, optional
        Which model of `new` and of `baseline`, if there are several.
    missing : {"refuse", "drop", "wrong"}
        If the build lacks items of the baseline: stop, compare the others, or count them as wrong.
    rerun : str or callable, optional
        Run a suspect again: a shell command that writes `new` once more, or a function that
        returns another run. It is called twice.
    **reading
        What `read_evals` takes, such as ``cluster="passage"``.

    Returns
    -------
    GateResult

    Examples
    --------
    >>> import numpy as np
    >>> right = np.array([1.0] * 140 + [0.0] * 60)
    >>> worse = np.array([1.0] * 110 + [0.0] * 90)
    >>> print(gate(worse, right).headline)
    Blocked: new is worse than the baseline (score 0.550 against 0.700, difference -0.150, 99 %
    interval -0.227 to -0.084, p < 0.0001).
    >>> gate(right, right).exit_code
    0
    """
    one_of(missing, "missing", ("refuse", "drop", "wrong"))
    if false_blocks is not None and not 0 < false_blocks < 0.5:
        raise ArgumentError(f"false_blocks must be between 0 and 0.5; got {false_blocks}.")
    with nullcontext(True) if ledger is None else locked(ledger) as alone:
        history = None if ledger is None else read_ledger(ledger)
        if history is not None and baseline is not None:
            raise ArgumentError(
                f"{os.fspath(str(ledger))} has a baseline: leave out ", use(baseline=...),
                ", or replace it with 'bestofk gate accept FILE'.",
            )  # fmt: skip
        metric = metric if metric is not None or history is None else list(history.metrics)

        def read(source: Any, where: str) -> Build:
            name, chosen = (build, model) if where == "new" else (None, baseline_model)
            return read_build(
                source, where, name=name, model=chosen, metric=metric, reading=reading
            )

        tested = read(new, "new")
        if history is None:
            if baseline is None:
                raise ArgumentError(
                    "There is no ledger yet: start one with 'bestofk gate start FILE', or name "
                    "the released build with ", use(baseline="FILE"), ".",
                )  # fmt: skip
            history = started(read(baseline, "baseline"), false_blocks or FALSE_BLOCKS)
        elif false_blocks not in (None, history.false_blocks):
            raise ArgumentError(
                f"The ledger has the share {history.false_blocks:g} of false blocks: leave out ",
                use(false_blocks=false_blocks), ", or start another ledger.",
            )  # fmt: skip
        scores = _aligned(tested, history, missing)
        digest = digest_of(scores)
        entry = next((one for one in history.tested if one["digest"] == digest), None)
        repeated = entry is not None
        if entry is None:
            content = _tested(tested, scores, history)
            if content["answer"] == "suspect" and rerun is not None:
                runs = [read(_run_again(rerun, new), "new") for _ in range(RERUNS)]
                again = [_aligned(one, history, missing) for one in runs]
                mean = {name: np.mean([one[name] for one in again], axis=0) for name in scores}
                history = history.with_build(digest=digest, **content)
                content = _tested(tested, mean, history, runs=RERUNS)
                digest = digest_of(mean)
            history = history.with_build(digest=digest, **content)
            entry = history.builds[-1]
            if ledger is not None:
                history = write_entry(history, ledger, alone=bool(alone))
    return GateResult(
        build=tested.name,
        worse_items=_worse_items(tested, scores, history),
        items=min(int(np.isfinite(values).sum()) for values in scores.values()),
        repeated=repeated,
        ledger=None if ledger is None else os.fspath(ledger),
        entry=entry,
        history=history,
    )


def start(
    *runs: Any,
    metric: str | Sequence[str] | None = None,
    ledger: str | os.PathLike[str] = DEFAULT_LEDGER,
    false_blocks: float = FALSE_BLOCKS,
    build: str | None = None,
    model: str | None = None,
    **reading: Any,
) -> Ledger:
    """Start a ledger whose baseline is the mean of these runs of one build.

    - `runs`, `metric`, `build`, `model`, `**reading`: As for `gate`. More runs make a sharper gate.
    - `ledger`: A file that does not exist yet.
    """
    accepted = read_build(
        list(runs), "baseline", name=build, model=model, metric=metric, reading=reading
    )
    with locked(ledger) as alone:
        if read_ledger(ledger) is not None:
            raise ArgumentError(
                f"{os.fspath(ledger)} exists: use 'bestofk gate accept FILE' for a new baseline, "
                "or name another with ", use(ledger="FILE"), ".",
            )  # fmt: skip
        return write_entry(started(accepted, false_blocks), ledger, alone=alone)


def accept(
    *runs: Any,
    ledger: str | os.PathLike[str] = DEFAULT_LEDGER,
    build: str | None = None,
    model: str | None = None,
    reason: str = "",
    **reading: Any,
) -> Ledger:
    """Make a build the baseline, whatever its scores, and record it in the ledger.

    - `runs`, `build`, `model`, `**reading`: As for `gate`.
    - `ledger`: An existing ledger.
    - `reason`: Why, for the record.
    """
    with locked(ledger) as alone:
        history = read_ledger(ledger)
        if history is None:
            raise ArgumentError(
                f"There is no ledger {os.fspath(ledger)}: start one with 'bestofk gate start FILE'."
            )
        accepted = read_build(
            list(runs), "new", name=build, model=model, metric=list(history.metrics),
            reading=reading,
        )  # fmt: skip
        scores = _aligned(accepted, history, "refuse")
        return write_entry(
            history.with_baseline(
                build=accepted.name, digest=digest_of(scores), runs=accepted.runs, reason=reason,
                scores=packed_scores(scores),
            ),
            ledger,
            alone=alone,
        )  # fmt: skip


def started(reference: Build, false_blocks: float) -> Ledger:
    """Return a new ledger with one baseline."""
    hashes = item_hashes(reference.items)
    if len(np.unique(hashes)) != len(hashes):
        raise ArgumentError(f"The items of {reference.name!r} must have different names.")
    level = level_of(false_blocks, metrics=len(reference.scores), runs=1)
    units, needed = len(np.unique(reference.clusters)), ceil(log2(1 / level))
    if units < needed:
        # a sign test of fewer units has no p-value below the level
        raise ArgumentError(
            f"The gate could never block a build on {counted(units, 'independent item')}: use at "
            f"least {needed}."
        )
    scores = {name: score.mean for name, score in reference.scores.items()}
    return Ledger(
        false_blocks=false_blocks,
        metrics={name: score.higher_is_better for name, score in reference.scores.items()},
        size=len(hashes),
        items=packed(hashes),
        clusters=packed(reference.clusters),
    ).with_baseline(
        build=reference.name, digest=digest_of(scores), runs=reference.runs, reason="start",
        scores=packed_scores(scores),
    )  # fmt: skip


def _run_again(rerun: str | Callable[[], Any], new: Any) -> Any:
    """Run a suspect once more and return the source of its scores."""
    if callable(rerun):
        return rerun()
    code = subprocess.run(rerun, shell=True, check=False).returncode
    if code != 0:
        raise RunError(f"The rerun {rerun!r} failed with exit code {code}; nothing was recorded.")
    return new


def _aligned(tested: Build, history: Ledger, missing: str) -> dict[str, Floats]:
    """Return the scores of a build by metric, in the order of the ledger's items.

    A score is NaN if the build lacks the item and `missing` is ``"drop"``.
    """
    known = unpacked(history.items, history.size)
    hashes = item_hashes(tested.items)
    order = np.argsort(hashes, kind="stable")
    position = np.minimum(np.searchsorted(hashes[order], known), len(hashes) - 1)
    has = hashes[order][position] == known
    absent = int((~has).sum())
    if absent == history.size:
        raise ArgumentError(
            f"{tested.name!r} shares no item with the baseline: use the same items."
        )
    if absent and missing == "refuse":
        raise ArgumentError(
            f"{tested.name!r} lacks {absent} of the {history.size} items of the baseline: ",
            use(missing="wrong"), " counts them as wrong, and ", use(missing="drop"),
            " leaves them out.",
        )  # fmt: skip
    base = unpacked_scores(history.baseline["scores"], history)
    scores = {}
    for name, higher_is_better in history.metrics.items():
        if name not in tested.scores:
            raise UnknownNameError("metric", name, tested.scores, tested.name)
        score = tested.scores[name]
        if score.higher_is_better != higher_is_better:
            raise ArgumentError(
                f"Higher {name} is {'better' if higher_is_better else 'worse'} in the ledger: use ",
                use(higher_is_better=higher_is_better), " or another ledger.",
            )  # fmt: skip
        values = np.where(has, score.mean[order][position], np.nan)
        _check_scale(name, values[has], base[name], tested.name)
        if absent and missing == "wrong":
            low, high = _range(base[name])
            if (low, high) != (0.0, 1.0):
                raise ArgumentError(
                    f"The worst possible {name!r} is unknown: score the {absent} missing items, or "
                    "use ", use(missing="drop"), ".",
                )  # fmt: skip
            values[~has] = low if higher_is_better else high
        scores[name] = values
    return scores


def _range(baseline: Floats) -> tuple[float, float]:
    """Return the range of the metric: 0 to 1 if the baseline lies in it, else about its own."""
    low, high = float(baseline.min()), float(baseline.max())
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return low - (high - low), high + (high - low)


def _check_scale(metric: str, scores: Floats, baseline: Floats, build: str) -> None:
    """Refuse scores outside the range of the baseline, and scores on a smaller scale."""
    low, high = _range(baseline)
    slack = 1e-9 * max(abs(low), abs(high), 1.0)
    outside = (scores < low - slack) | (scores > high + slack)
    if outside.any():
        raise ArgumentError(
            f"{build!r} has the {metric} {scores[outside][0]:g}, and the baseline has "
            f"{baseline.min():g} to {baseline.max():g}: give both on the same scale."
        )
    if (low, high) != (0.0, 1.0) and scores.min() >= 0 and scores.max() <= 1 < np.median(baseline):
        raise ArgumentError(
            f"{build!r} has {metric} from 0 to 1, and the baseline has {baseline.min():g} to "
            f"{baseline.max():g}: give both on the same scale."
        )


def _tested(
    tested: Build, scores: Mapping[str, Floats], history: Ledger, *, runs: int | None = None
) -> dict[str, Any]:
    """Test the scores, together with those of a suspect of the same name."""
    runs = tested.runs if runs is None else runs
    mine = [one for one in history.tested if one["build"] == tested.name]
    earlier = mine[-1] if mine and mine[-1]["answer"] == "suspect" else None
    if earlier is not None and runs < ENOUGH_RUNS:
        before = unpacked_scores(earlier["scores"] or {}, history)
        total = earlier["runs"] + runs
        scores = {
            name: (before[name] * earlier["runs"] + values * runs) / total
            for name, values in scores.items()
        }
        runs = total
    stage = 1 if earlier is not None else runs
    level = level_of(history.false_blocks, metrics=len(history.metrics), runs=stage)
    can_run_again = earlier is None and runs < ENOUGH_RUNS
    base = unpacked_scores(history.baseline["scores"], history)
    first = unpacked_scores(history.baselines[0]["scores"], history)
    clusters = unpacked(history.clusters, history.size)
    results = {}
    for name, higher_is_better in history.metrics.items():
        known = np.isfinite(scores[name])
        sign = -1.0 if higher_is_better else 1.0
        unit = 1.0 if _range(base[name]) == (0.0, 1.0) else None
        sides = sign * scores[name][known], sign * base[name][known], clusters[known]
        worse = worse_test(*sides, unit=unit)
        better = worse_test(*sides, unit=unit, worse=False)
        low = float(worse.confidence_interval(1 - level).low)
        high = float(better.confidence_interval(1 - level).high)
        ends = sorted((sign * low, sign * high))
        if unit is not None:
            ends = [max(ends[0], -unit), min(ends[1], unit)]
        p = float(worse.pvalue)
        results[name] = {
            "mean": float(scores[name][known].mean()),
            "baseline": float(base[name][known].mean()),
            "difference": sign * float(worse.estimate) + 0.0,
            "low": ends[0] if isfinite(ends[0]) else None,
            "high": ends[1] if isfinite(ends[1]) else None,
            "p": p,
            "level": level,
            "suspect": can_run_again and level < p < SUSPECT / len(history.metrics),
            "better": bool(better.pvalue <= level),
            "since_start": float((scores[name] - first[name])[known].mean()),
        }
    verdicts = [verdict_of(result) for result in results.values()]
    answer = next((word for word in ("blocked", "suspect") if word in verdicts), "pass")
    return {
        "build": tested.name, "runs": runs, "baseline": history.baseline["hash"],
        "answer": answer, "failures": tested.failures, "metrics": results,
        "notes": _notes(tested, scores, earlier),
        "scores": packed_scores(scores) if answer == "suspect" else None,
    }  # fmt: skip


def _notes(
    tested: Build, scores: Mapping[str, Floats], earlier: Mapping[str, Any] | None
) -> list[str]:
    notes = []
    if tested.failures:
        samples = counted(tested.failures, "sample")
        notes.append(f"{samples} of {tested.name} failed or had no score, and counted as wrong.")
    absent = max(int(np.isnan(values).sum()) for values in scores.values())
    if absent:
        notes.append(f"{counted(absent, 'item')} of the baseline were left out.")
    if earlier is not None:
        notes.append("The build was a suspect; this is the answer after its reruns.")
    return notes


def _worse_items(
    tested: Build, scores: Mapping[str, Floats], history: Ledger
) -> list[dict[str, Any]]:
    """Return the items that lost most, with the scores of the baseline and of the build."""
    names = dict(zip(item_hashes(tested.items).tolist(), tested.items, strict=True))
    hashes = unpacked(history.items, history.size).tolist()
    base = unpacked_scores(history.baseline["scores"], history)
    worse = []
    for metric, values in scores.items():
        loss = (base[metric] - values) * (1.0 if history.metrics[metric] else -1.0)
        order = np.argsort(-np.nan_to_num(loss, nan=-np.inf), kind="stable")[:MAX_WORSE_ITEMS]
        worse += [(float(loss[at]), metric, int(at)) for at in order if loss[at] > 0]
    worse.sort(key=lambda item: -item[0])
    return [
        {
            "item": names.get(hashes[at], "(missing)"),
            "metric": metric,
            "baseline": float(base[metric][at]),
            "new": float(scores[metric][at]),
        }
        for _, metric, at in worse[:MAX_WORSE_ITEMS]
    ]
