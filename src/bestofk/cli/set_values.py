"""``--set NAME=VALUE``, ``--config FILE.toml``, and keywords of the library as options.

A rare option is a field of `bestofk.Settings` or `bestofk.Execution`, or a keyword of the function
that a command calls. Its name and type come from there, and so does its line in ``bestofk list
settings``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import Any

import click

from bestofk._base.errors import Advice
from bestofk._base.files import read_toml
from bestofk._base.registry import resolve
from bestofk._base.synonyms import meant

SETTINGS = "bestofk:Settings"
EXECUTION = "bestofk:Execution"
READ_SCORES = "bestofk:read_scores"

_NOT_TYPED = {
    "settings", "execution", "simulation", "progress", "command", "keep_predictions",
}  # fmt: skip
"""Fields and keywords whose values cannot be typed, or that commands fill in."""
_TIMES = ("budget", "timeout")
_SECONDS_BY_UNIT = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@cache
def settable(place: str) -> dict[str, str]:
    """Return the types of the fields of a class, or of the keywords of a function, by name.

    Examples
    --------
    >>> settable("bestofk:StopRule")["risk"]
    'float'
    """
    value = resolve(place)
    if is_dataclass(value):
        kinds = {field.name: str(field.type) for field in fields(value)}
    else:
        parameters = signature(value).parameters.items()
        kinds = {
            name: str(parameter.annotation)
            for name, parameter in parameters
            if parameter.kind is Parameter.KEYWORD_ONLY
        }
    return {name: kind for name, kind in kinds.items() if name not in _NOT_TYPED}


@cache
def described(place: str) -> dict[str, str]:
    """Return the descriptions in the docstring of a class or function, by name."""
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in (getdoc(resolve(place)) or "").split("\n"):
        heading = re.fullmatch(r"(\w+(?:, \w+)*)(?: : .*)?", line)
        if heading:
            names = heading[1].split(", ")
        elif line.startswith("    "):
            texts |= {name: f"{texts.get(name, '')} {line.strip()}".strip() for name in names}
        else:
            names = []
    return texts


def first_sentence(text: str) -> str:
    """Return the first sentence of a description.

    Examples
    --------
    >>> first_sentence("Number of workers; e.g. 2. More is faster.")
    'Number of workers; e.g. 2.'
    """
    return re.split(r"(?<=[^.][^.gv]\.)\s+(?=[A-Z])", text, maxsplit=1)[0]


def taken(options: dict[str, Any], *places: str) -> dict[str, Any]:
    """Remove the fields or keywords of `places` from `options`, and return those that are set."""
    names = [name for place in places for name in settable(place) if name in options]
    values = {name: options.pop(name) for name in dict.fromkeys(names)}
    return {name: value for name, value in values.items() if value not in (None, (), {})}


@cache
def _test_options() -> dict[str, str]:
    """Return the types of the options that some test has, by name."""
    from bestofk.stats.multiple.registry import MULTIPLE_TESTS
    from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

    return {
        name: str(parameter.annotation)
        for entry in (*PAIRWISE_TESTS.values(), *MULTIPLE_TESTS.values())
        for name, parameter in signature(entry.load()).parameters.items()
        if parameter.kind is Parameter.KEYWORD_ONLY
    }


def seconds(text: str, option: str) -> float:
    """Return ``90``, ``90s``, ``10m``, ``2h`` or ``1d`` in seconds."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([smhd])(?:ec|in|ours?|ays?)?)?\s*", text)
    if match is None or float(match[1]) == 0:
        raise click.UsageError(f"{option} must be a time such as 90, 30s, 10m or 2h; got {text!r}.")
    return float(match[1]) * _SECONDS_BY_UNIT[match[2] or ""]


