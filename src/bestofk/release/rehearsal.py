"""Rehearse the gate on the user's own items: what it blocks by mistake, and what it catches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints
from bestofk._base.formatting import counted
from bestofk._base.results import Presented
from bestofk.release.builds import Build, BuildScores, read_build
from bestofk.release.method import (
    ENOUGH_RUNS,
    FALSE_BLOCKS,
    RERUNS,
    answers,
    level_of,
    worse_test,
)

LOSSES = (0.01, 0.02, 0.05, 0.1)
"""Losses of a build, as shares of the range of the metric."""
BUILDS = 5
"""Builds within which a loss is caught."""
HISTORIES = 300
LONG_HISTORIES = 60
LONG = 200
"""Good builds of a long history."""
MANY_BLOCKS = 5
"""A long history with more false blocks had a lucky baseline."""
MAX_DRAWS = 60_000_000
DRAWS_AT_ONCE = 1_000_000
"""Scores of builds that are tested in one call."""
_ASSUMED_SPREAD = 1.0
"""Sum of the parameters of the beta distribution of the items' chances, for a single run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal(Presented):
    """What the gate does on these items, by metric."""

    false_blocks: Mapping[str, float]
    """Share of good builds that are blocked."""
    reruns: Mapping[str, float]
    """Share of good builds that run again."""
    caught: Mapping[str, Mapping[float, tuple[float, float]]]
    """By metric and loss: the chance to block one build, and one of five."""
    clustered: Mapping[str, float]
    """Share of histories of 200 good builds with more than five blocks; 0 for many items."""
    items: int
    runs: int
    unit: Mapping[str, float]
    """The size of one point."""

    def explain(self) -> str:
        """Return what is blocked by mistake, and what was assumed."""
        return "\n".join((self._head(), *self._notes()))

    def _screen(self) -> tuple[str, Mapping[str, Any], str]:
        tables = {
            f"{name}: of 100 builds, how many are blocked": {
                "the build loses": [
                    "nothing",
                    *(counted(round(100 * loss), "point") for loss in caught),
                ],
                "blocked": [f"{100 * self.false_blocks[name]:.1f}"]
                + [f"{100 * once:.0f}" for once, _ in caught.values()],
                f"at least one of {BUILDS}": [
                    "",
                    *(f"{100 * k:.0f}" for _, k in caught.values()),
                ],
            }
            for name, caught in self.caught.items()
        }
        return self._head(), tables, "\n".join(self._notes())

    def _head(self) -> str:
        return (
            f"Rehearsal on {counted(self.items, 'item')} with {counted(self.runs, 'run')} of the "
            "baseline."
        )

    def _notes(self) -> list[str]:
        notes = [
            f"Of 100 good builds, {100 * share:.0f} run again"
            f"{f' by {name}' if len(self.reruns) > 1 else ''}."
            for name, share in self.reruns.items()
        ]
        notes += [
            f"A point of {name} is {unit:.3g}, a hundredth of the range."
            for name, unit in self.unit.items() if abs(unit - 0.01) > 1e-12
        ]  # fmt: skip
        notes += [
            f"{100 * share:.0f} % of histories of {LONG} good builds have more than {MANY_BLOCKS} "
            "blocks, because one lucky baseline makes all later builds look worse: give more runs "
            "of it to 'bestofk gate start'."
            for share in self.clustered.values() if share > 0.05
        ]  # fmt: skip
        if self.runs == 1:
            notes.append(
                "One run does not show how much the scores vary; this assumes that of typical "
                "language models. Give a second run to measure it."
            )
        return notes


