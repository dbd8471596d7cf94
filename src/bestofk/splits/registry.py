"""The registry of resampling plans."""

from __future__ import annotations

from dataclasses import dataclass

from bestofk._base.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntry:
    """One kind of resampling plan."""

    name: str
    pattern: str
    """How to write the specification; the user replaces the words in capitals."""
    example: str
    summary: str
    kind: str
    """The `kind` of the resulting Design."""
    paper: str
    doi: str | None = None
    takes: tuple[str, ...] = ()
    """Its arguments in the order of the specification: some of runs, folds, splits, samples and
    test_fraction; or a column."""
    by_name: bool = True
    """True if the specification starts with the name; if not, its pattern identifies the plan."""
    function: str = ""
    """The function that marks the rows, as ``package.module:name``; empty if a column or another
    plan does. bestofk calls it with the number of rows and, by keyword, `seed`, `classes` and
    `groups` (codes from 0, or None), `runs`, `folds` and `test_fraction`. For the kind "cv" it
    returns (runs, n) integers, the fold that tests each row; for the kind "resample" it returns
    (folds, n) booleans, whether a split tests the row."""
    stratifies: bool = False
    """Whether the function preserves the shares of `classes`; otherwise they are None."""
    needs: str = ""
    """Other input of the plan: ``"groups"``, or a ``"column"`` that it names."""
    explanation: tuple[str, ...] = ()
    """Three plain sentences: what it does, when it is right, and when it is not."""


