"""``bestofk list``: names of tests, plans, learners, metrics, ..., and explanations of one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from bestofk._base.registry import Registry
from bestofk.cli.options import json_option
from bestofk.cli.outputs import echo_json
from bestofk.cli.registry import COMMANDS
from bestofk.cli.say import say, say_entry, say_facts, say_heading, wrapped
from bestofk.cli.set_values import (
    EXECUTION,
    READ_SCORES,
    SETTINGS,
    described,
    first_sentence,
    key_of,
    settable,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PAPERS = "Methods of the papers (to repeat published results)"
"""Title of the second group of a listing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list of names: its groups of entries, and the facts about an entry."""

    name: str
    """Its name, and its key in the JSON object."""
    summary: str
    groups: Callable[[], dict[str, Iterable[Any]]]
    """Entries by the title of their group; an empty title has no heading."""
    facts: Callable[[Any], list[str]]
    """Facts about an entry after its summary."""
    row: Callable[[Any], dict[str, Any]]
    """The entry as JSON."""
    notes: tuple[str, ...] = ()
    """Lines after the list."""

    def entries(self) -> dict[str, Any]:
        """Return all entries by name."""
        return {entry.name: entry for group in self.groups().values() for entry in group}


def _two_levels(registry: Mapping[str, Any], title: str = "") -> dict[str, Iterable[Any]]:
    """Return the entries of a registry, with historical ones in a second group."""
    entries = list(registry.values())
    old = [entry for entry in entries if entry.historical]
    return {
        title: [entry for entry in entries if not entry.historical],
        **({PAPERS: old} if old else {}),
    }


def _tests() -> dict[str, Iterable[Any]]:
    from bestofk.stats.multiple.registry import MULTIPLE_TESTS
    from bestofk.stats.pairwise.registry import (
        CLUSTERED_TESTS,
        LABELLED_TESTS,
        PAIRWISE_TESTS,
    )

    pairwise = _two_levels(PAIRWISE_TESTS, "Two learners")
    old = pairwise.pop(PAPERS, [])
    return {
        **pairwise,
        "Two models on clusters of items (evals)": CLUSTERED_TESTS.values(),
        "Two models with human labels (evals)": LABELLED_TESTS.values(),
        "All learners at once": MULTIPLE_TESTS.values(),
        PAPERS: old,
    }


def _test_facts(entry: Any) -> list[str]:
    only = "" if len(entry.sides) > 1 else "two-sided only"
    return [f"covers {', '.join(entry.covers)}", *filter(None, [only])]


def _test_row(entry: Any) -> dict[str, Any]:
    from bestofk.report.methods import doi_of
    from bestofk.stats.multiple.registry import MULTIPLE_TESTS

    return {
        "name": entry.name,
        "learners": "all" if entry.name in MULTIPLE_TESTS else "two",
        "summary": entry.summary,
        "explanation": list(entry.explanation),
        "historical": entry.historical,
        "covers": list(entry.covers),
        "sides": list(entry.sides),
        "paper": entry.paper,
        "doi": doi_of(entry),
    }


def _figures() -> dict[str, Iterable[Any]]:
    from bestofk.report.figures.registry import FIGURES

    return {"": FIGURES.values()}


def _formats() -> dict[str, Iterable[Any]]:
    from bestofk.evals.formats import known_formats
    from bestofk.losses import LOSS_FORMATS

    return {
        "Tables of scores (scores, size)": LOSS_FORMATS.values(),
        "Evaluation logs (evals, gate)": [
            _Line(name=one.name, summary=f"{one.called}: {one.files}" if one.files else one.called)
            for one in known_formats().values()
        ],
    }


def _rules() -> dict[str, Iterable[Any]]:
    from bestofk.decide.registry import RULES

    return _two_levels(RULES)


def _rule_facts(entry: Any) -> list[str]:
    if entry.takes != "losses":
        return [f"decides from {entry.takes}, in Python"]
    return ["decides from losses by a pairwise test" if entry.takes_test else "decides from losses"]


def _plans() -> dict[str, Iterable[Any]]:
    from bestofk.splits.plans import PLANS

    return {"": PLANS.values()}


def _learners() -> dict[str, Iterable[Any]]:
    from bestofk.learners.registry import LEARNERS

    return _two_levels(LEARNERS)


def _datasets() -> dict[str, Iterable[Any]]:
    from bestofk.data.embedded import DATASETS

    return {"": DATASETS.values()}


def _dataset_facts(entry: Any) -> list[str]:
    kind = entry.task if entry.classes is None else f"{entry.task}, {entry.classes} classes"
    return [f"{entry.rows} rows, {entry.columns} columns, {kind}"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """An entry that has only a name and a summary, such as a scorer of scikit-learn."""

    name: str
    summary: str
    task: str = "any"


def _metrics() -> dict[str, Iterable[Any]]:
    from sklearn.metrics import get_scorer_names

    from bestofk.losses.losses import metric_of
    from bestofk.run.metrics import LOSSES, loss_shown

    scorers = []
    for name in get_scorer_names():
        if name not in LOSSES:
            metric = metric_of(loss_shown(name))
            better = "larger" if metric.higher_is_better else "smaller"
            scorers.append(_Line(name=name, summary=f"{metric.name}, {better} is better"))
    return {
        "": LOSSES.values(),
        "Scorers of scikit-learn, shown in their own direction": scorers,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """A name that ``--set`` takes."""

    name: str
    summary: str
    explanation: tuple[str, ...]


_SETTINGS = {
    "Decision (compare, scores, evals, show)": ("scores", (SETTINGS,)),
    "Run (compare)": ("compare", (EXECUTION, "bestofk:compare", "bestofk:StopRule")),
    "Table of scores (scores, size)": ("scores", (READ_SCORES,)),
    "Evaluation logs (evals, gate)": ("evals", ("bestofk:read_evals", "bestofk:compare_evals")),
}
"""By title: a command, and where its settings are described."""


def _settings() -> dict[str, Iterable[Any]]:
    """Return the names that ``--set`` takes, by what they belong to."""
    groups: dict[str, Iterable[Any]] = {}
    known: set[str] = set()
    for title, (command, places) in _SETTINGS.items():
        verb = COMMANDS[command].load()
        known |= {key for one in verb.params for key in (key_of(one), f"{key_of(one)}s")}
        texts = {n: text for place in reversed(places) for n, text in described(place).items()}
        names = {*verb.more} & {*texts} | {n for place in places for n in settable(place)}
        fresh = [name for name in texts if name in names - known and name in verb.kinds()]
        known |= {*fresh}
        groups[title] = [_setting(name, texts[name]) for name in fresh]
    return groups


def _setting(name: str, text: str) -> _Setting:
    plain = text.replace("`", "")
    if plain.startswith("As for"):
        plain = described("bestofk:compare_scores").get(name, plain).replace("`", "")
    return _Setting(name=name, summary=first_sentence(plain).rstrip("."), explanation=(plain,))


def _metric_row(entry: Any) -> dict[str, Any]:
    return {"name": entry.name, "summary": entry.summary, "task": entry.task or "any"}


def entry_row(entry: Any) -> dict[str, Any]:
    names = ("name", "summary", "explanation", "historical", "example", "task", "paper")
    row = {name: getattr(entry, name) for name in names if hasattr(entry, name)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}


LISTINGS = Registry(
    "list",
    Listing(
        name="learners",
        summary="the built-in learners, for --learner",
        groups=_learners,
        facts=lambda entry: [f"parameters counted as complexity: {entry.complexity}"],
        row=entry_row,
        notes=(
            "Any scikit-learn estimator works too: --learner "
            "'sklearn.ensemble:RandomForestClassifier(n_estimators=200)'.",
        ),
    ),
    Listing(
        name="metrics",
        summary="the losses and metrics, for --scoring",
        groups=_metrics,
        facts=lambda entry: [f"for {entry.task}"] if entry.task not in (None, "any") else [],
        row=_metric_row,
        notes=(
            "The first of several decides: --scoring accuracy,log-loss. A class: --scoring f1:yes.",
            "A cost matrix: --scoring costs.csv, rows are the truth.",
        ),
    ),
    Listing(
        name="plans",
        summary="the resampling plans, for --cv",
        groups=_plans,
        facts=lambda entry: [f"e.g. {entry.example}"],
        row=entry_row,
    ),
    Listing(
        name="tests",
        summary="the tests, for --set test=NAME",
        groups=_tests,
        facts=_test_facts,
        row=_test_row,
        notes=("By default the design decides; the output says which test and why.",),
    ),
    Listing(
        name="rules",
        summary="the rules that decide, for --set rule=NAME",
        groups=_rules,
        facts=_rule_facts,
        row=entry_row,
    ),
    Listing(
        name="settings",
        summary="the settings, for --set NAME=VALUE",
        groups=_settings,
        facts=lambda entry: [f"--set {entry.name}=..."],
        row=entry_row,
        notes=("Options of a test are set in the same way: --set df=10.",),
    ),
    Listing(
        name="figures",
        summary="the figures, for --figure NAME=FILE",
        groups=_figures,
        facts=lambda entry: [f"needs {entry.needs}"] if entry.needs else [],
        row=entry_row,
    ),
    Listing(
        name="formats",
        summary="the formats that are recognised by their content, or by --set format=NAME",
        groups=_formats,
        facts=lambda _: [],
        row=entry_row,
    ),
    Listing(
        name="datasets",
        summary="the embedded data sets, for compare",
        groups=_datasets,
        facts=_dataset_facts,
        row=entry_row,
        notes=("The data sets of the papers: bestofk papers fetch uci --to DIR.",),
    ),
)


def _kind(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Return the name of a list, or of an entry; singular forms and a few other words work too."""
    from bestofk._base.errors import UnknownNameError

    if value is None:
        return None
    word = {"losses": "metrics", "scorers": "metrics", "models": "learners"}.get(value, value)
    word = word if word.endswith("s") else f"{word}s"
    if word in LISTINGS:
        return word
    if not _lists_of(value.lower()):
        if value in ("command", "commands", "options"):
            raise click.UsageError(f"There is no list {value!r}: use 'bestofk --help'.")
        raise click.UsageError(str(UnknownNameError("list", value, LISTINGS)))
    return value.lower()


