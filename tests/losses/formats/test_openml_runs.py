"""OpenML runs as files."""

import shutil
from pathlib import Path

import pytest

import bestofk as bk


def test_two_runs_of_the_server_by_fold(golden, tmp_path):
    """The means are the overall values that the server states for run 100, to six digits."""
    text = golden("openml/run_100.xml").read_text()
    for flow in ("one", "two"):
        (tmp_path / flow).mkdir()
        other = text.replace("weka.BayesNet_K2(1)", flow)
        (tmp_path / flow / "description.xml").write_text(other)
    with pytest.raises(bk.TableError, match="metric='predictive_accuracy'"):
        bk.read_losses(tmp_path)
    losses = bk.read_losses(tmp_path, metric="root_mean_squared_error")
    assert losses.learners == ("one", "two")
    assert losses.datasets == ("optdigits",)
    assert losses.means()["one"] == pytest.approx(0.117387, rel=0.01)
    assert not losses.metric.higher_is_better


def test_predictions_are_judged_by_fold(golden):
    """Counted by hand in predictions.arff of the tree: 12 of 13 right in the first fold."""
    losses = bk.read_losses(golden("openml/runs"))
    assert losses.values[0, 0, 0, 0, 0] == pytest.approx(1 / 13)
    assert losses.design.folds == 4


def test_numbers_are_judged_by_their_distance(tmp_path):
    for name, at in (("a", 1.0), ("b", 2.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "predictions.arff").write_text(
            "@relation openml_task_5_predictions\n@attribute repeat numeric\n"
            "@attribute fold numeric\n@attribute row_id numeric\n@attribute prediction numeric\n"
            f"@attribute truth numeric\n@data\n0,0,1,{at},0\n0,1,2,{at},0\n"
        )
    losses = bk.read_losses(tmp_path)
    assert losses.means() == {"a": 1.0, "b": 2.0}


def test_a_learning_curve_is_refused(golden, tmp_path):
    path = Path(shutil.copy(golden("openml/runs/tree/predictions.arff"), tmp_path))
    text = path.read_text().replace("0,1,0,", "0,1,1,")
    path.write_text(text)
    with pytest.raises(bk.TableError, match="learning curve"):
        bk.read_losses(path)


def test_entities_are_not_expanded(golden, tmp_path):
    path = tmp_path / "description.xml"
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    path.write_text(bomb + golden("openml/run_100.xml").read_text())
    with pytest.raises(bk.TableError, match="document type is not supported"):
        bk.read_losses(path)


def test_the_json_of_a_run_is_refused_with_what_to_download(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"run": {"run_id": "1", "flow_name": "x", "output_data": {}}}')
    with pytest.raises(bk.TableError, match=r"OpenML run as JSON.*XML.*predictions\.arff"):
        bk.read_losses(path)
