"""Classes that a specification can name without their module, and words for learners.

The table replaces a search through scikit-learn, whose import takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping

_MODULES = {
    "sklearn.calibration": "CalibratedClassifierCV",
    "sklearn.compose": "ColumnTransformer TransformedTargetRegressor make_column_transformer",
    "sklearn.cross_decomposition": "CCA PLSCanonical PLSRegression PLSSVD",
    "sklearn.decomposition":
        "DictionaryLearning FactorAnalysis FastICA IncrementalPCA KernelPCA "
        "LatentDirichletAllocation MiniBatchDictionaryLearning MiniBatchNMF "
        "MiniBatchSparsePCA NMF PCA SparseCoder SparsePCA TruncatedSVD",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble":
        "AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor "
        "ExtraTreesClassifier ExtraTreesRegressor GradientBoostingClassifier "
        "GradientBoostingRegressor HistGradientBoostingClassifier "
        "HistGradientBoostingRegressor IsolationForest RandomForestClassifier "
        "RandomForestRegressor RandomTreesEmbedding StackingClassifier StackingRegressor "
        "VotingClassifier VotingRegressor",
    "sklearn.feature_extraction": "DictVectorizer FeatureHasher",
    "sklearn.feature_extraction.image": "PatchExtractor",
    "sklearn.feature_extraction.text":
        "CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer",
    "sklearn.feature_selection":
        "GenericUnivariateSelect RFE RFECV SelectFdr SelectFpr SelectFromModel SelectFwe "
        "SelectKBest SelectPercentile SequentialFeatureSelector VarianceThreshold",
    "sklearn.frozen": "FrozenEstimator",
    "sklearn.gaussian_process": "GaussianProcessClassifier GaussianProcessRegressor",
    "sklearn.impute": "KNNImputer MissingIndicator SimpleImputer",
    "sklearn.isotonic": "IsotonicRegression",
    "sklearn.kernel_approximation":
        "AdditiveChi2Sampler Nystroem PolynomialCountSketch RBFSampler SkewedChi2Sampler",
    "sklearn.kernel_ridge": "KernelRidge",
    "sklearn.linear_model":
        "ARDRegression BayesianRidge ElasticNet ElasticNetCV GammaRegressor HuberRegressor "
        "Lars LarsCV Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC LinearRegression "
        "LogisticRegression LogisticRegressionCV MultiTaskElasticNet MultiTaskElasticNetCV "
        "MultiTaskLasso MultiTaskLassoCV OrthogonalMatchingPursuit "
        "OrthogonalMatchingPursuitCV PassiveAggressiveClassifier PassiveAggressiveRegressor "
        "Perceptron PoissonRegressor QuantileRegressor RANSACRegressor Ridge RidgeCV "
        "RidgeClassifier RidgeClassifierCV SGDClassifier SGDOneClassSVM SGDRegressor "
        "TheilSenRegressor TweedieRegressor",
    "sklearn.model_selection":
        "FixedThresholdClassifier GridSearchCV RandomizedSearchCV TunedThresholdClassifierCV",
    "sklearn.multiclass": "OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier",
    "sklearn.multioutput":
        "ClassifierChain MultiOutputClassifier MultiOutputRegressor RegressorChain",
    "sklearn.naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "sklearn.neighbors":
        "KNeighborsClassifier KNeighborsRegressor KNeighborsTransformer KernelDensity "
        "LocalOutlierFactor NearestCentroid NearestNeighbors NeighborhoodComponentsAnalysis "
        "RadiusNeighborsClassifier RadiusNeighborsRegressor RadiusNeighborsTransformer",
    "sklearn.neural_network": "BernoulliRBM MLPClassifier MLPRegressor",
    "sklearn.pipeline": "FeatureUnion Pipeline make_pipeline make_union",
    "sklearn.preprocessing":
        "Binarizer FunctionTransformer KBinsDiscretizer KernelCenterer LabelBinarizer "
        "LabelEncoder MaxAbsScaler MinMaxScaler MultiLabelBinarizer Normalizer OneHotEncoder "
        "OrdinalEncoder PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler "
        "SplineTransformer StandardScaler TargetEncoder",
    "sklearn.random_projection": "GaussianRandomProjection SparseRandomProjection",
    "sklearn.semi_supervised": "LabelPropagation LabelSpreading SelfTrainingClassifier",
    "sklearn.svm": "LinearSVC LinearSVR NuSVC NuSVR OneClassSVM SVC SVR",
    "sklearn.tree":
        "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",
    "xgboost": "XGBClassifier XGBRFClassifier XGBRFRegressor XGBRegressor",
    "lightgbm": "LGBMClassifier LGBMRegressor",
    "catboost": "CatBoostClassifier CatBoostRegressor",
}  # fmt: skip
MODULE_OF: Mapping[str, str] = {
    name: module for module, names in _MODULES.items() for name in names.split()
}
"""The module of each class, by its name."""

_WORDS = {
    "bayes|naive bayes|gnb": ("naive-bayes",),
    "dt|tree|cart": ("DecisionTreeClassifier", "DecisionTreeRegressor"),
    "dummy|majority": ("max", "DummyRegressor"),
    "elastic net": ("LogisticRegression", "ElasticNet"),
    "gbm|gbdt|gradient boosting|boosting|hgb":
        ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"),
    "j48": ("c4.5",),
    "knn|nearest neighbors|nearest neighbours|ibk": ("KNeighborsClassifier", "KNeighborsRegressor"),
    "lasso": ("LogisticRegression", "Lasso"),
    "lda": ("LinearDiscriminantAnalysis",),
    "light gbm|lightgbm|lgb": ("LGBMClassifier", "LGBMRegressor"),
    "linear|linear regression|ols": ("LogisticRegression", "LinearRegression"),
    "logistic regression|logreg|lr|logit": ("LogisticRegression",),
    "neural net|neural network|ann": ("MLPClassifier", "MLPRegressor"),
    "qda": ("QuadraticDiscriminantAnalysis",),
    "ridge": ("RidgeClassifier", "Ridge"),
    "rf|forest": ("RandomForestClassifier", "RandomForestRegressor"),
    "svm|svc|svr|support vector machine": ("SVC", "SVR"),
    "linear svm|linear svc": ("LinearSVC", "LinearSVR"),
    "xgboost": ("XGBClassifier", "XGBRegressor"),
}  # fmt: skip
SPECIFICATIONS_OF: Mapping[str, tuple[str, ...]] = {
    word: names for words, names in _WORDS.items() for word in words.split("|")
}
"""For a common word: the specification for labels and, if there is one, that for numbers."""


def suggestion(name: str) -> str:
    """Return the specifications that a word or a misspelt class stands for; empty if none.

    Examples
    --------
    >>> suggestion("RandomForest")
    'write RandomForestClassifier for labels or RandomForestRegressor for numbers'
    >>> suggestion("randomforestclasifier")
    'did you mean RandomForestClassifier?'
    >>> suggestion("xyzzy")
    ''
    """
    from difflib import get_close_matches

    word = " ".join(name.lower().replace("_", " ").replace("-", " ").split())
    for spelling in (word, word.replace(" ", "")):
        if spelling in SPECIFICATIONS_OF:
            return _by_task(SPECIFICATIONS_OF[spelling])
    compact = word.replace(" ", "")
    by_lower = {known.lower(): known for known in MODULE_OF}
    pair = [by_lower.get(f"{compact}{kind}") for kind in ("classifier", "regressor")]
    if all(pair):
        return _by_task(tuple(filter(None, pair)))
    exact = by_lower.get(compact) or pair[0] or pair[1]
    near = [exact.lower()] if exact else get_close_matches(compact, by_lower, n=2, cutoff=0.8)
    return f"did you mean {' or '.join(by_lower[one] for one in near)}?" if near else ""


def _by_task(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return f"write {names[0]}"
    return f"write {names[0]} for labels or {names[1]} for numbers"