_FOLDS, _SPLITS = "bestofk.splits.folds:cross_validation", "bestofk.splits.folds:random_splits"
PLANS: Registry[PlanEntry] = Registry(
    "plan",
    PlanEntry(
        name="rxk",
        explanation=(
            "Repeats k-fold cross-validation with other random folds; every row is tested once per "
            "run.",
            "Use it for several data sets, or to repeat published results.",
            "Do not use it for unstable learners on one data set: RUNSxFOLDS+nested measures how "
            "much means vary.",
        ),
        pattern="RUNSxFOLDS",
        example="10x10",
        summary="runs of k-fold cross-validation, each run with its own random folds",
        kind="cv",
        paper="Bouckaert 2003, Choosing between two learning algorithms based on calibrated tests",
        takes=("runs", "folds"),
        by_name=False,
        function=_FOLDS,
        stratifies=True,
    ),
    PlanEntry(
        name="5x2",
        explanation=(
            "Halves the rows five times at random; each half trains once and tests once.",
            "Use it if fits are expensive: it needs ten fits per learner.",
            "Do not use it for little data, because models see only half of the rows.",
        ),
        pattern="5x2",
        example="5x2",
        summary="five random halvings; each half trains once and tests once",
        kind="cv",
        paper="Dietterich 1998, Approximate statistical tests",
        doi="10.1162/089976698300017197",
        by_name=False,
    ),
    PlanEntry(
        name="kfold",
        explanation=(
            "Divides the rows into k folds and tests each fold once.",
            "Use it for a quick first look.",
            "Do not use it to decide between close learners: the result depends on one random "
            "division.",
        ),
        pattern="kfold:FOLDS",
        example="kfold:10",
        summary="one run of k-fold cross-validation: every row is tested once",
        kind="cv",
        paper="Stone 1974, Cross-validatory choice and assessment of statistical predictions",
        doi="10.1111/j.2517-6161.1974.tb00994.x",
        takes=("folds",),
        function=_FOLDS,
        stratifies=True,
    ),
    PlanEntry(
        name="nested",
        explanation=(
            "Adds models that leave out two folds at a time to repeated cross-validation.",
            "Use it on one data set with any learners; it is the default there.",
            "Do not use it for several data sets, which show the variation themselves.",
        ),
        pattern="RUNSxFOLDS+nested",
        example="10x5+nested",
        summary="additional runs that leave every pair of folds out together, to estimate how much "
        "the means would vary with other data",
        kind="cv",
        paper="Bates, Hastie and Tibshirani 2023, Cross-validation: what does it estimate and how "
        "well does it do it?",
        doi="10.1080/01621459.2023.2197686",
        by_name=False,
    ),
    PlanEntry(
        name="holdout",
        explanation=(
            "Divides the rows once at random into training and test rows.",
            "Use it for large data, if one fit takes long.",
            "Do not use it for little data: the result depends on one division.",
        ),
        pattern="holdout:SHARE",
        example="holdout:0.33",
        summary="one random split; SHARE is the share of test rows",
        kind="holdout",
        paper="Kohavi 1995, A study of cross-validation and bootstrap for accuracy estimation",
        takes=("test_fraction",),
        function=_SPLITS,
        stratifies=True,
    ),
    PlanEntry(
        name="resample",
        explanation=(
            "Divides the rows many times at random into training and test rows.",
            "Use it if you need a test share that folds cannot give.",
            "Do not use it instead of folds without a reason: some rows are tested often and "
            "others never.",
        ),
        pattern="resample:SPLITS:SHARE",
        example="resample:30:0.1",
        summary="independent random splits; SHARE is the share of test rows",
        kind="resample",
        paper="Nadeau and Bengio 2003, Inference for the generalization error",
        doi="10.1023/A:1024068626366",
        takes=("splits", "test_fraction"),
        function=_SPLITS,
        stratifies=True,
    ),
    PlanEntry(
        name="loo",
        explanation=(
            "Tests every row by a model that was trained on all other rows.",
            "Use it for very little data.",
            "Do not use it to compare unstable learners, or for large data: it needs one fit per "
            "row.",
        ),
        pattern="loo",
        example="loo",
        summary="leave one out: every row is tested by a model trained on all others",
        kind="loo",
        paper="Lachenbruch and Mickey 1968, Estimation of error rates in discriminant analysis",
        doi="10.1080/00401706.1968.10490530",
        function="bestofk.splits.folds:leave_one_out",
    ),
    PlanEntry(
        name="bootstrap",
        explanation=(
            "Trains on rows drawn with replacement and tests on the rows that were not drawn.",
            "Use it to repeat published results that use the bootstrap.",
            "Do not use it instead of folds: models see only about 63 % of the different rows.",
        ),
        pattern="bootstrap:SAMPLES",
        example="bootstrap:200",
        summary="train on samples drawn with replacement, test on the rows left out",
        kind="bootstrap",
        paper="Efron 1983, Estimating the error rate of a prediction rule",
        doi="10.1080/01621459.1983.10477973",
        takes=("samples",),
        function="bestofk.splits.folds:bootstrap",
        stratifies=True,
    ),
    PlanEntry(
        name="group-kfold",
        explanation=(
            "Divides whole groups of rows, such as patients, into k folds.",
            "Use it if rows of one group are similar and new data will come from other groups.",
            "Do not use it with fewer groups than folds.",
        ),
        pattern="group-kfold:FOLDS",
        example="group-kfold:5",
        summary="one run of k folds of whole groups: no group is on both sides of a split",
        kind="cv",
        paper="Roberts et al. 2017, Cross-validation strategies for data with temporal, spatial, "
        "hierarchical, or phylogenetic structure",
        doi="10.1111/ecog.02881",
        takes=("folds",),
        needs="groups",
        function=_FOLDS,
        stratifies=True,
    ),
    PlanEntry(
        name="group-rxk",
        explanation=(
            "Repeats cross-validation with whole groups of rows, such as patients, in random "
            "folds.",
            "Use it if rows of one group are similar and new data will come from other groups.",
            "Do not use it with few groups: the groups are then the sample, however many rows they "
            "have.",
        ),
        pattern="group-RUNSxFOLDS",
        example="group-10x10",
        summary="runs of k folds of whole groups; '+nested' may follow",
        kind="cv",
        paper="Roberts et al. 2017, Cross-validation strategies for data with temporal, spatial, "
        "hierarchical, or phylogenetic structure",
        doi="10.1111/ecog.02881",
        takes=("runs", "folds"),
        by_name=False,
        needs="groups",
        function=_FOLDS,
        stratifies=True,
    ),
    PlanEntry(
        name="time",
        explanation=(
            "Predicts each window of time by models that were trained on all earlier rows.",
            "Use it if rows are in order of time and the model will predict the future.",
            "Do not use it for rows without an order: folds use the data better.",
        ),
        pattern="time:WINDOWS",
        example="time:10",
        summary="rows in order of time: each window is predicted by models trained on all "
        "earlier rows",
        kind="time",
        paper="Tashman 2000, Out-of-sample tests of forecasting accuracy",
        doi="10.1016/S0169-2070(00)00065-0",
        takes=("folds",),
        function="bestofk.splits.folds:time_windows",
    ),
    PlanEntry(
        name="predefined",
        explanation=(
            "Takes the folds, or the training and test rows, from a column of your data.",
            "Use it for a published division, so that results can be compared.",
            "Do not use it if the column was chosen after looking at the results.",
        ),
        pattern="predefined:COLUMN",
        example="predefined:fold",
        summary="a column holds the fold that tests the row (-1: only train), or train and test",
        kind="cv",
        paper="Stone 1974, Cross-validatory choice and assessment of statistical predictions",
        doi="10.1111/j.2517-6161.1974.tb00994.x",
        takes=("column",),
        needs="column",
    ),
)
