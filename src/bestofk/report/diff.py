"""Compare two decisions, studies or files written by ``--json``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bestofk._base.errors import ArgumentError, TableError
from bestofk._base.formatting import joined, shortened
from bestofk._base.results import Presented

MAX_LISTED = 12
"""Learners, pairs or settings that a sentence names; the JSON has all."""
SETTINGS = {
    "procedure": "procedure",
    "test": "test",
    "alpha": "alpha",
    "correction": "correction",
    "family": "family",
    "margin": "margin",
    "rope": "rope",
    "preference": "preference",
    "plan": "cv",
    "design": "design",
    "random_state": "random_state",
    "version": "version of bestofk",
}
"""Keys of a decision in JSON whose values are compared, and their names in sentences."""
REQUIRED = ("recommended", "table")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerChange:
    """The mean and the verdict of a learner in both results; None if a result lacks it."""

    learner: str
    before: float | None
    after: float | None
    verdict_before: str | None
    verdict_after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Presented):
    """The changes from one result to another.

    Attributes
    ----------
    recommended : tuple of str or None
        The recommended learner before and after.
    metric : tuple of str
        The metric before and after; means are compared only if it is the same.
    learners : tuple of LearnerChange
        Every learner of either result.
    settings : mapping of name to tuple
        Settings that differ, with both values.
    data : tuple of str
        Sentences about data that differ.
    """

    recommended: tuple[str | None, str | None]
    metric: tuple[str, str]
    learners: tuple[LearnerChange, ...]
    settings: Mapping[str, tuple[Any, Any]]
    data: tuple[str, ...]

    def explain(self) -> str:
        """Return the changes in sentences; the recommendation comes first."""
        sentences = [
            self._recommendation(),
            *self._learners(),
            *self._verdicts(),
            *self._means(),
            *self._settings(),
            *self.data,
        ]
        return "\n".join(sentences)

    def to_dict(self) -> dict[str, Any]:
        """Return the changes for strict JSON."""
        return {**Presented.to_dict(self), "explanation": self.explain()}

    def _columns(self) -> dict[str, Any]:
        names = ("learner", "before", "after", "verdict_before", "verdict_after")
        return {name: [getattr(row, name) for row in self.learners] for name in names}

    def _recommendation(self) -> str:
        before, after = self.recommended
        if before == after:
            if before is None:
                return "Neither result recommends a learner."
            return f"The recommendation is the same: {before}."
        if before is None or after is None:
            when = "after" if before is None else "before"
            return f"Only the result {when} recommends a learner: {before or after}."
        return f"The recommendation changed from {before} to {after}."

    def _learners(self) -> list[str]:
        gone = [row.learner for row in self.learners if row.after is None]
        new = [row.learner for row in self.learners if row.before is None]
        sentences = [f"Added: {shortened(new, MAX_LISTED)}."] if new else []
        return sentences + ([f"Removed: {shortened(gone, MAX_LISTED)}."] if gone else [])

    def _verdicts(self) -> list[str]:
        common = [row for row in self.learners if None not in (row.before, row.after)]
        listed = [
            f"{row.learner} from {row.verdict_before!r} to {row.verdict_after!r}"
            for row in common
            if row.verdict_before != row.verdict_after
        ]
        if not listed:
            return ["All verdicts are the same."] if common else []
        return [f"Verdicts: {shortened(listed, MAX_LISTED)}."]

    def _means(self) -> list[str]:
        before, after = self.metric
        if before != after:
            return [f"The metric changed from {before} to {after}, so means are not compared."]
        rows = [row for row in self.learners if row.before is not None and row.after is not None]
        changed = [row for row in rows if row.before != row.after]
        if not rows:
            return []
        if not changed:
            return [f"All means of {after} are the same."]
        listed = [f"{row.learner} from {row.before:.4g} to {row.after:.4g}" for row in changed]
        return [f"Mean {after}: {shortened(listed, MAX_LISTED)}."]

    def _settings(self) -> list[str]:
        listed = [
            f"{name} from {_shown(before)} to {_shown(after)}"
            for name, (before, after) in self.settings.items()
        ]
        return [f"Settings: {joined(listed)}."] if listed else ["All settings are the same."]


def diff(before: Any, after: Any) -> Difference:
    """Compare two results: recommendation, verdicts, means, settings and data.

    Parameters
    ----------
    before, after : Decision, Study, ModelChoice, dict or path
        Results; their `to_dict`; a JSON file that ``--json`` wrote; or a store with one study.
        ``"study.db:2"`` is the second study in a store.

    Returns
    -------
    Difference

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.read_scores("breast-cancer-10x10")
    >>> strict = bk.compare_scores(losses, alpha=0.001)
    >>> print(bk.diff(bk.compare_scores(losses), strict).explain())
    The recommendation is the same: logistic-regression.
    Verdicts: 1-nn from 'ruled out' to 'may be the best' and gaussian-nb from ...
    All means of error rate are the same.
    Settings: alpha from 0.05 to 0.001.
    """
    old, new = _result(before), _result(after)
    rows = [{row["name"]: row for row in one["table"]} for one in (old, new)]
    names = dict.fromkeys((*rows[1], *rows[0]))
    cells = {name: [row.get(name, {}) for row in rows] for name in names}
    return Difference(
        recommended=(old["recommended"], new["recommended"]),
        metric=(_metric(old), _metric(new)),
        learners=tuple(
            LearnerChange(
                learner=name,
                before=was.get("mean"),
                after=now.get("mean"),
                verdict_before=was.get("verdict"),
                verdict_after=now.get("verdict"),
            )
            for name, (was, now) in cells.items()
        ),
        settings={
            label: (old.get(key), new.get(key))
            for key, label in SETTINGS.items()
            if old.get(key) != new.get(key)
        },
        data=tuple(_data(old, new)),
    )


def _result(value: Any) -> dict[str, Any]:
    """Return a result as its JSON object."""
    if isinstance(value, str | os.PathLike):
        value = _read(os.fspath(value))
    content = value if isinstance(value, dict) else getattr(value, "to_dict", dict)()
    lacking = [name for name in REQUIRED if name not in content]
    if lacking:
        raise ArgumentError(
            "diff compares decisions, studies, choices of models and their JSON; got "
            f"{type(value).__name__} without {lacking[0]!r}."
        )
    preference = content.get("preference")
    if preference == "stated":
        preference = ", ".join(map(_learner, content["by_preference"]))
    recommended = content["recommended"]
    return {
        **content,
        "preference": preference,
        "recommended": None if recommended is None else _learner(recommended),
        "table": [{**row, "name": _learner(row["name"])} for row in content["table"]],
    }


def _learner(name: Any) -> str:
    """Return the name of a learner in sentences; those of arrays are numbers."""
    return f"learner {name}" if str(name).isdigit() else str(name)


def _read(text: str) -> Any:
    """Read a JSON file or a study of a store."""
    path = Path(text)
    if path.is_file() and _starts_with_brace(path):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise TableError(f"{text} is not JSON: {error}.") from None
        if not isinstance(content, dict) or any(name not in content for name in REQUIRED):
            raise TableError(
                f"{text} is not a result: write it with --json of compare, order or evals."
            )
        return content
    from bestofk.run.open_study import study_at

    return study_at(text)


def _starts_with_brace(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(100).lstrip().startswith(b"{")


def _metric(result: Mapping[str, Any]) -> str:
    return str((result.get("metric") or {}).get("name", "loss"))


def _data(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return sentences about data that differ."""
    before, after = (
        {row["name"]: row for row in result.get("datasets", ())} for result in (old, new)
    )
    sentences = []
    for title, names in (
        ("Data sets added", [name for name in after if name not in before]),
        ("Data sets removed", [name for name in before if name not in after]),
    ):
        if names and before and after:
            sentences.append(f"{title}: {shortened(names, MAX_LISTED)}.")
    for name in (name for name in after if name in before):
        rows = before[name]["rows"], after[name]["rows"]
        if before[name]["fingerprint"] == after[name]["fingerprint"]:
            continue
        sizes = f"{rows[0]} rows before, {rows[1]} now" if rows[0] != rows[1] else f"{rows[0]} rows"
        sentences.append(f"The contents of the data set {name} changed ({sizes}).")
    if before and after and not sentences:
        sentences.append("The data are the same.")
    return sentences


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)
