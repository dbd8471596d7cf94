"""The simulations in pieces that a store keeps: one draw of winners at one dp, 100 simulations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestofk.checks import Floats
from bestofk.papers.account import Request
from bestofk.papers.intervals.evidence import (
    RANGE_COLUMNS,
    READINGS,
    RESAMPLES,
    SCALAR_COLUMNS,
    Ranges,
    Scalar,
    range_evidence,
    scalar_evidence,
)
from bestofk.papers.intervals.simulation import (
    STEPS,
    WonErrors,
    draw_problem,
    problem_of,
    simulate,
    simulate_means,
    simulate_null,
)
from bestofk.papers.kept_work import Block, obtain
from bestofk.papers.printed_figures import printed_table

SIMULATIONS = 100
DETAIL = 0.03
"""The dp that Tables 1, 3 and 5 show."""
VERSION = 1
"""Changes whenever the same names would give other numbers."""
KINDS = ("plain", "outliers", "copied", "table 1", "table 1 copied", "null")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One piece of work.

    `kind` is ``"plain"`` (section 4.1.3), ``"outliers"`` (4.1.4), ``"copied"`` (plain, but all
    five algorithms with one result a fold), ``"table 1"`` or ``"table 1 copied"`` (the winners
    and sizes of the printed Table 1) or ``"null"``.
    """

    kind: str
    seed: int
    draw: int
    step: int = 0
    simulations: int = SIMULATIONS

    @property
    def block(self) -> Block:
        """Under which name a store keeps it."""
        return Block(
            work=f"intervals {self.kind} {VERSION} {RESAMPLES}",
            data=f"seed {self.seed}, {self.simulations} simulations, dp {STEPS[self.step]}",
            settings=",".join(READINGS),
            number=self.draw,
        )


def run_piece(piece: Piece) -> Floats:
    """P-values of all tests on all simulations of a piece, side by side."""
    place = KINDS.index(piece.kind)
    rng = np.random.default_rng([piece.seed, place, piece.draw, piece.step])
    if piece.kind == "null":
        return scalar_evidence(simulate_null(piece.simulations, rng), rng).packed()
    dp = STEPS[piece.step]
    problem = printed_problem() if piece.kind.startswith("table 1") else draw_problem(dp, rng)
    if piece.kind != "outliers":
        repetitions = {"repetitions": 1} if piece.kind.endswith("copied") else {}
        means = simulate_means(problem, piece.simulations, rng, **repetitions)
        return scalar_evidence(means, rng).packed()
    losses = simulate(problem, piece.simulations, rng, outliers=True)
    medians = np.median(losses, axis=-1).mean(axis=-1)
    parts = [
        scalar_evidence(losses.mean(axis=(-2, -1)), rng).packed(),
        scalar_evidence(medians, rng).packed(),
    ]
    parts += [range_evidence(losses, reading, rng).packed() for reading in READINGS]
    return np.column_stack(parts)


def printed_problem() -> WonErrors:
    """The winners and sizes of test sets of the printed Table 1."""
    theoretical = printed_table("intervals", "1", "theoretical")
    sizes = printed_table("intervals", "1", "n_t")
    winners = theoretical.values[:-1].argmin(axis=1)
    return problem_of(DETAIL, winners, sizes.values[:-1, 0].astype(np.int64))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outliers:
    """Evidence with outliers: on means, on medians over repetitions, and by Bootstrap-B."""

    means: Scalar
    medians: Scalar
    ranges: dict[str, Ranges]


def scalar_pieces(
    kind: str, request: Request, *, steps: tuple[int, ...], simulations: int = SIMULATIONS
) -> Scalar:
    """Evidence of shape (draws, steps, simulations, ...) for every draw that is asked for."""
    return Scalar.unpacked(_obtained(kind, request, steps, simulations))


def outlier_pieces(
    request: Request, *, steps: tuple[int, ...], simulations: int = SIMULATIONS
) -> Outliers:
    """The same with outliers."""
    columns = _obtained("outliers", request, steps, simulations)
    cuts = np.cumsum([SCALAR_COLUMNS] * 2 + [RANGE_COLUMNS] * (len(READINGS) - 1))
    means, medians, *ranges = np.split(columns, cuts, axis=-1)
    return Outliers(
        means=Scalar.unpacked(means),
        medians=Scalar.unpacked(medians),
        ranges={name: Ranges.unpacked(part) for name, part in zip(READINGS, ranges, strict=True)},
    )


def _obtained(kind: str, request: Request, steps: tuple[int, ...], simulations: int) -> Floats:
    draws = request.runs or 1
    pieces = [
        Piece(kind=kind, seed=request.seed, draw=draw, step=step, simulations=simulations)
        for draw in range(draws)
        for step in steps
    ]
    arrays = obtain(
        [piece.block for piece in pieces],
        run_piece,
        pieces,
        store=request.store,
        jobs=request.jobs,
        say=lambda line: request.say(f"{kind}: {line}"),
    )
    return np.stack(arrays).reshape(draws, len(steps), simulations, -1)
