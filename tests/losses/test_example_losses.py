import numpy as np

from bestofk.losses import read_scores

LEARNERS = (
    "dummy", "nearest-centroid", "gaussian-nb", "decision-tree", "1-nn", "logistic-regression",
)  # fmt: skip


def test_breast_cancer():
    losses = read_scores("breast-cancer-10x10")
    assert losses.learners == LEARNERS
    assert losses.datasets == ("breast-cancer",)
    assert (losses.design.kind, losses.design.runs, losses.design.folds) == ("cv", 10, 10)
    assert losses.design.stratified
    n_test = np.reshape(losses.design.n_test, (10, 10))
    assert (n_test.sum(axis=1) == 569).all()  # the rows of the data set
    # whole numbers of mistakes; the dummy errs on the 212 malignant rows in every run
    mistakes = losses.losses[:, 0, :, :, 0] * n_test
    assert np.allclose(mistakes, mistakes.round(), atol=1e-9)
    assert np.allclose(mistakes[0].sum(axis=1), 212)
    assert min(losses.means(), key=losses.means().get) == "logistic-regression"


def test_example_names_are_read_unless_a_file_exists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(read_scores("digits-5x2").learners) == 6
    (tmp_path / "digits-5x2").write_text("model,error\na,1\n")
    assert read_scores("digits-5x2").learners == ("a",)


def test_digits():
    losses = read_scores("digits-5x2")
    assert losses.learners == LEARNERS
    assert losses.design.situations(n_datasets=1)[0] == "5x2"
    assert (np.reshape(losses.design.n_test, (5, 2)).sum(axis=1) == 1797).all()
