"""The figures of the papers: their numbers, and a picture of each."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from bestofk.cli.app import bestofk
from bestofk.papers.comparison import Request
from bestofk.papers.intervals.experiments import STEPS, scalar_pairs, scalar_pieces
from bestofk.papers.intervals.tables import first_figure, rate_figures
from bestofk.papers.multitest.tables import sample_execution


@pytest.mark.parametrize(
    ("paper", "table", "names"),
    [
        ("multitest", "fig2", {"multitest-fig-2"}),
        ("intervals", "fig1", {"intervals-fig-1"}),
    ],
)
def test_commands_write_figures(tmp_path, paper, table, names):
    arguments = ["papers", "reproduce", paper, "--table", table, "--figures", str(tmp_path)]
    done = CliRunner().invoke(bestofk, arguments)
    assert done.exit_code == 0, done.output
    narrow = {f"{name}-narrow" for name in names}
    assert {path.stem for path in tmp_path.glob("*.svg")} == names | narrow
    for path in tmp_path.glob("*.svg"):
        ElementTree.fromstring(path.read_text())


def test_the_sample_execution_of_multitest_is_that_of_the_paper():
    facts, _ = sample_execution()
    assert facts.agrees.all()
    # edges 1>2, 1>3, 1>4 and 2>3, counted at their first and second ends
    assert "lead 3, 1, 0, 0 edges, and into them 0, 1, 2, 1." in facts.note


def test_trapped_repetitions_move_the_mean_and_not_the_interquartile_range():
    (table,), _ = first_figure(0)
    means, ranges = table.ours
    assert means[4] > 0.05  # the means do not differ
    assert ranges[5] < 0.05  # the typical errors do, whatever the errors inside the ranges


def test_rate_figures_show_ours_and_the_print():
    evidence = scalar_pieces(
        "plain", Request(runs=1), steps=tuple(range(len(STEPS))), simulations=2
    )
    verdicts = scalar_pairs(evidence, "named")
    figures = rate_figures("2", verdicts, "named")
    assert set(figures) == {"Fig. 2, left", "Fig. 2, right"}
    words = "".join(ElementTree.fromstring(figures["Fig. 2, left"][0]).itertext())
    assert "t, published" in words
    assert "Bootstrap-A" in words


def test_the_averages_of_three_runs_of_three_folds():
    from bestofk.papers.calibrated.tables import EXAMPLE, first_figure as averages
    from bestofk.papers.stats import repeated_kfold_t

    plain, ordered = averages()
    assert np.allclose(plain.ours[:3, 3], EXAMPLE.mean(axis=1))
    # the tests use these averages as samples: the same estimate, and the variance of the averages
    zeros = np.zeros_like(EXAMPLE)
    for name, sample in (("runs", plain.ours[3, :3]), ("sorted-runs", ordered.ours[3, :3])):
        result = repeated_kfold_t(EXAMPLE, zeros, variant=name)
        t = sample.mean() / (sample.std(ddof=1) / np.sqrt(len(sample)))
        assert np.isclose(float(result.statistic), t)