def _lists_of(entry: str) -> list[str]:
    """Return the names of the lists that have an entry."""
    return [name for name, listed in LISTINGS.items() if entry in listed.entries()]


def _complete_kind(_: click.Context, __: click.Parameter, start: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(name, help=listing.summary)
        for name, listing in LISTINGS.items()
        if name.startswith(start)
    ]


def _complete_name(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    listing = LISTINGS.get(context.params.get("kind", ""))
    names = {} if listing is None else listing.entries()
    return [name for name in names if name.startswith(start)]


@click.command("list")
@click.argument("kind", metavar="[WHAT]", required=False, callback=_kind,
                shell_complete=_complete_kind)  # fmt: skip
@click.argument("name", metavar="[NAME]", required=False, shell_complete=_complete_name)
@json_option
def listing(kind: str | None, name: str | None, as_json: bool) -> None:
    """List names that options accept, or explain one of them.

    WHAT is learners, metrics, plans, tests, rules, settings, figures, formats, datasets or
    problems. With NAME (or NAME alone), explain one entry: what it does, when it is right and when
    it is not.

    \b
    Examples:
      bestofk list learners
      bestofk list tests
      bestofk list tests nested-cv-t
      bestofk list plans 5x2 --json
    """
    if kind is None:
        _say_listings(as_json)
        return
    if kind not in LISTINGS:
        if name is not None:
            raise click.UsageError(f"{kind} is a name in a list: bestofk list {kind}.")
        kind, name = _lists_of(kind)[0], kind
    chosen = LISTINGS[kind]
    if name is not None:
        _explain(chosen, name, as_json)
        return
    if as_json:
        rows = [chosen.row(entry) for entry in chosen.entries().values()]
        echo_json({chosen.name: rows})
        return
    groups = {title: list(entries) for title, entries in chosen.groups().items()}
    width = max(len(entry.name) for entries in groups.values() for entry in entries)
    for position, (title, entries) in enumerate(groups.items()):
        if title:
            say(f"{title}:" if position == 0 else f"\n{title}:")
        for entry in entries:
            say_entry(entry.name, entry.summary.replace("`", ""), width)
    say()
    for note in (*chosen.notes, f"More about one: bestofk list {chosen.name} NAME."):
        say(wrapped(note, sys.stdout))


def _say_listings(as_json: bool) -> None:
    if as_json:
        lists = [{"name": name, "summary": one.summary} for name, one in LISTINGS.items()]
        echo_json({"lists": lists})
        return
    width = max(map(len, LISTINGS)) + len("bestofk list ")
    for name, listing in LISTINGS.items():
        say_entry(f"bestofk list {name}", listing.summary, width)


def _explain(listing: Listing, name: str, as_json: bool) -> None:
    from bestofk._base.errors import UnknownNameError

    entries = listing.entries()
    if name not in entries:
        options = {key_of(one): one.opts[0] for one in COMMANDS["compare"].load().params}
        if listing.name == "settings" and name in options:
            raise click.UsageError(
                f"{name!r} is an option: use {options[name]}, see 'bestofk compare --help'."
            )
        raise UnknownNameError(listing.name.removesuffix("s"), name, entries)
    entry = entries[name]
    if as_json:
        echo_json({listing.name: [listing.row(entry)]})
        return
    say_heading(entry.name)
    for sentence in getattr(entry, "explanation", ()) or (f"{entry.summary}.",):
        say(wrapped(sentence.replace("`", ""), sys.stdout))
    if details := _details(listing, entry):
        say()
        say_facts(details)


def _details(listing: Listing, entry: Any) -> dict[str, str]:
    """Return what a reader may want to know after the plain sentences, by label."""
    function = getattr(entry, "function", "").replace(":", ".")
    if getattr(entry, "takes", "") == "losses":
        function = f'bestofk.compare_scores(scores, rule="{entry.name}")'
    source = getattr(entry, "paper", "")
    if hasattr(entry, "citations"):
        from bestofk.report.methods import doi_of

        doi = doi_of(entry)
    else:
        doi = getattr(entry, "doi", None)
    details = {
        "In short": entry.summary if getattr(entry, "explanation", ()) else "",
        "Details": "; ".join(listing.facts(entry)),
        "Source": f"{source}, doi:{doi}" if doi else source,
        "Python": function,
    }
    return {label: text for label, text in details.items() if text}
