"""Compare two decisions, studies or files written by ``--json``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bestofk._base.errors import ArgumentError, TableError
from bestofk._base.formatting import counted, joined, shortened
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
    "guard": "guard",
    "preference": "preference",
    "plan": "cv",
    "design": "design",
    "random_state": "random_state",
    "version": "version of bestofk",
}
"""Keys of a decision in JSON whose values are compared, and their names in sentences."""
REQUIRED = ("ranking", "recommended", "means", "evidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanChange:
    """The mean of a learner in both results; None if a result does not have it."""

    learner: str
    before: float | None
    after: float | None
    rank_before: int | None
    rank_after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChange:
    """The verdict about two learners in both results.

    A verdict is the name of the learner that is shown to be better, ``"open"``, or None if the
    pair was not tested.
    """

    a: str
    b: str
    before: str | None
    after: str | None
    pvalue_before: float | None
    pvalue_after: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Presented):
    """The changes from one result to another.

    Attributes
    ----------
    recommended : tuple of str or None
        The recommended learner before and after.
    metric : tuple of str
        The metric before and after; means are compared only if it is the same.
    means : tuple of MeanChange
        Every learner of either result.
    pairs : tuple of PairChange
        Every tested pair of either result.
    settings : mapping of name to tuple
        Settings that differ, with both values.
    data : tuple of str
        Sentences about data that differ.
    """

    recommended: tuple[str | None, str | None]
    metric: tuple[str, str]
    means: tuple[MeanChange, ...]
    pairs: tuple[PairChange, ...]
    settings: Mapping[str, tuple[Any, Any]]
    data: tuple[str, ...]

    @property
    def changed_pairs(self) -> tuple[PairChange, ...]:
        """Pairs that both results tested, with different verdicts."""
        return tuple(
            pair
            for pair in self.pairs
            if None not in (pair.before, pair.after) and pair.before != pair.after
        )

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
        return {
            "learner": [row.learner for row in self.means],
            "before": [row.before for row in self.means],
            "after": [row.after for row in self.means],
            "change": [_change(row) for row in self.means],
            "rank_before": [row.rank_before for row in self.means],
            "rank_after": [row.rank_after for row in self.means],
        }

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
        gone = [row.learner for row in self.means if row.rank_after is None]
        new = [row.learner for row in self.means if row.rank_before is None]
        sentences = [f"Added: {shortened(new, MAX_LISTED)}."] if new else []
        return sentences + ([f"Removed: {shortened(gone, MAX_LISTED)}."] if gone else [])

    def _verdicts(self) -> list[str]:
        common = [pair for pair in self.pairs if None not in (pair.before, pair.after)]
        if not common:
            return ["No pair of learners was tested in both."]
        changed = self.changed_pairs
        if not changed:
            if len(common) == 1:
                return ["The verdict about the pair is the same."]
            return [f"The verdicts about all {len(common)} common pairs are the same."]
        sentences = [_verdict(pair) for pair in changed[:MAX_LISTED]]
        if len(changed) > MAX_LISTED:
            more = counted(len(changed) - MAX_LISTED, "more changed verdict")
            sentences.append(f"There {'is' if more.startswith('1 ') else 'are'} {more}.")
        return sentences

    def _means(self) -> list[str]:
        before, after = self.metric
        if before != after:
            return [f"The metric changed from {before} to {after}, so means are not compared."]
        rows = [row for row in self.means if row.before is not None and row.after is not None]
        changed = [row for row in rows if row.before != row.after]
        if not rows:
            return []
        if not changed:
            return [f"All means of {after} are the same."]
        changed.sort(key=lambda row: -abs(_change(row) or 0.0))
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
    >>> losses = bk.read_losses("breast-cancer-10x10")
    >>> strict = bk.order(losses, alpha=0.001)
    >>> print(bk.diff(bk.order(losses), strict).explain())
    The recommendation is the same: logistic-regression.
    logistic-regression is no longer shown to be better than 1-nn.
    ...
    All means of error rate are the same.
    Settings: alpha from 0.05 to 0.001.
    """
    old, new = _result(before), _result(after)
    names = list(dict.fromkeys((*new["ranking"], *new["means"], *old["ranking"], *old["means"])))
    return Difference(
        recommended=(old["recommended"], new["recommended"]),
        metric=(_metric(old), _metric(new)),
        means=tuple(
            MeanChange(
                learner=name,
                before=old["means"].get(name),
                after=new["means"].get(name),
                rank_before=_rank(old, name),
                rank_after=_rank(new, name),
            )
            for name in names
        ),
        pairs=_pairs(old, new),
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
        "ranking": [_learner(name) for name in content["ranking"]],
        "means": {_learner(name): mean for name, mean in content["means"].items()},
        "claims": _claims(content),
        "evidence": [
            {**row, "a": _learner(row["a"]), "b": _learner(row["b"])} for row in content["evidence"]
        ],
    }


