"""The registry of paper reproductions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bestofk._base.registry import Registry, resolve
from bestofk.papers.comparison import ReproductionResult, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """A paper whose tables and figures can be reproduced."""

    name: str
    title: str
    function: str
    """The function from Request to ReproductionResult, as ``package.module:name``."""
    summary: str
    paper: str
    doi: str | None
    tables: tuple[str, ...]
    """Accepted values of --table."""
    default_runs: int
    runs_mean: str
    """The meaning of one run."""
    default_seed: int = 0
    variants: tuple[tuple[str, str], ...] = (("paper", "as printed"),)
    """Pairs of name and description, the default first."""
    explained: tuple[tuple[str | tuple[str, ...], str], ...] = ()
    """Pairs of the beginnings of tables' names and why they are known to differ."""
    data: str | None = None
    """The collection of data sets that it needs (see `bestofk.papers.data`)."""

    def reproduce(self, **request: Any) -> ReproductionResult:
        """Run the reproduction; fields of the request that are None have the paper's defaults."""
        given = {name: value for name, value in request.items() if value is not None}
        defaults = {
            "variant": self.variants[0][0],
            "runs": self.default_runs,
            "seed": self.default_seed,
        }
        asked = Request(**{**defaults, **given})
        result: ReproductionResult = resolve(self.function)(asked)
        result.title = self.title
        if len(self.variants) > 1:
            result.title += f", {asked.variant}: {dict(self.variants)[asked.variant]}"
        result.paper = self.paper + (f", doi:{self.doi}." if self.doi else ".")
        result.explained = self.explained
        return result


REPRODUCTIONS: Registry[Reproduction] = Registry(
    "paper",
    Reproduction(
        name="multitest",
        title="MultiTest (Yildiz and Alpaydin 2006)",
        function="bestofk.papers.multitest.tables:reproduce",
        summary="five learners on 30 data sets, the best by four procedures",
        paper="O. T. Yildiz and E. Alpaydin, Ordering and finding the best of K > 2 supervised "
        "learning algorithms, IEEE Trans. Pattern Analysis and Machine Intelligence 28 (2006) "
        "392-402",
        doi="10.1109/TPAMI.2006.61",
        tables=("fig2", "1", "2", "3", "claims", "fig3", "fig4"),
        default_runs=10,
        runs_mean="a 5x2 cross-validation of every learner on every data set",
        variants=(
            ("paper", "the paper's learners, each on its own folds, as inferred from the print"),
            ("shared", "the paper's learners, all on the same folds"),
            ("retested", "as shared, decided by the corrected t test and Holm"),
        ),
        explained=(
            (
                "Table 1, mean",
                "rounding breaks ties of the nearest neighbour on monks; the means "
                "of LGC on horse and segment differ by up to 0.14 points, unexplained",
            ),
            (
                ("Table 2", "Table 3"),
                "the printed choices need learners and folds as inferred from the print",
            ),
        ),
        data="uci",
    ),
    Reproduction(
        name="calibrated",
        title="Calibrated tests (Bouckaert 2003)",
        function="bestofk.papers.calibrated.tables:reproduce",
        summary="ten tests on repeated cross-validation: calibrated df, Type I error, power, "
        "replicability",
        paper="R. R. Bouckaert, Choosing between two learning algorithms based on calibrated "
        "tests, Proceedings of the 20th International Conference on Machine Learning (2003) 51-58",
        doi=None,
        tables=("fig1", "fig2", "2", "3", "fig4", "4", "5", "6", "7", "levels", "spread"),
        default_runs=1000,
        runs_mean="a data set of each problem; 'levels' and 'spread' run only when named",
        explained=(
            (
                ("Table 2", "Table 4"),
                "the print agrees with 5 degrees of freedom for k-fold cv and 9 for runs "
                "averaged T; ours vary by one (--variant inferred)",
            ),
            (
                ("Table 5", "Table 6"),
                "power and replicability depend on the networks, which are not printed "
                "(--table spread)",
            ),
        ),
        # the most typical of five, see studies/calibrated_seeds.py
        default_seed=10,
        variants=(
            ("own", "degrees of freedom as calibrated on our own data sets"),
            (
                "inferred",
                "10 degrees of freedom for use all data, as the paper recommends, 5 for k-fold cv "
                "and 9 for runs averaged T, with which the print agrees better",
            ),
        ),
    ),
    Reproduction(
        name="intervals",
        title="Bootstrap analysis of multiple repetitions (Otero et al. 2013)",
        function="bestofk.papers.intervals.tables:reproduce",
        summary="tests of five simulated algorithms, with and without outliers, and of five "
        "learners on 64 data sets",
        paper="J. Otero, L. Sanchez, I. Couso and A. Palacios, Bootstrap analysis of multiple "
        "repetitions of experiments using an interval-valued multiple comparison procedure, "
        "Journal of Computer and System Sciences 80 (2014) 88-100",
        doi="10.1016/j.jcss.2013.03.009",
        tables=("fig1", "1", "2", "fig2", "3", "4", "fig3", "5", "null", "6", "7", "8", "fig4"),
        default_runs=2,
        runs_mean="a draw of the winners for each dp with 100 simulations; for tables 6 to 8 and "
        "fig4, which run only when named, a repetition of all learners on all folds",
        variants=(
            ("named", "every pair judged by its own p-value"),
            ("as_printed", "as the print seems to have counted, see the documentation"),
        ),
        explained=(
            (
                "Table 2",
                "the paper seems to have judged pairs by the p-value of another pair "
                "(--variant as_printed); wrong conclusions are unexplained",
            ),
            (
                "Table 3",
                "the paper seems to have judged pairs by the p-value of another pair "
                "(--variant as_printed)",
            ),
            (
                ("Table 4", "Table 5"),
                "no interpretation of Bootstrap-B reaches the printed power",
            ),
            (
                ("Table 6", "Table 7", "Table 8"),
                "other implementations of the learners; the paper prints no settings",
            ),
        ),
        data="keel",
    ),
    Reproduction(
        name="fundamentals",
        title="Fundamentals of algorithm selection for classification (Ler)",
        function="bestofk.papers.fundamentals:reproduce",
        summary="a worked example of hypothesis spaces, constants of intervals, numbers of splits",
        paper="D. Ler, Fundamentals of algorithm selection for classification, School of "
        "Information Technologies, University of Sydney",
        doi=None,
        tables=("1", "2", "3", "4", "A.1", "B.1", "B.2", "splits"),
        default_runs=1,
        runs_mean="nothing is random here; A.1, B.1 and B.2 only when named",
        explained=((("Table 4", "Table A.1"), "the text prints 3.30 for 3.29"),),
    ),
)
