"""Replacements for options and verbs that people type from habit, or misspell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import click

from bestofk._base.errors import UnknownNameError

MIN_SIMILARITY = 0.7
"""Similarity of a suggested option, as `difflib.get_close_matches` measures it."""
MAX_OPTION_LENGTH = 60
"""Comparing takes quadratic time in the length."""

OPTIONS = {
    "scoring": ("metric", "metrics", "score", "scorer", "scores", "loss", "losses", "measure",
                "criterion", "objective", "scoring"),
    "metric": ("metric", "metrics", "score", "scorer", "scores", "loss", "losses", "measure",
               "criterion", "scoring", "scoring-function"),
    "cv": ("folds", "fold", "k", "n-folds", "nfolds", "n-splits", "splits", "split", "plan",
           "repeats", "n-repeats", "resampling", "cross-validation", "kfold", "cv", "test-size",
           "holdout", "validation"),
    "design": ("plan", "cv", "resampling", "splits", "kind"),
    "learner": ("model", "models", "estimator", "estimators", "algorithm", "algorithms",
                "classifier", "classifiers", "regressor", "regressors", "learner", "method",
                "methods"),
    "learners": ("model", "models", "estimators", "algorithms", "methods", "learner", "columns"),
    "random-state": ("seed", "random-seed", "rng", "random"),
    "n-jobs": ("jobs", "workers", "n-workers", "cores", "cpus", "parallel", "processes", "threads",
               "num-workers", "j"),
    "sample-weight": ("weight", "weights", "sample-weights", "case-weight"),
    "groups": ("group", "group-by", "groupby", "cluster", "clusters", "subject", "patient"),
    "cluster": ("group", "groups", "clusters", "group-by"),
    "target": ("label", "labels", "y", "class", "outcome", "response", "dependent", "target-column",
               "predict"),
    "ignore": ("drop", "exclude", "skip", "drop-columns", "omit", "remove"),
    "nominal": ("categorical", "categories", "cat", "factor", "factors"),
    "numeric": ("numerical", "continuous", "numbers"),
    "prefer": ("prior", "preference", "order", "ranking", "cheap", "cheapest", "favour", "favor"),
    "control": ("baseline", "reference", "against", "versus", "vs"),
    "baseline": ("reference", "base", "against", "old", "previous", "released", "anchor", "main"),
    "margin": ("tolerance", "delta", "epsilon", "non-inferiority", "noninferiority", "equivalence",
               "threshold"),
    "alpha": ("level", "significance", "significance-level", "p", "pvalue", "p-value", "confidence",
              "fwer"),
    "correction": ("adjust", "p-adjust", "adjustment", "posthoc", "post-hoc", "multiple"),
    "budget": ("time-limit", "max-time", "time-budget", "limit", "time"),
    "timeout": ("fit-timeout", "max-fit-time"),
    "stop": ("early-stopping", "early-stop", "race", "racing"),
    "store": ("db", "database", "cache", "save", "resume", "checkpoint", "storage"),
    "to": ("folder", "directory", "dir", "out", "output", "path"),
    "output": ("report", "out", "html", "file", "o", "to", "save", "path", "dest"),
    "out": ("output", "save", "file", "o", "to", "path"),
    "report": ("html", "output", "out", "page", "save-report", "o", "to"),
    "figure": ("plot", "figures", "pdf", "png", "svg", "chart", "picture", "image", "fig", "plots"),
    "markdown": ("md", "comment", "report", "summary"),
    "ledger": ("history", "record", "state"),
    "title": ("heading", "name"),
    "latex": ("tex", "table", "booktabs"),
    "csv": ("tsv", "table", "export"),
    "json": ("as-json", "format-json", "jsonl"),
    "explain": ("details", "full", "long", "why", "all"),
    "quiet": ("silent", "no-progress", "s"),
    "verbose": ("progress", "debug", "log"),
    "config": ("configuration", "settings", "conf", "options-file"),
    "prices": ("price", "costs", "cost", "pricing"),
    "truth": ("y-true", "true", "target", "labels", "label", "truth-column"),
    "higher-is-better": ("greater-is-better", "maximize", "maximise", "bigger-is-better",
                         "scores", "accuracy"),
    "lower-is-better": ("minimize", "minimise", "smaller-is-better", "errors"),
    "sets": ("simulations", "n", "replications", "repeats", "runs", "samples"),
    "runs": ("repetitions", "repeats", "sets", "n"),
    "study": ("id", "number", "n"),
    "watch": ("follow", "live", "f", "tail"),
    "version": ("v",),
}  # fmt: skip
"""Words typed from habit, by the option that replaces them."""

VERBS = {
    "list": ("tests", "learners", "metrics", "plans", "procedures", "datasets", "problems",
             "losses", "models", "scorers", "ls"),
    "compare": ("run", "benchmark", "evaluate", "fit", "cross-validate", "cv", "train", "select"),
    "order": ("rank", "ranking", "decide", "scores", "table", "friedman", "autorank"),
    "evals": ("eval", "llm", "leaderboard"),
    "size": ("power", "sample-size", "plan", "samplesize"),
    "show": ("status", "inspect", "watch", "store", "studies"),
    "diff": ("changes", "changed"),
    "report": ("html", "plot", "figure"),
    "fetch": ("download", "get"),
}  # fmt: skip
"""Words typed from habit, by the verb that replaces them."""
_LISTED = {"losses": "metrics", "scorers": "metrics", "models": "learners", "ls": ""}
"""The name in ``bestofk list`` for other words."""


def no_such_option(error: click.NoSuchOption, command: Sequence[str]) -> str:
    """Return a sentence with the option that was meant."""
    context = error.ctx
    typed = error.option_name
    path = "bestofk" if context is None else context.command_path
    options = _options(context)
    meant = replacement(typed, options)
    if meant:
        return f"There is no option {typed}: use {' or '.join(meant)}. See '{path} --help'."
    if context is not None and context.command.name in (None, "bestofk"):
        return f"There is no option {typed}. See 'bestofk --help'."
    others = _other_verbs(typed, command)
    if others:
        return f"There is no option {typed}; it belongs to {others}. See '{path} --help'."
    full = "--help-all" if "--help-all" in options else "--help"
    return f"There is no option {typed}. See '{path} {full}'."


def replacement(typed: str, options: Iterable[str]) -> list[str]:
    """Return the options that replace a typed one; empty if none is similar.

    Examples
    --------
    >>> replacement("--metric", ["--scoring", "--cv"]), replacement("--lerner", ["--learner"])
    (['--scoring'], ['--learner'])
    >>> replacement("--metric", ["--learner", "--cv"])
    []
    """
    options = list(options)
    word = typed.lstrip("-").lower().replace("_", "-")[:MAX_OPTION_LENGTH]
    if f"--{word}" in options:
        return [f"--{word}"]
    habits = [f"--{name}" for name, words in OPTIONS.items() if word in words]
    if meant := [option for option in habits if option in options]:
        return meant[:1]
    names = [option for option in options if option.startswith("--")]
    if len(word) > 2 and (starting := [name for name in names if name[2:].startswith(word)]):
        return starting[:2]
    return get_close_matches(f"--{word}", names, n=2, cutoff=MIN_SIMILARITY)


def _options(context: click.Context | None) -> list[str]:
    if context is None:
        return []
    return [
        text
        for parameter in context.command.get_params(context)
        if isinstance(parameter, click.Option)
        for text in (*parameter.opts, *parameter.secondary_opts)
    ]


def _other_verbs(typed: str, command: Sequence[str]) -> str:
    """Return the verbs that have this option, in words."""
    from bestofk.cli.app import VERB_GROUPS, bestofk

    context = click.Context(bestofk)
    verbs = [
        verb
        for verb in next(iter(VERB_GROUPS.values()))
        if verb not in command
        and any(typed in one.opts for one in bestofk.get_command(context, verb).params)  # type: ignore[union-attr]
    ]
    return ", ".join(f"'bestofk {verb}'" for verb in verbs)


def no_such_verb(typed: str, verbs: Iterable[str]) -> str:
    """Return a sentence with the verb that was meant.

    Examples
    --------
    >>> no_such_verb("learners", ["list"])
    "There is no command 'learners': use 'bestofk list learners'."
    """
    word = typed.lower()[:MAX_OPTION_LENGTH]
    for verb, words in VERBS.items():
        if word in words:
            what = _LISTED.get(word, word) if verb == "list" else ""
            call = f"bestofk {verb} {what}".strip()
            return f"There is no command {typed!r}: use '{call}'."
    if word in ("help", "version"):
        return f"There is no command {typed!r}: use 'bestofk --{word}'."
    return str(UnknownNameError("command", typed, verbs))
