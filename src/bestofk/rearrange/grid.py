"""Values on whole steps, where they have any: sums of whole numbers tie when they should."""

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
MEET_WORK = 2**18
FINEST_UNIT = 2.0**-17
"""A common unit below this share of the root of the sum of squares makes no difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Rows of values in whole steps, block by block.

    Attributes
    ----------
    positions : ndarray, shape (rows, blocks)
        The steps. Only differences inside a block mean anything.
    slack : float
        Sums that differ by at most so many steps are ties.
    count : {"meet", "convolve", "invert"}
        How the distribution of sums is to be had from here.
    exact : bool
        Whether the steps are whole numbers that stand for the values without rounding.
    """

    positions: Whole | Floats
    slack: float = 0
    count: Literal["meet", "convolve", "invert"]
    exact: bool = True


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


def place(values: Floats, *, choices: int, queries: int, tables: int = 1) -> Placement:
    """Steps for `values` of shape (rows, blocks), whole ones wherever the values allow.

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

    Notes
    -----
    In this order: values that share a unit (error rates of test sets whose sizes have a small
    common multiple) become multiples of it and are convolved; few blocks are counted out by
    meeting in the middle, sums within rounding noise being ties; of all else the transform is
    inverted, for multiples of a unit without rounding.
    """
    heights, noise = levelled(values)
    reach = heights.max(axis=0)
    blocks = int((reach > 0).sum())
    if blocks == 0:
        still = np.zeros(heights.shape, dtype=np.int64)
        return Placement(positions=still, count="convolve")
    meet_work = choices ** ((blocks + 1) // 2) * queries
    most = LATTICE_WORK // (choices * blocks * tables)
    unit = common_unit(
        heights[heights > 0],
        smallest=min(
            float(reach.sum()) / max(most, 1), FINEST_UNIT * float(np.sqrt(reach @ reach))
        ),
        noise=noise,
    )
    if unit is not None:
        positions = np.rint(heights / unit).astype(np.int64)
        length = int(positions.max(axis=0).sum())
        lattice_work = choices * blocks * length // 128
        if length <= most and (meet_work > MEET_WORK or lattice_work <= meet_work):
            return Placement(positions=positions, count="convolve")
        if meet_work > MEET_WORK:
            return Placement(positions=positions, count="invert")
    if meet_work <= MEET_WORK:
        positions = np.rint(heights / noise).astype(np.int64)
        return Placement(positions=positions, slack=TIE * blocks, count="meet")
    return Placement(positions=heights, slack=TIE * blocks * noise, count="invert", exact=False)


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


def _exponent(values: Floats) -> int:
    largest = float(np.abs(values).max(initial=0.0))
    return int(np.frexp(largest)[1]) + 1 if largest > 0 else 0
