"""``bestofk list problems``: the simulated problems of the lab."""

from __future__ import annotations

from bestofk.cli.listings import Listing, entry_row
from bestofk.papers.lab.problems.registry import PROBLEMS

LISTINGS = (
    Listing(
        name="problems",
        summary="the simulated problems on which tests are measured, for --problem",
        groups=lambda: {"": PROBLEMS.values()},
        facts=lambda entry: [f"draws {entry.draws}"],
        row=entry_row,
        notes=("With settings: --problem 'binary(rows=100, class_probability=0.3)'.",),
    ),
)
