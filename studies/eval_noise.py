"""Noise between runs: predicted and realised spread, on simulated and on published agents.

Usage: python studies/eval_noise.py [--agents 400] [--seed 0]
"""

from __future__ import annotations

import argparse
from math import sqrt

import numpy as np

from judge_claims import as_evals

TASKS = (50, 114, 500)
EPOCHS = 4
RUNS = 2000
"""Further runs of each agent, whose spread is the realised one."""
SHAPES = {"even": (1.0, 1.0), "mostly sure": (0.4, 0.4), "rarely right": (0.5, 2.0)}
"""Parameters of the beta distribution of an agent's chance to solve a task."""

AIRLINE = """
0000 0100 0010 0000 0000 0100 1000 0010 0000 0000 0000 1000 1111 0110 0000 0011 0001 0001 1111 0000
1111 0111 0000 0000 1111 0000 1010 0110 0000 1000 0101 1001 0000 0000 1101 1111 1111 0111 1111 1000
1101 0101 1111 1000 1010 1001 0110 0100 1111 1111
"""
"""Rewards of gpt-4o in four trials of 50 airline tasks: github.com/sierra-research/tau-bench (MIT),
historical_trajectories/gpt-4o-airline.json, commit 59a200c."""
PUBLISHED = {
    "gpt-4o, airline": (50, 0.420, 0.273, (0.42, 0.44, 0.40, 0.42)),
    "sonnet-3.5, airline": (50, 0.460, 0.326, (0.50, 0.40, 0.44, 0.48, 0.46, 0.46, 0.42, 0.52)),
    "gpt-4o, retail": (115, 0.604, 0.491, (0.617, 0.617, 0.600, 0.583)),
    "sonnet-3.5, retail": (
        115, 0.692, 0.576, (0.730, 0.704, 0.704, 0.687, 0.704, 0.609, 0.748, 0.652)
    ),
}  # fmt: skip
"""Tasks, pass^1 and pass^2 (README of tau-bench), and the score of each trial (its issue 57)."""


def airline() -> np.ndarray:
    """Return the published rewards (tasks, trials)."""
    return np.array([[float(reward) for reward in trials] for trials in AIRLINE.split()])


def simulated(shape: str, tasks: int, agents: int, rng: np.random.Generator) -> np.ndarray:
    """Return predicted and realised spread and flip rate of each agent (agents, 4)."""
    rows = []
    for _ in range(agents):
        chance = rng.beta(*SHAPES[shape], size=tasks)
        noise = as_evals((rng.random((EPOCHS, tasks)) < chance).T[np.newaxis] * 1.0, 0).noise()
        means = (rng.random((RUNS, tasks)) < chance).mean(axis=1)
        flips = 2.0 * (chance * (1.0 - chance)).mean()
        (one,) = noise.models
        rows.append((one.sd, means.std(ddof=1), one.flip_rate, flips))
    return np.array(rows)


def spread_ratio() -> float:
    """Return the realised over the predicted spread of the published agents, pooled by variance.

    The mean variance between the answers to a task is pass^1 - pass^2.
    """
    total = freedom = 0.0
    for tasks, once, twice, trials in PUBLISHED.values():
        variance = (once - twice) / tasks
        total += (len(trials) - 1) * np.var(trials, ddof=1) / variance
        freedom += len(trials) - 1
    return sqrt(total / freedom)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for number, shape in enumerate(SHAPES):
        for tasks in TASKS:
            rng = np.random.default_rng([options.seed, number, tasks])
            sd, realised, flips, true = simulated(shape, tasks, options.agents, rng).T
            ratio = sd / realised
            print(
                f"{shape}, {tasks} tasks: predicted / realised spread {np.mean(ratio):.3f}, "
                f"within 10 % in {100 * np.mean(abs(ratio - 1) < 0.1):.0f} %; flip rate "
                f"{100 * np.mean(flips):.1f} and {100 * np.mean(true):.1f} %",
                flush=True,
            )
    print(f"Published agents: realised / predicted spread {spread_ratio():.3f}")
    for name, (tasks, once, twice, _) in PUBLISHED.items():
        needed = 1.96 * sqrt(2 * (once - twice) / tasks)
        print(f"{name}, {tasks} tasks: two single runs must differ by {100 * needed:.1f} points")
    print(as_evals(airline()[np.newaxis], 0).noise().explain())


if __name__ == "__main__":
    main()
