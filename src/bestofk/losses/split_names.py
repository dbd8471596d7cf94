"""Names of splits as people write them: split0_test_score, fold1, accuracy_fold_3, cv2."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_SCORER = re.compile(r"split(\d{1,6})_test_(.+)")
_FOLD = re.compile(
    r"(?:(.+?)[ _.:-])?(?:cv[ _-]?)?(?:fold|split|cv)[ _.:-]?(\d{1,6})(?:[ _.:-](.+))?",
    re.IGNORECASE,
)
_TRAINING = re.compile(r"(?:^|_)(?:train|training|time)(?:_|$)", re.IGNORECASE)


class Split(NamedTuple):
    """What the name of a split says."""

    number: int
    metric: str
    """What was measured; empty where the name does not say."""
    scorer: bool
    """In scikit-learn's form, whose scorers rise."""


def split_of(name: str) -> Split | None:
    """The split that a name stands for; None where it stands for none.

    Examples
    --------
    >>> split_of("split0_test_f1")
    Split(number=0, metric='f1', scorer=True)
    >>> split_of("Fold 3").number, split_of("accuracy_fold2").metric
    (3, 'accuracy')
    >>> split_of("svm"), split_of("split0_train_score"), split_of("folded1")
    (None, None, None)
    """
    plain = name.strip()
    scorer = _SCORER.fullmatch(plain)
    if scorer:
        return Split(int(scorer[1]), scorer[2], True)
    found = _FOLD.fullmatch(plain)
    if found is None:
        return None
    metric = found[1] or found[3] or ""
    metric = re.sub(r"^(?:test[ _-]|cv$)", "", metric)
    if _TRAINING.search(metric) or (found[1] and found[3]):
        return None
    return Split(int(found[2]), metric, False)


def splits_among(names: Sequence[str]) -> dict[str, list[tuple[int, str]]]:
    """(number, name) by metric of the names that stand for splits.

    Names in scikit-learn's form come before all others. Empty where a metric has but one split
    in another form, or two of the same number.
    """
    known = [(name, split) for name in names if (split := split_of(name)) is not None]
    scorers = [(name, split) for name, split in known if split.scorer]
    found: dict[str, list[tuple[int, str]]] = {}
    for name, split in scorers or known:
        found.setdefault(split.metric, []).append((split.number, name))
    for splits in found.values():
        numbers = {number for number, _ in splits}
        if len(numbers) < len(splits) or (len(splits) < 2 and not scorers):
            return {}
    return {metric: sorted(splits) for metric, splits in found.items()}
