import pytest

from bestofk.losses.columns import (
    BATTLE_ROLES,
    EVAL_ROLES,
    LOSS_ROLES,
    PREDICTION_ROLES,
    PRINTED_ROLES,
    direction_of,
    direction_within,
    find,
    role_of,
    split_of,
    splits_among,
)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Algorithm", "learner"), ("learner_name", "learner"),
        ("modelName", "learner"), ("Data Set", "dataset"), ("task_id", "dataset"),
        ("seed", "run"), ("repeat", "run"), ("CV fold", "fold"),
        ("split", "fold"), ("fold_idx", "fold"), ("repetition", "repetition"), ("id", "instance"),
        ("question_id", "instance"), ("train_size", "n_train"),
        ("n_test", "n_test"), ("metric", "metric"), ("date", "time"), ("Unnamed: 0", "index"),
        ("svm", None), ("c4.5", None), ("random forest", None), ("accuracy", None),
        ("foldable", None), ("winner", None), ("best", None), ("Δ", None), ("#", "index"),
    ],
)  # fmt: skip
def test_roles_by_name(name, role):
    assert role_of(name) == role


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("accuracy", "score"), ("test_accuracy", "score"), ("mean_test_roc_auc", "score"),
        ("F1", "score"), ("f1_macro", "score"), ("neg_mean_squared_error", "score"),
        ("neg_log_loss", "score"), ("R2", "score"), ("Percent_correct", "score"), ("BLEU", "score"),
        ("accuracy_score", "score"), ("balanced accuracy", "score"), ("Cohen kappa", "score"),
        ("error", "loss"), ("Error rate", "loss"), ("test_error", "loss"), ("RMSE", "loss"),
        ("log_loss", "loss"), ("Percent_incorrect", "loss"), ("loss", "loss"),
        ("mean_squared_error", "loss"), ("brier_score", "loss"), ("score", "unknown"),
        ("test_score", "score"), ("value", "unknown"), ("mean_test_score", "score"),
        ("reward", "score"), ("correct", "score"), ("perplexity", "loss"), ("result", "unknown"),
        ("svm", None), ("time", None), ("", None),
    ],
)  # fmt: skip
def test_directions(name, direction):
    assert direction_of(name) == direction


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("cifar10_AUC_results", "score"), ("errors", "loss"), ("log_loss", "loss"),
        ("rmse-2024", "loss"), ("llm", None), ("map", None), ("error_scores", None),
    ],
)  # fmt: skip
def test_directions_within_longer_names(name, direction):
    assert (direction_within(name) or (None,))[0] == direction


def test_stated_roles_precede_the_most_reliable_names():
    columns = ["model", "learner", "seed", "run"]
    assert find(columns, LOSS_ROLES) == {"learner": "learner", "run": "run"}
    assert find(columns, LOSS_ROLES, {"learner": "model", "fold": "run"}) == {
        "learner": "model",
        "fold": "run",
        "run": "seed",
    }
    with pytest.raises(ValueError, match="learner and fold must be different columns; got 'run'"):
        find(columns, LOSS_ROLES, {"learner": "run", "fold": "run"})
    with pytest.raises(LookupError, match="no column 'modle' in losses: did you mean 'model'"):
        find(columns, LOSS_ROLES, {"learner": "modle"}, source="losses")


@pytest.mark.parametrize(
    ("roles", "columns", "expected"),
    [
        (LOSS_ROLES, "Model name, task_id, Fold, score", "learner dataset fold -"),
        (EVAL_ROLES, "model, task_id, sample_id, is_correct, run_id", "model item epoch score -"),
        (EVAL_ROLES, "pipeline, question, answer, score, evaluator", "model item - score metric"),
        (EVAL_ROLES, "score_id, result_id, item", "- - item"),
        (BATTLE_ROLES, "id, model_1, model_2, g1_winner, g2_winner", "- model_a model_b winner -"),
        (BATTLE_ROLES, "generator_2, generator_1, preference", "model_b model_a winner"),
        (PRINTED_ROLES, "Name, Top-1 error, Standard deviation", "learner - sd"),
        (PREDICTION_ROLES, "y-true, pred_a, label", "truth - label"),
    ],
)
def test_each_kind_of_table_has_its_roles(roles, columns, expected):
    columns = columns.split(", ")
    pairs = zip(expected.split(), columns, strict=True)
    assert find(columns, roles) == {role: column for role, column in pairs if role != "-"}


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("split12_test_roc_auc", (12, "test_roc_auc")), ("fold3", (3, "")), ("Fold 3", (3, "")),
        ("cv_2", (2, "")), ("cv_fold_7", (7, "")), ("accuracy_fold1", (1, "accuracy")),
        ("fold1_f1", (1, "f1")), ("split4", (4, "")), ("svm", None), ("fold", None),
        ("folds5x", None), ("split0_train_score", None), ("manifold1x", None), ("5", None),
    ],
)  # fmt: skip
def test_names_of_splits(name, split):
    assert split_of(name) == split


def test_a_single_column_is_no_row_of_splits():
    assert splits_among(["fold1", "svm"]) == {}
    assert splits_among(["fold1", "fold2", "fold 1"]) == {}
