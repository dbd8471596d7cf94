"""Random bits that mean the same on every machine and with every version of numpy.

numpy keeps the streams of its bit generators and of SeedSequence fixed, but not the methods of
Generator (`permutation`, `shuffle`, `integers`). So only `PCG64.random_raw` is used, and what is
made of the bits (sorting rows by a random key, remainders) is written out here and in the
neighbouring modules. Run r has a stream of its own, so it does not depend on how many runs
there are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from bestofk.checks import RandomState, refuse, whole

Keys = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

# Part of every seed: changing one of these numbers changes every plan of that sort.
FOLDS, RANDOM_SPLITS, BOOTSTRAP, HALVES = 1, 2, 3, 4

_BLOCK = 1 << 22
"""Random keys held at once (32 MiB)."""


def seed_of(random_state: RandomState) -> int:
    """The whole number that fixes a plan: given, drawn from a Generator, or fresh for None."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.bit_generator.random_raw())
    if random_state is None:
        entropy = np.random.SeedSequence().entropy
        assert isinstance(entropy, int)
        return entropy
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return whole(random_state, "random_state", at_least=0)
    raise refuse("random_state", "a whole number, a numpy Generator or None", random_state)


def raw_keys(seed: int, purpose: int, number: int, width: int, *, skip: int = 0) -> Keys:
    """`width` raw 64-bit keys of stream `number`, after the first `skip` of them."""
    stream = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(purpose, number)))
    return stream.random_raw(skip + width)[skip:]


def seed_within(seed: int, purpose: int, *numbers: int) -> int:
    """The seed of one of several plans that a plan holds."""
    stream = np.random.SeedSequence(seed, spawn_key=(purpose, *numbers))
    return int(stream.generate_state(1, np.uint64)[0])


def blocks_of_keys(seed: int, purpose: int, count: int, width: int) -> Iterator[tuple[slice, Keys]]:
    """The keys of streams 0 to `count` - 1, one row each, a block of rows at a time."""
    step = max(1, _BLOCK // max(width, 1))
    for start in range(0, count, step):
        stop = min(start + step, count)
        keys = np.empty((stop - start, width), dtype=np.uint64)
        for number in range(start, stop):
            keys[number - start] = raw_keys(seed, purpose, number, width)
        yield slice(start, stop), keys


def ranks(keys: Keys) -> Indices:
    """The rank of every key in its row, from 0; ties (one in 2^64) go to the left one."""
    order = np.argsort(keys, axis=1, kind="stable")
    out = np.empty_like(order)
    np.put_along_axis(out, order, np.arange(keys.shape[1])[None, :], axis=1)
    return out


def shuffled_within(keys: Keys, place: Indices, n_places: int) -> Indices:
    """In every row, the positions sorted by place and shuffled inside each place.

    `place` (broadcast against `keys`) holds numbers from 0 to `n_places` - 1. They take the top
    bits of the key and the random bits move down, so that one sort does both; a stable sort, so
    that the result is the same everywhere.
    """
    bits = (n_places - 1).bit_length()
    if bits:
        top = place.astype(np.uint64) << np.uint64(64 - bits)
        keys = (keys >> np.uint64(bits)) | top
    return np.argsort(keys, axis=1, kind="stable")