def rehearse(
    *runs: Any,
    metric: str | Sequence[str] | None = None,
    false_blocks: float = FALSE_BLOCKS,
    model: str | None = None,
    random_state: int = 0,
    **reading: Any,
) -> Rehearsal:
    """Simulate builds on the items of a baseline, and gate them.

    - `runs`, `metric`, `model`, `**reading`: As for `bestofk.release.gate.start`.
    - `false_blocks`: The share of good builds that may be blocked.

    Examples
    --------
    >>> scores = np.random.default_rng(0).random((2, 300)) < np.linspace(0.2, 1, 300)
    >>> rehearsal = rehearse(*scores.astype(float))
    >>> rehearsal.false_blocks["score"] < 0.02, rehearsal.caught["score"][0.1][1] > 0.9
    (True, True)
    """
    build = read_build(
        list(runs), "baseline", name=None, model=model, metric=metric, reading=reading
    )
    rng = np.random.default_rng(random_state)
    blocks, again, clustered, unit = {}, {}, {}, {}
    caught: dict[str, dict[float, tuple[float, float]]] = {}
    for name, scores in build.scores.items():
        level = level_of(false_blocks, metrics=len(build.scores), runs=1)
        simulated = _Simulated.of(scores, build)
        unit[name] = simulated.width / 100
        blocked, reruns = simulated.histories(0.0, HISTORIES, BUILDS, level, rng)
        blocks[name], again[name] = float(blocked.mean()), float(reruns.mean())
        caught[name] = {}
        for loss in LOSSES:
            hit, _ = simulated.histories(loss, HISTORIES, BUILDS, level, rng)
            caught[name][loss] = (float(hit.mean()), float(hit.any(axis=1).mean()))
        clustered[name] = 0.0
        if len(build.items) * LONG <= MAX_DRAWS:
            long, _ = simulated.histories(0.0, LONG_HISTORIES, LONG, level, rng)
            clustered[name] = float((long.sum(axis=1) > MANY_BLOCKS).mean())
    return Rehearsal(
        false_blocks=blocks, reruns=again, caught=caught, clustered=clustered,
        items=len(build.items), runs=build.runs, unit=unit,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Simulated:
    """Builds that answer the items with the chances and the noise of the baseline.

    Scores are scaled to 0 (worst) to 1 (best).
    """

    mean: Floats
    noise: float
    binary: bool
    clusters: Ints
    runs: int
    width: float

    @classmethod
    def of(cls, scores: BuildScores, build: Build) -> _Simulated:
        low, high = float(scores.mean.min()), float(scores.mean.max())
        if low >= 0 and high <= 1:
            low, high = 0.0, 1.0
        width = max(high - low, 1e-12)
        mean = (scores.mean - low) / width
        mean = mean if scores.higher_is_better else 1.0 - mean
        m = float(np.clip(mean.mean(), 1e-6, 1 - 1e-6))
        noise = scores.noise
        if noise is None:
            # the variance between runs if the chances have a beta distribution
            noise = m * (1 - m) * _ASSUMED_SPREAD / (_ASSUMED_SPREAD + 1) * width**2
        return cls(
            mean=mean, noise=noise / width**2, binary=scores.binary, clusters=build.clusters,
            runs=build.runs, width=width,
        )  # fmt: skip

    def chances(self, rng: np.random.Generator) -> Floats:
        """Draw the items' chances, given their mean scores: the posterior of a beta prior."""
        m = float(np.clip(self.mean.mean(), 1e-6, 1 - 1e-6))
        share = float(np.clip(self.noise / (m * (1 - m)), 1e-3, 0.999))
        spread = share / (1 - share)
        right = self.mean * self.runs
        return rng.beta(m * spread + right, (1 - m) * spread + self.runs - right)

    def histories(
        self, loss: float, count: int, builds: int, level: float, rng: np.random.Generator
    ) -> tuple[Bools, Bools]:
        """Return which builds are blocked and which run again, of shape (histories, builds)."""
        n = len(self.mean)
        count = int(max(20, min(count, MAX_DRAWS // (n * builds * ENOUGH_RUNS))))
        at_once = max(1, DRAWS_AT_ONCE // (n * builds))
        p = np.empty((2, count, builds))
        for start in range(0, count, at_once):
            histories = min(at_once, count - start)
            base, stages = np.empty((histories, 1, n)), np.empty((2, histories, builds, n))
            for k in range(histories):
                centre = self.chances(rng) if self.binary else self.mean
                base[k] = self._draw(centre, (self.runs, n), rng).mean(axis=0)
                lowered = centre * max(0.0, 1.0 - loss / max(float(centre.mean()), 1e-9))
                stages[0, k] = self._draw(lowered, (builds, n), rng)
                more = self._draw(lowered, (RERUNS, builds, n), rng).sum(axis=0)
                stages[1, k] = (stages[0, k] + more) / ENOUGH_RUNS
            tested = worse_test(-stages, -base, self.clusters, unit=1.0)
            p[:, start : start + histories] = tested.pvalue
        return answers(p[0], p[1], level)

    def _draw(self, centre: Floats, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        if self.binary:
            return (rng.random(shape) < centre).astype(np.float64)
        return np.clip(centre + rng.normal(0, np.sqrt(self.noise), shape), 0.0, 1.0)
