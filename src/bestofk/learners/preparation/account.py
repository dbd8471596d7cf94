"""What was done to the rows inside the folds, for each learner: as a value and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bestofk.presenting import Presented, without_effect
from bestofk.wording import joined

MOST_DATA_SETS = 3
"""So many data sets have a sentence of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation(Presented):
    """What one learner was given instead of the columns as they are.

    Attributes
    ----------
    one_of_n : int
        Nominal columns that became 1-of-n inputs.
    filled : int
        Missing numbers that took the mean of the training rows.
    zeros : int
        Missing nominal cells whose 1-of-n inputs are all zero.
    modes : int
        Missing nominal cells that took the most frequent value of the training rows.
    words : int
        Missing nominal cells that count as a value of their own.
    form : str
        In which form the rows were handed, where not in that which was declared.
    codes : bool
        Labels were handed as 0, 1, ...
    itself : bool
        The learner does it, as its description says.

    Examples
    --------
    >>> Preparation(one_of_n=3, filled=1927).explain()
    '3 columns 1-of-n, 1,927 missing cells filled by the training mean'
    >>> Preparation().explain()
    'none'
    """

    one_of_n: int = 0
    filled: int = 0
    zeros: int = 0
    modes: int = 0
    words: int = 0
    form: str = ""
    codes: bool = False
    itself: bool = False

    @property
    def columns_changed(self) -> bool:
        """Whether we made other columns or numbers of what was given."""
        return not self.itself and bool(self.one_of_n or self.filled)

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """What was done, in a few words; `names` and `alpha` have no effect on them."""
        without_effect(names, alpha)
        said = []
        if self.one_of_n:
            blank = f" ({_cells(self.zeros)} as zeros)" if self.zeros else ""
            said.append(f"{_columns(self.one_of_n)} 1-of-n{blank}")
        if self.filled:
            said.append(f"{_cells(self.filled)} filled by the training mean")
        if self.modes:
            said.append(f"{_cells(self.modes)} filled by the most frequent training value")
        if self.words:
            said.append(
                f"{_cells(self.words)} as a value of {'its' if self.words == 1 else 'their'} own"
            )
        if self.form:
            said.append(self.form)
        if self.codes:
            said.append("labels as codes")
        return ", ".join(said) or "none"

    def to_dict(self) -> dict[str, Any]:
        """For strict JSON, with the words."""
        return {**asdict(self), "said": self.explain()}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Preparation:
        """What `to_dict` wrote; fields of later versions are left out."""
        return cls(**{name: found[name] for name in cls.__dataclass_fields__ if name in found})


def sentences(done: Mapping[str, Mapping[str, Preparation]]) -> list[str]:
    """By data set and learner: a sentence per data set, none where nothing was done.

    Examples
    --------
    >>> sentences({"horse": {"svm": Preparation(one_of_n=3), "c4.5": Preparation()}})
    ['Preparation inside the folds: 3 columns 1-of-n for svm; none for c4.5.']
    """
    told = {name: by for name, by in done.items() if any(map(_is_some, by.values()))}
    found = []
    for name, by_learner in list(told.items())[:MOST_DATA_SETS]:
        where = f" of {name}" if len(done) > 1 else ""
        found.append(f"Preparation inside the folds{where}: {_by_words(by_learner)}.")
    more = len(told) - len(found)
    if more > 0:
        found.append(
            f"Preparation inside the folds of {more} more data set{'s' * (more != 1)}: see the "
            "JSON."
        )
    return found


def _is_some(one: Preparation) -> bool:
    return one != Preparation(itself=one.itself)


def _by_words(by_learner: Mapping[str, Preparation]) -> str:
    groups: dict[tuple[bool, str], list[str]] = {}
    for learner, one in by_learner.items():
        some = _is_some(one)
        groups.setdefault((some and one.itself, one.explain()), []).append(learner)
    done = [(key, names) for key, names in groups.items() if key[1] != "none"]
    none = [names for key, names in groups.items() if key[1] == "none"]
    said = [
        f"{words} {'by' if itself else 'for'} {_names(names)}{' itself' * itself}"
        for (itself, words), names in done
    ]
    return "; ".join([*said, *(f"none for {_names(names)}" for names in none)])


def _names(names: Sequence[str]) -> str:
    return joined(list(names))


def _columns(count: int) -> str:
    return f"{count:,} column{'s' * (count != 1)}"


def _cells(count: int) -> str:
    return f"{count:,} missing cell{'s' * (count != 1)}"
