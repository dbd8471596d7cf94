"""Quality against cost: scales, and models of which nothing is known."""

from dataclasses import replace

import pytest

import bestofk as bk
from bestofk.errors import ArgumentError
from bestofk.report.figures import paint
from bestofk.report.figures.kinds.cost_frontier import known_cost, layout_frontier


@pytest.fixture
def choice():
    return bk.choose_model(bk.evals.example_evals("inspect-sums"), prefer="tokens")


def with_costs(choice, *costs):
    held = dict(zip(choice.scores.learners, costs, strict=True))
    unknown = dict.fromkeys(held, float("nan"))
    return replace(choice, costs={"cost": unknown, "tokens": held, "latency": unknown})


def test_costs_far_apart_stand_on_a_logarithmic_scale(choice):
    assert layout_frontier(with_costs(choice, 500, 3, 1)).picture.x_scale.kind == "log"
    assert layout_frontier(with_costs(choice, 5, 3, 1)).picture.x_scale.kind == "linear"
    assert layout_frontier(with_costs(choice, 5, 0, 0)).picture.x_scale.kind == "linear"
    assert layout_frontier(with_costs(choice, 2, 2, 2)).frontier == ("mockllm/large",)


def test_a_model_without_a_cost_has_no_point(choice):
    nan = float("nan")
    found = layout_frontier(with_costs(choice, nan, 3, 1))
    assert found.names == ("mockllm/small", "mockllm/medium")
    nobody = with_costs(choice, nan, nan, 1)
    assert known_cost(nobody) is None
    with pytest.raises(ArgumentError, match="fewer than two"):
        layout_frontier(nobody)


def test_it_can_be_drawn(choice):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ax = paint(layout_frontier(choice).picture)
    assert "mockllm/medium" in {text.get_text() for text in ax.texts}
    pyplot.close(ax.figure)