def _value(name: str, text: str, kind: str, before: Any = None) -> Any:
    """Return a typed text as a value of this type; several texts of a mapping are one."""
    kinds = {part.strip().split("[")[0] for part in kind.split("|")}
    if name in _TIMES:
        return seconds(text, f"--set {name}")
    if "None" in kinds and text.lower() == "none":
        return None
    if "bool" in kinds and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if kinds & {"Mapping", "dict"}:
        key, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--set {name} must be {name}=KEY=VALUE; got {text!r}.")
        return {**(before or {}), key: value}
    if kinds & {"Names", "Sequence", "tuple", "list"}:
        parts = names_in(text)
        is_numeric = "tuple" in kinds and all(map(_is_number, parts))
        return tuple(map(float, parts)) if is_numeric else parts
    for word, read in (("int", int), ("RandomState", int), ("float", float)):
        if word in kinds:
            try:
                return read(text)
            except ValueError:
                if not kinds & {"str", "Any", "Callable", "float"}:
                    noun = "a whole number" if read is int else "a number"
                    raise click.UsageError(f"--set {name} must be {noun}; got {text!r}.") from None
    if kinds == {"bool"} or kinds == {"bool", "None"}:
        raise click.UsageError(f"--set {name} must be true or false; got {text!r}.")
    return text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def names_in(text: str | None) -> list[str]:
    """Return the names in ``a,b,c``."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


class SettingsCommand(click.Command):
    """A command with ``--set`` and ``--config``.

    `places` are the classes and functions whose fields and keywords ``--set`` takes, and `more`
    has further types by name. The values join the other options of the command.
    """

    def __init__(
        self,
        *arguments: Any,
        places: Sequence[str] = (),
        more: Mapping[str, str] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(*arguments, **attributes)
        self.places = tuple(places)
        self.more = dict(more or {})
        self.params += [
            click.Option(
                ["--set", "set_values"], multiple=True, metavar="NAME=VALUE",
                help="Any other setting, such as test=wilcoxon: bestofk list settings.",
            ),
            click.Option(
                ["--config"], metavar="F.toml", expose_value=False,
                help="Read options from a file, such as alpha = 0.01.",
            ),
        ]  # fmt: skip

    def kinds(self) -> dict[str, str]:
        """Return the types of all values that ``--set`` takes, by name."""
        return {**{n: k for place in self.places for n, k in settable(place).items()}, **self.more}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            args = self._with_file(ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        ctx.params |= self._set(ctx.params.pop("set_values", ()))
        return super().invoke(ctx)

    def _set(self, texts: Sequence[str]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for text in texts:
            typed, equals, value = text.partition("=")
            name = typed.strip().replace("-", "_")
            if not equals or not name:
                raise click.UsageError(f"--set must be NAME=VALUE; got {text!r}.")
            kinds = self.kinds()
            if name == "test_options" and name in kinds:
                name, _, value = value.partition("=")
            if name in kinds:
                values[name] = _value(name, value, kinds[name], values.get(name))
                continue
            if "test_options" in kinds and name in _test_options():
                of_test = values.setdefault("test_options", {})
                of_test[name] = _value(name, value, _test_options()[name])
                continue
            options = {str(key_of(one)).replace("-", "_") for one in self.params}
            near = meant(name, [*kinds, *options], most=1, cutoff=0.6)
            option = near and near[0] in options and near[0] not in kinds
            word = (
                f"--{near[0].replace('_', '-')}" if option else f"--set {near[0]}" if near else ""
            )
            advice = f": use {word}" if near else ": see 'bestofk list settings'"
            raise click.UsageError(f"There is no setting {name!r}{advice}.")
        return values

    def _with_file(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the words with the options of ``--config`` that were not typed."""
        typed, _, _ = self.make_parser(ctx).parse_args(list(args))
        path = typed.get("config")
        if path is None:
            return args
        words = self._words(ctx, str(path), typed)
        at = next(k for k, word in enumerate(args) if word.startswith("--config"))
        end = at + (1 if args[at].startswith("--config=") else 2)
        expanded = [*args[:at], *words, *args[end:]]
        root = ctx.find_root()
        if root.obj:
            # what the store and the report record
            root.obj = [*root.obj[: len(root.obj) - len(args)], *expanded]
        return expanded

    def _words(self, ctx: click.Context, path: str, typed: Mapping[str, Any]) -> list[str]:
        parameters = {key_of(one): one for one in self.params if key_of(one) != "config"}
        words: list[str] = []
        for key, value in read_toml(Path(path)).items():
            name = key.replace("-", "_")
            parameter = parameters.get(name)
            if parameter is not None:
                value_typed = typed.get(str(parameter.name))
                if not isinstance(value_typed, str | bool | list | tuple) or value_typed in (
                    (),
                    [],
                ):
                    words += _as_words(parameter, value, key, path)
            elif name in self.kinds():
                if not any(text.startswith(f"{name}=") for text in typed.get("set_values") or ()):
                    words += [word for one in _texts(value) for word in ("--set", f"{name}={one}")]
            else:
                near = meant(key, [*parameters, *self.kinds()], cutoff=0.6)
                advice = f"; did you mean {near[0]!r}?" if near else "."
                raise click.UsageError(
                    f"{path}: {ctx.command_path} has no option {key!r}{advice}", ctx
                )
        return words


def key_of(parameter: click.Parameter) -> str:
    """Return the key of a parameter in a file: its name on the command line.

    Examples
    --------
    >>> key_of(click.Option(["--random-state", "seed"])), key_of(click.Argument(["data"]))
    ('random_state', 'data')
    """
    if isinstance(parameter, click.Argument):
        return str(parameter.name)
    return max(parameter.opts, key=len).lstrip("-").replace("-", "_")


