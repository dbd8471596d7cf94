"""Values on whole steps: sums of whole numbers tie exactly when they should."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats

Whole = npt.NDArray[np.int64]

NOISE = 2.0**-50
"""What a mean of losses may be wrong by, as a share of the largest of them."""
TIE = 4
"""Sums of n terms are ties when they differ by at most so many times n noises."""
SNAP = 2.0**-48
LATTICE_WORK = 2**28
MEET_WORK = 2**22
GRID_WORK = 2**25
FEWEST_STEPS, MOST_STEPS = 2**14, 2**16


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Rows of values in whole steps, block by block.

    Attributes
    ----------
    positions : ndarray of int, shape (rows, blocks)
        The steps. Only differences inside a block mean anything.
    residuals : ndarray of shape (rows, blocks)
        What rounding took away, in steps, from 0 to below 1; all 0 where nothing was rounded.
    slack : int
        Sums that differ by at most so many steps are ties.
    count : {"meet", "convolve"}
        How the distribution of sums is to be had from here.
    exact : bool
        Whether the steps stand for the values without rounding.
    """

    positions: Whole
    residuals: Floats
    slack: int = 0
    count: Literal["meet", "convolve"]
    exact: bool


def levelled(values: Floats) -> tuple[Floats, float]:
    """Every block from 0 upwards in a unit of its own, and what counts as rounding noise.

    `values` has shape (rows, blocks). The unit is a power of 2, so nothing is rounded by it, and
    no sum can overflow. Within a block, values that differ from the smallest by no more than the
    rounding of a mean become equal to it.
    """
    values = np.ldexp(values, -_exponent(values))
    scale = np.abs(values).max(axis=0)
    heights = values - values.min(axis=0)
    heights[heights <= SNAP * scale] = 0.0
    alive = heights.max(axis=0) > 0
    noise = NOISE * float(scale[alive].max()) if alive.any() else NOISE
    return heights, noise


def place(
    values: Floats, *, choices: int, queries: int, tables: int = 1, steps: int | None = None
) -> Placement:
    """Whole steps for `values` of shape (rows, blocks), exact wherever that is affordable.

    Parameters
    ----------
    values : ndarray of shape (rows, blocks)
        Everything that will be summed or compared with a sum.
    choices : int
        How many values are drawn from in a block.
    queries : int
        How many sums will be asked for.
    tables : int
        How many sets of rows will be drawn from; with many, a fine common unit costs too much.
    steps : int, optional
        Steps of the grid between the smallest and the largest sum where the values have to be
        rounded; 2^14 to 2^16, by the size of the problem, when not given.

    Notes
    -----
    In this order: values that share a unit (error rates of test sets whose sizes have a small
    common multiple) become multiples of it; few blocks are counted out by meeting in the middle,
    sums within rounding noise being ties; all else is rounded to a grid. Rounding is monotone
    inside a block and depends on the values of the block as a set, not on who reached which, so
    a rearrangement test of rounded values keeps its level exactly, and the observed arrangement
    ties with itself.
    """
    heights, noise = levelled(values)
    reach = heights.max(axis=0)
    blocks = int((reach > 0).sum())
    total = float(reach.sum())
    no_residuals = np.zeros_like(heights)
    if blocks == 0:
        still = np.zeros(heights.shape, dtype=np.int64)
        return Placement(positions=still, residuals=no_residuals, count="convolve", exact=True)
    meet_work = choices ** ((blocks + 1) // 2) * queries
    most = max(LATTICE_WORK // (choices * blocks * tables), 1)
    unit = common_unit(heights[heights > 0], smallest=total / most, noise=noise)
    if unit is not None:
        positions = np.rint(heights / unit).astype(np.int64)
        lattice_work = choices * blocks * int(positions.max(axis=0).sum()) // 128
        if meet_work > MEET_WORK or lattice_work <= meet_work:
            return Placement(
                positions=positions, residuals=no_residuals, count="convolve", exact=True
            )
    if meet_work <= MEET_WORK:
        positions = np.rint(heights / noise).astype(np.int64)
        return Placement(
            positions=positions,
            residuals=no_residuals,
            slack=TIE * blocks,
            count="meet",
            exact=True,
        )
    if steps is None:
        steps = min(max(GRID_WORK // (choices * blocks), FEWEST_STEPS), MOST_STEPS)
    positions, residuals = _rounded(heights * (steps / total))
    return Placement(positions=positions, residuals=residuals, count="convolve", exact=False)


def common_unit(heights: Floats, *, smallest: float, noise: float) -> float | None:
    """The largest unit of which all positive `heights` are multiples, or None.

    Euclid's algorithm on floating-point numbers: remainders below a quarter of the smallest unit
    that is of use count as 0, and the unit found is accepted only if it fits every height to
    within `noise`, after a least-squares polish.
    """
    heights = np.unique(heights)
    rest = heights
    unit = float(rest[0])
    while unit >= smallest:
        remainders = np.abs(rest - unit * np.rint(rest / unit))
        remainders = np.unique(remainders[remainders > smallest / 4])
        if remainders.size == 0:
            break
        rest = np.append(remainders, unit)
        unit = float(remainders[0])
    if unit < smallest:
        return None
    multiples = np.rint(heights / unit)
    unit = float(heights @ multiples / (multiples @ multiples))
    fits = np.abs(heights - unit * multiples) <= 4 * noise
    return unit if fits.all() else None


def _rounded(heights: Floats) -> tuple[Whole, Floats]:
    """Whole steps and what is left, the cut of each block in the widest gap between remainders.

    The cut is free, since only differences inside a block count; in the widest gap it keeps the
    remainders of a block close together and never parts two values that are nearly equal.
    """
    fractions = np.sort(heights % 1.0, axis=0)
    gaps = np.diff(fractions, axis=0, append=fractions[:1] + 1.0)
    widest = gaps.argmax(axis=0)[np.newaxis]
    cut = np.take_along_axis(fractions + gaps / 2, widest, axis=0) % 1.0
    moved = heights - cut
    floors = np.floor(moved)
    return floors.astype(np.int64), moved - floors


def _exponent(values: Floats) -> int:
    largest = float(np.abs(values).max(initial=0.0))
    return int(np.frexp(largest)[1]) + 1 if largest > 0 else 0
