"""Quality against cost: scales, unknown costs, and the frontier of a study."""

from dataclasses import replace

import numpy as np
import pytest

import bestofk as bk
import bestofk.evals
from bestofk._base.errors import ArgumentError
from bestofk.report.figures import draw, figure_kinds
from bestofk.report.figures.kinds.cost_frontier import known_cost, layout_frontier
from bestofk.run.study import Cost


@pytest.fixture
def choice():
    return bk.compare_evals(bestofk.evals.example_evals("inspect-sums"), prefer="tokens").outcome


def with_costs(choice, *costs):
    tokens = dict(zip(choice.scores.models, costs, strict=True))
    unknown = dict.fromkeys(tokens, float("nan"))
    return replace(choice, costs={"cost": unknown, "tokens": tokens, "latency": unknown})


def test_costs_far_apart_are_drawn_on_a_logarithmic_scale(choice):
    assert layout_frontier(with_costs(choice, 500, 3, 1)).x_scale.kind == "log"
    assert layout_frontier(with_costs(choice, 5, 3, 1)).x_scale.kind == "linear"
    assert layout_frontier(with_costs(choice, 5, 0, 0)).x_scale.kind == "linear"
    assert layout_frontier(with_costs(choice, 2, 2, 2)).alt.endswith("frontier: mockllm/large.")


def test_a_model_without_a_cost_has_no_point(choice):
    nan = float("nan")
    words = [words.text for words in draw(with_costs(choice, nan, 3, 1), "frontier").words]
    names = [text for text in words if text.startswith("mockllm")]
    assert names == ["mockllm/small", "mockllm/medium"]
    unknown = with_costs(choice, nan, nan, 1)
    assert known_cost(unknown) is None
    with pytest.raises(ArgumentError, match="needs the costs of at least two"):
        bk.Result(unknown).plot("frontier")


@pytest.mark.parametrize("scores", [False, True])
def test_learners_of_a_study_by_what_they_cost(scores):
    """By hand: b costs more than a and is worse; c costs the most and is the best."""
    rng = np.random.default_rng(0)
    values = np.array([0.3, 0.35, 0.1])[:, None, None] + 0.01 * rng.random((3, 5, 4))
    values = 1 - values if scores else values
    losses = bk.Scores(values, learners=["a", "b", "c"], higher_is_better=scores)
    costs = {
        "a": Cost(fit_time=0.002, predict_time=0.001, size=None),
        "b": Cost(fit_time=0.004, predict_time=0.001, size=2e6),
        "c": Cost(fit_time=0.5, predict_time=0.002, size=9e6),
    }
    small = bk.compare(["max", "nmc"], "iris", cv="5x2", progress=False).outcome
    study = replace(small, decision=bk.compare_scores(losses).outcome, losses=losses, costs=costs)
    picture = layout_frontier(study)
    assert "on the frontier: a, c." in picture.alt
    points = [shape for shape in picture.shapes if getattr(shape, "radius", 0) == 3.4]
    assert [point.fill == "paper" for point in points] == [False, True, False]
    assert [picture.x_scale.data(point.x) for point in points] == pytest.approx([2, 4, 500])
    assert any(word.text == "time to fit, ms" for word in picture.words)
    means = [picture.y_scale.data(point.y) for point in points]
    assert means == pytest.approx(values.mean(axis=(1, 2)))
    size = replace(
        study, decision=bk.compare_scores(losses, prefer={"a": 0.0, "b": 1.0, "c": 2.0}).outcome
    )
    preference = replace(size.decision.preference, kind="measured", words="size")
    size = layout_frontier(replace(size, decision=replace(size.decision, preference=preference)))
    assert size.alt.startswith("2 learners by size")
    assert "Not drawn, because the cost is unknown: a." in size.note
    assert any(word.text == "size of the fitted model, MB" for word in size.words)
    unknown = dict.fromkeys("abc", Cost(fit_time=None, predict_time=None, size=None))
    assert "frontier" in figure_kinds(study)
    assert "frontier" not in figure_kinds(replace(study, costs=unknown))
