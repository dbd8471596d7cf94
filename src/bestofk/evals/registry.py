"""The formats of evaluation logs that bestofk reads; other packages can add theirs.

The contract of an entry
------------------------
`recognise` names a function that takes a `bestofk.evals.sources.Source` and returns whether the
file has this format. It looks at the content (`Source.head`, `Source.keys` of a JSON text,
`Source.members` of an archive) and never imports or runs anything. The first entry that recognises
a file reads it. Added entries come before the long tables, which accept any other table.

`function` names a function ``read(sources, query, rows)``. bestofk calls it once with all files of
the format. `query` (`bestofk.evals.query.LogQuery`) holds the metric, filter, task and cluster to
read. The function writes into `rows` (`bestofk.evals.rows.EvalRows`) one row for each learner, item
and epoch, and sentences about what it used, what it skipped and why:

    learner = rows.learner("model-a")
    item = rows.item("arc", "17", cluster=None, fingerprint="hash of the content, if any")
    rows.add(learner, item, epoch=1, score=1.0)
    rows.add(learner, item, epoch=2, status="error")
    rows.note("arc: 2 samples of 'model-a'.")
    rows.metric("acc", higher_is_better=True)

The task and the name identify an item; the same item of two learners must have the same name.
Epochs count from 1; ``epoch=0`` leaves the counting to `rows`. A row without a score has status
``"error"``, ``"limit"``, ``"unscored"`` or ``"missing"``, never a score of 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from bestofk._base.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalFormat:
    """The log format of one harness.

    Examples
    --------
    >>> from bestofk.evals import EVAL_FORMATS
    >>> EVAL_FORMATS["inspect"].called
    'Inspect'
    """

    name: str
    called: str
    """The name of the harness in sentences."""
    summary: str
    """The files of this format, in a line."""
    recognise: str
    """``package.module:name`` of the function that recognises a file of this format."""
    function: str
    """``package.module:name`` of the function that reads files into rows."""
    any_table: bool = False
    """It reads tables that no harness wrote, so it comes last, and in a folder only if there is
    no file of another format."""


_FORMATS = "bestofk.evals.formats"

EVAL_FORMATS: Registry[EvalFormat] = Registry(
    "format of evaluation logs",
    EvalFormat(
        name="lm-eval",
        called="lm-evaluation-harness",
        summary="samples_*.jsonl and results_*.json of --log_samples, version 0.4.0 and later",
        recognise=f"{_FORMATS}.lm_harness:is_lm_harness",
        function=f"{_FORMATS}.lm_harness:read_lm_harness",
    ),
    EvalFormat(
        name="inspect",
        called="Inspect",
        summary="*.eval (deflate or zstandard, also of crashed runs) and *.json logs",
        recognise=f"{_FORMATS}.inspect_logs:is_inspect",
        function=f"{_FORMATS}.inspect_logs:read_inspect",
    ),
    EvalFormat(
        name="promptfoo",
        called="promptfoo",
        summary="the JSON or JSONL of --output, result versions 2 to 4",
        recognise=f"{_FORMATS}.promptfoo:is_promptfoo",
        function=f"{_FORMATS}.promptfoo:read_promptfoo",
    ),
    EvalFormat(
        name="helm",
        called="HELM",
        summary="run directories with run_spec.json and per_instance_stats.json",
        recognise=f"{_FORMATS}.helm:is_helm",
        function=f"{_FORMATS}.helm:read_helm",
    ),
    EvalFormat(
        name="every-eval-ever",
        called="Every Eval Ever",
        summary="instance-level JSONL",
        recognise=f"{_FORMATS}.every_eval_ever:is_every_eval_ever",
        function=f"{_FORMATS}.every_eval_ever:read_every_eval_ever",
    ),
    EvalFormat(
        name="swe-bench",
        called="SWE-bench",
        summary="the report of a run (MODEL.RUN.json), or the report.json of its instances",
        recognise=f"{_FORMATS}.swe_bench:is_swe_bench",
        function=f"{_FORMATS}.swe_bench:read_swe_bench",
    ),
    EvalFormat(
        name="evalplus",
        called="EvalPlus",
        summary="*_eval_results.json of HumanEval+ and MBPP+",
        recognise=f"{_FORMATS}.evalplus:is_evalplus",
        function=f"{_FORMATS}.evalplus:read_evalplus",
    ),
    EvalFormat(
        name="livebench",
        called="LiveBench",
        summary="ground_truth_judgment.jsonl",
        recognise=f"{_FORMATS}.livebench:is_livebench",
        function=f"{_FORMATS}.livebench:read_livebench",
    ),
    EvalFormat(
        name="openai-evals",
        called="OpenAI evals",
        summary="the JSONL that oaieval records",
        recognise=f"{_FORMATS}.openai_evals:is_openai_evals",
        function=f"{_FORMATS}.openai_evals:read_openai_evals",
    ),
    EvalFormat(
        name="table",
        called="table",
        summary="any CSV, JSONL or Parquet with one row per model, item and epoch",
        recognise=f"{_FORMATS}.long_table:is_long_table",
        function=f"{_FORMATS}.long_table:read_long_table",
        any_table=True,
    ),
)


def formats_in_order() -> list[EvalFormat]:
    """Return the formats in the order in which they are tried on a file."""
    return sorted(EVAL_FORMATS.values(), key=lambda entry: entry.any_table)
