"""The formats of logs that can be read: one entry each; packages add theirs.

The contract of an entry
------------------------
`recognise` names a function that takes a `bestofk.evals.sources.Source` and says whether the file
is of this format, by its content (`Source.head`, `Source.keys` of a JSON text, `Source.members` of
an archive), never by importing or running anything. The first entry that claims a file gets
it; those that were added come before the long tables, which take what nobody else knows.

`function` names a function ``read(sources, asked, rows)`` that is called once with all files of
the format. `asked` (`bestofk.evals.evals.AskedOfLogs`) says which metric, filter, task and cluster
are wanted. Into `rows` (`bestofk.evals.rows.EvalRows`) it writes one row for each learner, item and
epoch, and the sentences of what it took, what it left out and why:

    who = rows.learner("model-a")
    what = rows.item("arc", "17", cluster=None, fingerprint="hash of the content, if any")
    rows.add(who, what, epoch=1, score=1.0)
    rows.add(who, what, epoch=2, status="error")
    rows.note("arc: 2 samples of 'model-a'.")
    rows.metric("acc", higher_is_better=True)

An item is known by its task and its name; the same item of two learners must have the same name.
Epochs are counted from 1; ``epoch=0`` leaves the counting to `rows`. A row without a score is
``"error"``, ``"limit"``, ``"unscored"`` or ``"missing"``, never a score of 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from bestofk._base.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalFormat:
    """What the library knows of the logs of one harness.

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
    """The files that hold it, in a line."""
    names: str
    """What to name, in a line of the documentation."""
    recognise: str
    """``package.module:name`` of the function that says whether a file is of this format."""
    function: str
    """``package.module:name`` of the function that reads files into rows."""
    any_table: bool = False
    """It takes tables that no harness wrote, so it is asked last, and in a folder only where
    nothing else was found."""
    settings: tuple[str, ...] = ()
    """What else tells learners of the same name apart, in words."""


_FORMATS = "bestofk.evals.formats"

EVAL_FORMATS: Registry[EvalFormat] = Registry(
    "format of evaluation logs",
    EvalFormat(
        name="lm-eval",
        called="lm-evaluation-harness",
        summary="samples_*.jsonl and results_*.json of --log_samples, version 0.4.0 and later",
        names="the folder of `--output_path`, run with `--log_samples` (0.4.0 and later); or "
        "`samples_*.jsonl`",
        recognise=f"{_FORMATS}.lm_harness:is_lm_harness",
        function=f"{_FORMATS}.lm_harness:read_lm_harness",
        settings=("model_args", "gen_kwargs", "number of shots", "chat template", "system prompt"),
    ),
    EvalFormat(
        name="inspect",
        called="Inspect",
        summary="*.eval (deflate or zstandard, also of crashed runs) and *.json logs",
        names="`.eval` files (also of crashed runs), `.json` logs, or the folder of logs",
        recognise=f"{_FORMATS}.inspect_logs:is_inspect",
        function=f"{_FORMATS}.inspect_logs:read_inspect",
        settings=("solver", "task arguments", "model arguments", "generate config"),
    ),
    EvalFormat(
        name="promptfoo",
        called="promptfoo",
        summary="the JSON or JSONL of --output, result versions 2 to 4",
        names="the `.json` or `.jsonl` of `--output`",
        recognise=f"{_FORMATS}.promptfoo:is_promptfoo",
        function=f"{_FORMATS}.promptfoo:read_promptfoo",
        settings=("prompt",),
    ),
    EvalFormat(
        name="helm",
        called="HELM",
        summary="run directories with run_spec.json and per_instance_stats.json",
        names="run directories, or the folder of a suite",
        recognise=f"{_FORMATS}.helm:is_helm",
        function=f"{_FORMATS}.helm:read_helm",
    ),
    EvalFormat(
        name="every-eval-ever",
        called="Every Eval Ever",
        summary="instance-level JSONL",
        names="instance-level `.jsonl`, with the `.json` of its results next to it",
        recognise=f"{_FORMATS}.every_eval_ever:is_every_eval_ever",
        function=f"{_FORMATS}.every_eval_ever:read_every_eval_ever",
    ),
    EvalFormat(
        name="swe-bench",
        called="SWE-bench",
        summary="the report of a run (MODEL.RUN.json), or the report.json of its instances",
        names="the report `MODEL.RUN.json`, or the folder of `report.json` files",
        recognise=f"{_FORMATS}.swe_bench:is_swe_bench",
        function=f"{_FORMATS}.swe_bench:read_swe_bench",
    ),
    EvalFormat(
        name="evalplus",
        called="EvalPlus",
        summary="*_eval_results.json of HumanEval+ and MBPP+",
        names="`*eval_results.json`",
        recognise=f"{_FORMATS}.evalplus:is_evalplus",
        function=f"{_FORMATS}.evalplus:read_evalplus",
    ),
    EvalFormat(
        name="livebench",
        called="LiveBench",
        summary="ground_truth_judgment.jsonl",
        names="`ground_truth_judgment.jsonl`, or the folder `data`",
        recognise=f"{_FORMATS}.livebench:is_livebench",
        function=f"{_FORMATS}.livebench:read_livebench",
    ),
    EvalFormat(
        name="table",
        called="table",
        summary="any CSV, JSONL or Parquet with one row per model, item and epoch",
        names="a CSV, JSONL or Parquet with one row per model, item and epoch",
        recognise=f"{_FORMATS}.long_table:is_long_table",
        function=f"{_FORMATS}.long_table:read_long_table",
        any_table=True,
    ),
)


def in_turn() -> list[EvalFormat]:
    """The formats in the order in which they are asked whether a file is theirs."""
    return sorted(EVAL_FORMATS.values(), key=lambda entry: entry.any_table)