def _texts(value: Any) -> list[str]:
    """Return a value of a file as texts; a table has one per key."""
    if isinstance(value, dict):
        return [f"{name}={one}" for name, one in value.items()]
    if isinstance(value, list):
        return [",".join(map(str, value))]
    return [str(value).lower() if isinstance(value, bool) else str(value)]


def _as_words(parameter: click.Parameter, value: Any, key: str, path: str) -> list[str]:
    """Return an option of a file as it would be typed."""
    flag = isinstance(parameter, click.Option) and parameter.is_flag
    if flag != isinstance(value, bool):
        expected = "true or false" if flag else "a value, not true or false"
        raise click.UsageError(f"{path}: {key} must be {expected}; got {value!r}.")
    if flag:
        return (parameter.opts if value else parameter.secondary_opts)[:1]
    several = parameter.multiple or parameter.nargs != 1
    texts = [str(one) for one in value] if several and isinstance(value, list) else _texts(value)
    if isinstance(parameter, click.Argument):
        return texts
    return [word for text in texts for word in (parameter.opts[0], text)]


# Advice of the library as options


_OPTION_NAMES = {"number": "study", "scoring": "metric"}
"""Keywords whose option may have another name."""
_ROLES = {"groups": "groups", "folds": "fold", "cluster": "cluster"}
"""Keywords that are a role of ``--column`` if there is no such option."""


def command_of(words: Sequence[str]) -> click.Command | None:
    """Return the command among the typed words; None if there is none."""
    from bestofk.cli.app import bestofk

    command: click.Command | None = bestofk
    for word in [*words[1:], ""]:
        if not isinstance(command, click.Group):
            break
        known = command.list_commands(click.Context(command))
        name = word if word in known else getattr(command, "default", None)
        command = command if name is None else command.get_command(click.Context(command), name)
    return command


def shown_by(words: Sequence[str]) -> Callable[[Advice], str]:
    """Return the function that writes advice as an option of the typed command."""
    command = command_of(words)
    return lambda advice: typed(advice, command)


def typed(advice: Advice, command: click.Command | None) -> str:
    """Return advice as an option of a command; in Python's form if it has no such option.

    Examples
    --------
    >>> from bestofk._base.errors import argument, use
    >>> scores = command_of(["bestofk", "scores"])
    >>> typed(use(metric="roc auc"), scores), typed(use(higher_is_better=False), scores)
    ("--metric 'roc auc'", '--lower-is-better')
    >>> typed(use(where={"constraint": "1h"}), scores), typed(use(test="sign"), scores)
    ('--set where=constraint=1h', '--set test=sign')
    >>> typed(argument("prefer"), scores), typed(argument("rope"), scores)
    ('--prefer', '--set rope')
    """
    keyword, value = advice.keyword, advice.value
    options = {key_of(one): one for one in getattr(command, "params", ())}
    settings = command.kinds() if isinstance(command, SettingsCommand) else {}
    if keyword == "test_options" and isinstance(value, dict) and keyword in settings:
        return " ".join(typed(Advice(name, one), command) for name, one in value.items())
    if keyword == "models" and "learners" in settings:
        keyword = "learners"
    names = (keyword, keyword.removesuffix("s"), _OPTION_NAMES.get(keyword, keyword))
    option = next((options[name] for name in names if name in options), None)
    if option is None and keyword in _ROLES and "column" in options:
        column = {_ROLES[keyword]: value}
        return typed(replace(advice, keyword="columns", value=column), command)
    if advice.name_only and isinstance(option, click.Option):
        return option.opts[0]
    if advice.name_only:
        return f"--set {keyword}" if keyword in settings else keyword
    if isinstance(option, click.Option) and option.is_flag == isinstance(value, bool):
        if option.is_flag:
            return (option.opts if value else option.secondary_opts or [str(advice)])[0]
        form = f"{option.opts[0]} "
    elif keyword in settings or ("test_options" in settings and keyword in _test_options()):
        form = f"--set {keyword}="
    else:
        return str(advice)
    if value is Ellipsis:
        return f"{form}..."
    if value is None:
        return str(advice) if option is not None else f"{form}none"
    if isinstance(value, dict):
        texts = [f"{key}={one}" for key, one in value.items()]
    elif isinstance(value, list | tuple):
        several = isinstance(option, click.Option) and option.multiple
        texts = list(map(str, value)) if several else [",".join(map(str, value))]
    else:
        texts = [str(value).lower() if isinstance(value, bool) else str(value)]
    start, _, end = form.partition(" ")
    return " ".join(f"{start} {shlex.quote(end + text)}" for text in texts)
