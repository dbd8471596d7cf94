"""Public names exist and work together: functions, registered names, commands, options, JSON."""

import ast
import inspect
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
from bestofk import decide as ordering, papers
from bestofk.cli import main
from bestofk.cli.app import bestofk as command_line
from bestofk.cli.registry import COMMANDS as VERBS
from bestofk.evals import example_evals
from bestofk.learners.registry import learner as make_learner
from bestofk.papers import lab, stats as paper_tests
from bestofk.splits.plans import plan as make_plan
from bestofk.stats import intervals, multiple, pairwise

FUNCTIONS = {
    pairwise: "kfold_t corrected_resampled_t five_by_two_t five_by_two_f "
    "corrected_repeated_kfold_t sign wilcoxon mcnemar permutation correlated_t "
    "signed_rank_bayes hierarchical_bayes",
    multiple: "kruskal_wallis friedman nemenyi cochran_q",
    paper_tests: "anova repeated_measures_anova newman_keuls looney bootstrap_a bootstrap_b "
    "repeated_kfold_t",
    papers.decide: "roc_hull multinomial_selection order_intervals select_by_scores",
    ordering: "multitest",
    intervals: "normal wilson clopper_pearson test_set_bound",
    lab: "type1_error power replicability calibrate",
}
TOP_LEVEL = (
    "compare compare_scores compare_predictions compare_fitted compare_evals compare_battles gate "
    "sample_size open_study read_data read_scores read_evals metric Result GateResult Scores Evals "
    "DataSet Settings Execution StopRule BestOfK BestOfKError InputError RunError BestOfKWarning "
    "stats plugins testing papers"
)
RESULT = (
    "recommended candidates order table pairs ranks headline notes cautions explain metric test "
    "settings scores failures by_metric by_slice by_dataset plot report to_dict fit_recommended"
)
GATE_RESULT = "answer exit_code build table worse_items headline notes explain plot report to_dict"
EVALS = "models tasks items metric notes costs to_frame to_scores select"
DATA_SET = "name X y task classes groups sample_weight notes explain"
TESTS = (
    "kfold-t resampled-t corrected-resampled-t corrected-repeated-kfold-t 5x2cv-t 5x2cv-f "
    "use-all-data folds folds-averaged-var runs runs-averaged-var sorted-runs "
    "sorted-runs-averaged-var folds-averaged-t runs-averaged-t sorted-runs-averaged-t sign "
    "wilcoxon mcnemar permutation correlated-t signed-rank-bayes hierarchical-bayes anova "
    "repeated-measures-anova newman-keuls tukey kruskal-wallis friedman cochran-q looney "
    "bootstrap-a bootstrap-b"
)
RULES = (
    "multitest test-first anova-choice newman-keuls-choice most-wins roc-hull multinomial-selection"
)
COMPARE = (
    "learners data target cv scoring groups sample_weight by per_dataset columns task prefer "
    "margin alpha test stop budget timeout store n_jobs random_state progress settings execution"
)
SETTINGS = (
    "prefer margin alpha rule test test_options correction family control rope missing random_state"
)
EXECUTION = (
    "n_jobs threads engine scheduler timeout budget store progress on_failure retry_failed "
    "repetitions stratify duplicates dry_run command"
)
COMMANDS = "compare scores evals gate size show list papers"
OPTIONS = {
    "compare": "--target --learner --cv --scoring --groups --by --column --prefer --margin --alpha "
    "--random-state --budget --store --dry-run --per-dataset --as-published --report --figure "
    "--figure-width --csv --json --explain --pairs --quiet --verbose --set --config",
    "scores": "--higher-is-better --column --metric --design --truth --items --by --prefer "
    "--margin --alpha --random-state --report --figure --figure-width --csv --json --explain "
    "--pairs --quiet --verbose --set --config",
    "evals": "--metric --require --model --task --cluster --column --formats --prefer "
    "--higher-is-better "
    "--prices --margin --noise --by --alpha --random-state --report --figure --figure-width --csv "
    "--json --explain --pairs --quiet --verbose --set --config",
    "show": "--study --report --figure --figure-width --csv --watch --json --set --config",
}
"""Options that ``--help`` shows, and no others."""


@pytest.fixture
def losses():
    """Three learners in 5x2 folds; the second and third are much better than the first."""
    noise = 0.01 * np.random.default_rng(1).random((3, 5, 2))
    return bk.Scores(
        np.array([0.30, 0.10, 0.11])[:, None, None] + noise,
        dims=("learner", "run", "fold"),
        learners=["small", "medium", "large"],
    )


def test_the_top_level_and_a_result_have_these_names_and_no_others(losses):
    assert {*dir(bk)} >= {*TOP_LEVEL.split()} == {*bk.__all__} - {"__version__"}
    values = {
        RESULT: bk.compare_scores(losses),
        GATE_RESULT: bk.gate([0.0] * 9, [1.0] * 9),
        EVALS: example_evals("inspect-sums"),
        DATA_SET: bk.read_data("iris"),
    }
    for names, value in values.items():
        assert sorted(name for name in dir(value) if name[0] != "_") == sorted(names.split())


@pytest.mark.parametrize(
    ("word", "line"), [("ranking", ".order"), ("best_estimator_", ".fit_recommended()"),
                       ("pvalues", ".pairs['p']"), ("leaderboard", ".table")],
)  # fmt: skip
def test_a_wrong_guess_gets_the_line_that_works(losses, word, line):
    with pytest.raises(AttributeError, match=re.escape(f"has no attribute {word!r}: use {line}")):
        getattr(bk.compare_scores(losses), word)


