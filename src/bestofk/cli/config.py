"""``--config FILE.toml``: options of a command from a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from bestofk._base.synonyms import meant

EXPANDED = "bestofk.config"
"""Key of the context under which the values of the file are kept."""


def _read(context: click.Context, _: click.Parameter, path: str | None) -> str | None:
    """Use the values of the file as defaults; options on the command line win."""
    if path is None or context.resilient_parsing:
        return path
    parameters = _parameters(context)
    values = {}
    for key, value in _table(path).items():
        name = key.replace("-", "_")
        if name not in parameters:
            raise click.UsageError(_unknown(path, key, parameters, context), context)
        parameter = parameters[name]
        values[parameter.name or ""] = _value(value, parameter, key, path)
    context.default_map = {**(context.default_map or {}), **values}
    context.meta[EXPANDED] = path
    return path


config_option = click.option(
    "--config", metavar="F.toml", is_eager=True, expose_value=False, callback=_read,
    help="Read options from a file, such as alpha = 0.01.",
)  # fmt: skip


class RepeatedArgument(click.Argument):
    """An argument with any number of values, which can be in the file."""

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """Return the values; click 8.1 looks only for absent ones in the file."""
        return super().consume_value(
            ctx, {name: value for name, value in opts.items() if value != ()}
        )


def key_of(parameter: click.Parameter) -> str:
    """Return the key of a parameter in a file: its name on the command line.

    Examples
    --------
    >>> key_of(click.Option(["--n-jobs", "jobs"])), key_of(click.Argument(["data"]))
    ('n_jobs', 'data')
    """
    if isinstance(parameter, click.Argument):
        return str(parameter.name)
    return max(parameter.opts, key=len).lstrip("-").replace("-", "_")


def _parameters(context: click.Context) -> dict[str, click.Parameter]:
    return {
        key_of(parameter): parameter
        for parameter in context.command.get_params(context)
        if parameter.name not in ("help", "help_all", "config", "version")
    }


def _table(path: str) -> dict[str, Any]:
    import tomllib

    from bestofk.data.tables.limits import regular_size

    regular_size(Path(path))
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"--config: {path} is not TOML: {error}") from None


def _unknown(
    path: str, key: str, parameters: dict[str, click.Parameter], context: click.Context
) -> str:
    near = meant(key, parameters, cutoff=0.6)
    if not near:
        return f"{path}: {context.command_path} has no option {key!r}."
    return f"{path}: {context.command_path} has no option {key!r}; did you mean {near[0]!r}?"


def _value(value: Any, parameter: click.Parameter, key: str, path: str) -> Any:
    """Return a value of the file in the form that click expects of a default."""
    flag = isinstance(parameter, click.Option) and parameter.is_flag
    if flag != isinstance(value, bool):
        expected = "true or false" if flag else "a value, not true or false"
        raise click.UsageError(f"{path}: {key} must be {expected}; got {value!r}.")
    if isinstance(value, dict):
        value = [f"{name}={one}" for name, one in value.items()]
    if flag:
        return value
    several = parameter.multiple or parameter.nargs != 1
    if isinstance(value, list):
        texts = [str(one) for one in value]
        return texts if several else ",".join(texts)
    return [str(value)] if several else str(value)


def expanded_words(context: click.Context) -> list[str]:
    """Return the options that come from the file, as they would be typed."""
    words: list[str] = []
    if EXPANDED not in context.meta:
        return words
    for parameter in context.command.get_params(context):
        source = context.get_parameter_source(parameter.name or "")
        if source is not ParameterSource.DEFAULT_MAP:
            continue
        value = (context.default_map or {})[parameter.name or ""]
        values = value if isinstance(value, list) else [value]
        if isinstance(parameter, click.Argument):
            words = [*values, *words]
        elif isinstance(value, bool):
            words += (parameter.opts if value else parameter.secondary_opts)[:1]
        elif isinstance(parameter, click.Option) and parameter.nargs != 1:
            words += [parameter.opts[0], *values]
        else:
            words += [word for one in values for word in (parameter.opts[0], one)]
    return words
