"""Quality against cost: scales, and models without known costs."""

from dataclasses import replace

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk.report.figures import figure_kinds, paint
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


@pytest.mark.parametrize("scores", [False, True])
def test_learners_of_a_study_by_what_they_cost(scores):
    """By hand: b is dearer than a and no better; c is the dearest, and the best."""
    from bestofk.run.study import Cost, Study

    rng = np.random.default_rng(0)
    values = np.array([0.3, 0.35, 0.1])[:, None, None] + 0.01 * rng.random((3, 5, 4))
    losses = bk.Losses(
        1 - values if scores else values, algorithms=["a", "b", "c"], higher_is_better=scores
    )
    costs = {
        "a": Cost(fit_time=0.002, predict_time=0.001, size=None),
        "b": Cost(fit_time=0.004, predict_time=0.001, size=2e6),
        "c": Cost(fit_time=0.5, predict_time=0.002, size=9e6),
    }
    study = Study(decision=bk.order(losses), losses=losses, costs=costs, failures=(), left_out={},
                  plan="", loss="", random_state=0, setting=())  # fmt: skip
    layout = layout_frontier(study)
    assert layout.names == ("a", "b", "c")
    assert layout.frontier == ("a", "c")
    assert layout.costs == pytest.approx((2, 4, 500))
    assert any(word.text == "time to fit, ms" for word in layout.picture.words)
    assert layout.means == pytest.approx([float(m) for m in (1 - values if scores else values)
                                          .mean(axis=(1, 2))])  # fmt: skip
    # the better is higher up for a score, lower down for a loss: as its own axis says
    heights = [y for _, y in layout.points]
    assert (heights[2] < heights[0]) == scores
    size = layout_frontier(study, cost="size")
    assert size.names == ("b", "c")
    assert "Not drawn, since the cost is not known: a." in size.picture.note
    assert any(word.text == "size of the fitted model, MB" for word in size.picture.words)
    with pytest.raises(ArgumentError, match="cost must be one of 'fit_time', 'predict_time', 's"):
        layout_frontier(study, cost="price")
    nothing = dict.fromkeys("abc", Cost(fit_time=None, predict_time=None, size=None))
    with pytest.raises(ArgumentError, match="the costs of fewer than two learners were measured"):
        layout_frontier(replace(study, costs=nothing))
    assert "frontier" in figure_kinds(study)
    assert "frontier" not in figure_kinds(replace(study, costs=nothing))
