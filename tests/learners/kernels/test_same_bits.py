"""Every processor variant gives the same bits, with one thread and with several.

For another compiler see test_build.py.
"""

import json
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bestofk.learners.kernels import library

sys.path.insert(0, str(Path(__file__).parent))
from fingerprint_runs import fingerprints_of

HERE = Path(__file__).parent


def test_predictions_are_those_that_are_stored(fork_server) -> None:
    # source: see the file
    stored = json.loads((HERE / "fingerprints.json").read_text(encoding="utf-8"))
    assert fingerprints_of("generic", server=fork_server)["stored"] == stored["stored"]


@pytest.mark.parametrize("variant", ["x86-64-v3", "x86-64-v4"])
def test_every_kind_of_processor_gives_the_same_bits(variant: str, fork_server) -> None:
    if variant not in library.variants():
        pytest.skip(f"this processor or this build has no {variant}")
    assert fingerprints_of(variant, server=fork_server) == fingerprints_of(
        "generic", server=fork_server
    )


def test_threads_do_not_disturb_one_another() -> None:
    import fingerprints

    from bestofk.learners.specification import parse_learner
    from bestofk.splits.plans import plan

    def ask(seed: int) -> list[str]:
        data = fingerprints.drawn_data(seed)
        splits = plan("3x2", stratified=False, random_state=seed).materialise(data.n)
        hashes = []
        for spec in (spec for spec in fingerprints.LEARNERS if fingerprints.suits(spec, data)):
            learner = parse_learner(spec)[1]
            model = learner.fit_encoded(data)
            numbers = fingerprints.fitted_numbers(model)
            if hasattr(model, "_proba_encoded"):
                numbers.append(model._proba_encoded(data.values))
            hashes.append(
                fingerprints.hash_of(fingerprints.predicted(learner, data, splits) + numbers)
            )
        return hashes

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seeds = fingerprints.SETS[:8]  # every kind of column, with and without missing cells
        alone = [ask(seed) for seed in seeds]
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(ask, seeds)) == alone