def test_public_functions_exist():
    for module, names in FUNCTIONS.items():
        assert [name for name in names.split() if not callable(getattr(module, name, None))] == []


def test_settings_have_these_fields_and_no_others():
    assert [one.name for one in fields(bk.Settings)] == SETTINGS.split()
    assert [one.name for one in fields(bk.Execution)] == EXECUTION.split()


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (
            lambda: bk.Settings(procedure="multitest"),
            "Settings has no argument 'procedure': write rule=...",
        ),
        (lambda: bk.Settings(df=9), "Settings has no argument 'df': write test_options=..."),
        (lambda: bk.compare_scores([[0.1, 0.2]], df=9), "write test_options={'df': 9}"),
        (lambda: bk.compare(procedure="best"), "write settings=bk.Settings(rule=...)"),
    ],
)
def test_old_words_get_the_new_ones(call, advice):
    with pytest.raises(bk.InputError, match=re.escape(advice)):
        call()


def test_defaults_of_compare():
    parameters = inspect.signature(bk.compare).parameters
    assert list(parameters) == COMPARE.split()
    defaults = {name: parameters[name].default for name in parameters}
    assert defaults["prefer"] is None
    # nested cross-validation on one data set, 10x10 on several
    assert defaults["cv"] is None
    assert (defaults["test"], defaults["alpha"], defaults["random_state"]) == ("auto", 0.05, 0)
    assert (bk.Execution().repetitions, bk.Settings().rule) == (1, "best")
    assert bk.Settings().correction is None


def test_from_data_to_a_decision(tmp_path, capsys):
    from sklearn.naive_bayes import GaussianNB

    data = bk.read_data("iris")
    study = bk.compare(
        ["max", "nmc", GaussianNB()],
        data.X,
        data.y,
        cv="5x2",
        scoring="zero-one",
        prefer=["max", "nmc", "GaussianNB"],
        test="auto",
        alpha=0.05,
        store=None,
        n_jobs=1,
        random_state=0,
        progress=False,
        settings=bk.Settings(rule="multitest", correction="holm"),
        execution=bk.Execution(repetitions=1),
    )
    assert set(study.decision.ranking) == {"max", "nmc", "GaussianNB"}
    assert study.recommended == study.decision.ranking[0]
    table = study.scores
    assert table.losses.shape == (3, 1, 5, 2, 1)
    assert (table.learners, len(table.datasets)) == (("max", "nmc", "GaussianNB"), 1)
    assert table.design.runs == 5
    assert {"learner", "dataset", "run", "fold", "loss"} <= set(table.to_frame().columns)
    assert study.decision.evidence is study.decision.evidence
    # the two-sided p-value of all pairs
    assert {"a", "b", "difference", "p", "adjusted_p", "better"} <= set(study.pairs.columns)
    assert len(study.pairs) == 3
    print(study)
    assert capsys.readouterr().out.startswith("Use GaussianNB, the first in your list")
    page = tmp_path / "report.html"
    study.report(str(page))
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")


def test_registered_tests_and_rules():
    from bestofk.decide import registry
    from bestofk.stats.multiple.registry import MULTIPLE_TESTS
    from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

    assert {*TESTS.split()} <= {*PAIRWISE_TESTS, *MULTIPLE_TESTS}
    assert all(callable(registry.RULES[name].load()) for name in RULES.split())


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: bk.compare_scores([[1.0, 2.0]]),
        lambda: bk.compare_scores([[1.0, 2.0], [2.0, 1.0]], rule="magic"),
        lambda: make_plan("tenfold"),
        lambda: make_learner("c5.0"),
        lambda: pairwise.kfold_t([1.0, 2.0], [1.0]),
    ],
)
def test_bad_input_raises_a_bestofk_error(wrong):
    with pytest.raises(bk.BestOfKError) as caught:
        wrong()
    assert isinstance(caught.value, ValueError | LookupError)


def test_commands_exist():
    assert {*VERBS} == {*COMMANDS.split()}


@pytest.mark.parametrize("verb", OPTIONS)
def test_options_exist(verb):
    command = command_line.get_command(None, verb)
    known = {max(one.opts, key=len) for one in command.params if one.opts[0].startswith("-")}
    assert known == set(OPTIONS[verb].split())


def test_an_infinite_statistic_is_null(capsys, tmp_path):
    path = tmp_path / "losses.csv"
    path.write_text("fold,a,b\n1,0.1,0.9\n2,0.1,0.9\n3,0.1,0.9\n")
    assert (
        main(["papers", "test", str(path), "--test", "kfold-t", "--json", "--lower-is-better"]) == 0
    )
    result = capsys.readouterr().out
    assert "Infinity" not in result
    assert "NaN" not in result


def test_no_public_name_is_that_of_its_module():
    """Importing the module would replace the function by the module in its package."""
    for stub in Path(bk.__file__).parent.rglob("__init__.pyi"):
        modules = {path.stem for path in stub.parent.iterdir()}
        tree = ast.parse(stub.read_text(encoding="utf-8"))
        names = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        assert not names & modules, stub


SMALL = """
import sys
import bestofk as bk
before = {name for name in sys.modules if name.startswith("bestofk")}
bk.compare(["baseline", "logistic"], [[0.0], [1.0]] * 20, [0, 1] * 20, progress=False)
print(len({name for name in sys.modules if name.startswith("bestofk")} - before))
"""


def test_a_small_comparison_imports_few_modules():
    done = subprocess.run(
        [sys.executable, "-c", SMALL], check=True, capture_output=True, text=True
    ).stdout
    assert int(done) <= 70
