"""A scikit-learn estimator that compares learners and uses the recommended one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import check_array, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_is_fitted,
    column_or_1d,
)

from bestofk._base.errors import ArgumentError
from bestofk.data.schema import infer_task, is_sparse, is_whole
from bestofk.run.compare import compare

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from bestofk.decide.result import Result


def _model_has(method: str) -> Any:
    def check(self: BestOfK) -> bool:
        return hasattr(self.model_, method)

    return available_if(check)


def _accepts_sparse(estimator: Any) -> bool:
    try:
        return bool(get_tags(estimator).input_tags.sparse)
    except Exception:
        # a class of another package need not have tags
        return False


class BestOfK(BaseEstimator):  # type: ignore[misc]
    """Compare learners, and predict with the recommended one, fitted on all rows.

    Parameters
    ----------
    learners : list or mapping, optional
        As for `bestofk.compare`.
    columns, cv, scoring, prefer, margin, alpha, test, stop, budget, timeout, n_jobs, \
random_state, settings, execution
        As for `bestofk.compare`.
    task : {"auto", "classification", "regression"}
        Whether the target holds labels or numbers. Auto: as the learners tell, or else as the
        values of the target tell.

    Attributes
    ----------
    result_ : Result
        The comparison; ``result_.explain()`` says why the learner was chosen.
    recommended_ : str
        The name of the learner.
    model_ : Pipeline
        The recommended learner, fitted on all rows (`Result.fit_recommended`).
    classes_ : ndarray
        The labels, for a classification.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    A score on rows that trained the model is too good. Cross-validate the whole estimator
    (``cross_val_score(BestOfK(...), X, y)``) to measure it together with its choice.

    Examples
    --------
    >>> import bestofk as bk
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = bk.BestOfK({"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=1)},
    ...                    cv="5x2").fit(X, y)
    >>> model.recommended_, model.predict(X[:2]).tolist()
    ('bayes', [0, 0])
    """

    result_: Result
    model_: Pipeline

    def __init__(
        self,
        learners: Any = None,
        *,
        cv: Any = None,
        scoring: Any = None,
        prefer: Any = None,
        margin: float | None = None,
        alpha: float = 0.05,
        test: Any = "auto",
        stop: Any = None,
        budget: float | None = None,
        timeout: float | None = None,
        n_jobs: int = -1,
        random_state: int = 0,
        task: str = "auto",
        columns: Any = None,
        settings: Any = None,
        execution: Any = None,
    ) -> None:
        self.learners = learners
        self.cv = cv
        self.scoring = scoring
        self.prefer = prefer
        self.margin = margin
        self.alpha = alpha
        self.test = test
        self.stop = stop
        self.budget = budget
        self.timeout = timeout
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.task = task
        self.columns = columns
        self.settings = settings
        self.execution = execution

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Compare the learners and fit the recommended one on all rows.

        Parameters
        ----------
        X : array, data frame, sparse matrix or texts
            As for `bestofk.compare`.
        y : array of shape (n,)
            Labels or numbers.
        groups, sample_weight : array of shape (n,), optional
            As for `bestofk.compare`.
        """
        rows = self._checked(X, reset=True)
        if y is None:
            raise ArgumentError("BestOfK requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, warn=True)
        if sample_weight is not None and not np.asarray(sample_weight).any():
            raise ArgumentError("sample_weight must be above zero in some rows.")
        task = self._known_task() or infer_task(labels, "auto")[0]
        if task == "classification":
            check_classification_targets(labels)
        elif labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ArgumentError("Input y contains NaN or infinity.")
        self.result_ = compare(
            self.learners, rows, labels, columns=self.columns,
            cv=self.cv, scoring=self.scoring, groups=groups, sample_weight=sample_weight,
            prefer=self.prefer, margin=self.margin, alpha=self.alpha, test=self.test,
            stop=self.stop, budget=self.budget, timeout=self.timeout, n_jobs=self.n_jobs,
            random_state=self.random_state, progress=False, settings=self.settings,
            execution=self.execution, task=task,
        )  # fmt: skip
        self.model_ = self.result_.fit_recommended()
        self.recommended_ = self.result_.recommended
        if task == "classification":
            self.classes_ = np.asarray(np.unique(labels))
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the predictions of the recommended learner."""
        check_is_fitted(self, "model_")
        predicted: npt.NDArray[Any] = np.asarray(self.model_.predict(self._checked(X)))
        return predicted

    @_model_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Return class probabilities, with columns in the order of `classes_`."""
        check_is_fitted(self, "model_")
        return np.asarray(self.model_.predict_proba(self._checked(X)))

    @_model_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Return the decision values of the recommended learner."""
        check_is_fitted(self, "model_")
        return np.asarray(self.model_.decision_function(self._checked(X)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of labels, or R2 of numbers."""
        from sklearn.metrics import accuracy_score, r2_score

        metric = accuracy_score if hasattr(self, "classes_") else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))

    def _checked(self, X: Any, *, reset: bool = False) -> Any:
        """Check names and number of columns as scikit-learn does, and return the rows."""
        fewest = 2 if reset else 1
        if is_sparse(X):
            accepts = get_tags(self).input_tags.sparse
            X = check_array(
                X,
                accept_sparse="csr" if accepts else False,
                accept_large_sparse=False,
                ensure_min_samples=fewest,
                estimator=self,
            )
        elif not is_whole(X) and not hasattr(X, "columns"):
            X = check_array(
                X,
                dtype=None,
                ensure_all_finite="allow-nan" if np.asarray(X).dtype.kind in "fiub" else False,
                ensure_min_samples=fewest,
                estimator=self,
            )
        if not hasattr(X, "columns") or reset:
            _check_feature_names(self, X, reset=reset)
        if getattr(X, "ndim", 1) == 2 and (reset or not hasattr(X, "columns")):
            _check_n_features(self, X, reset=reset)
        return X

    def _known_task(self) -> str | None:
        """Return the task that was stated, or that all learners are for; None if unknown."""
        if self.task != "auto":
            return self.task
        estimators = self._estimators()
        for check, task in ((is_classifier, "classification"), (is_regressor, "regression")):
            if estimators and all(map(check, estimators)):
                return task
        return None

    def _estimators(self) -> list[Any]:
        """Return the learners if all are estimators; else none."""
        learners = self.learners
        if isinstance(learners, Mapping):
            learners = list(learners.values())
        if not isinstance(learners, list | tuple):
            return []
        estimators = [one[1] if isinstance(one, tuple) else one for one in learners]
        return estimators if all(hasattr(one, "fit") for one in estimators) else []

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        task = self._known_task()
        if task is None and hasattr(self, "model_"):
            task = "classification" if hasattr(self, "classes_") else "regression"
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        estimators = self._estimators()
        tags.input_tags.sparse = bool(estimators) and all(map(_accepts_sparse, estimators))
        if task == "classification":
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        elif task == "regression":
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        return tags