def _claims(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (better, worse) of every claim, also about pairs that are not listed."""
    names = [_learner(name) for name in content.get("by_preference", ())]
    beats = enumerate(content.get("beats", ()))
    return [(names[better], names[worse]) for better, beaten in beats for worse in beaten]


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


def _rank(result: Mapping[str, Any], name: str) -> int | None:
    """Return the rank of a learner, by mean if the ranking lacks it."""
    order = list(dict.fromkeys((*result["ranking"], *result["means"])))
    return order.index(name) + 1 if name in order else None


def _change(row: MeanChange) -> float | None:
    return None if row.before is None or row.after is None else row.after - row.before


def _pairs(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[PairChange, ...]:
    before, after = _verdicts_of(old), _verdicts_of(new)
    listed = {frozenset((row["a"], row["b"])) for one in (old, new) for row in one["evidence"]}
    learners = [_all_compared(one) for one in (old, new)]
    rows = []
    for pair in dict.fromkeys((*after, *before)):
        (verdict, p), (verdict_after, p_after) = (
            verdicts.get(pair, ("open" if pair <= names else None, None))
            for verdicts, names in zip((before, after), learners, strict=True)
        )
        if pair in listed or verdict != verdict_after:
            a, b = sorted(pair)
            rows.append(
                PairChange(
                    a=a, b=b, before=verdict, after=verdict_after, pvalue_before=p,
                    pvalue_after=p_after,
                )
            )  # fmt: skip
    return tuple(rows)


def _all_compared(result: Mapping[str, Any]) -> set[str]:
    """Return the learners of a result that tested all pairs but does not list all."""
    names = set(result["means"])
    all_tested = result.get("comparisons") == len(names) * (len(names) - 1) // 2
    return names if all_tested and result.get("pairs") == "recommended" else set()


def _verdicts_of(
    result: Mapping[str, Any],
) -> dict[frozenset[str], tuple[str | None, float | None]]:
    """Return the verdict and the adjusted p-value of every tested pair."""
    claims = {frozenset(claim): claim[0] for claim in result["claims"]}
    verdicts: dict[frozenset[str], tuple[str | None, float | None]] = {
        pair: (better, None) for pair, better in claims.items()
    }
    for row in result["evidence"]:
        pair = frozenset((row["a"], row["b"]))
        verdicts[pair] = claims.get(pair, "open"), row.get("adjusted_pvalue")
    return verdicts


def _verdict(pair: PairChange) -> str:
    """Return a sentence about a verdict that changed."""
    other = {pair.a: pair.b, pair.b: pair.a}
    if pair.before == "open":
        return f"{pair.after} is now shown to be better than {other[str(pair.after)]}."
    if pair.after == "open":
        return f"{pair.before} is no longer shown to be better than {other[str(pair.before)]}."
    return f"{pair.after} is now shown to be better than {pair.before}; before, it was the reverse."


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
