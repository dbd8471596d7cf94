"""The settings of a decision, checked when they are made and stored with a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np

from bestofk._base.checks import (
    RandomState,
    generator,
    missing_word,
    names_arguments,
    one_of,
    positive,
    refuse,
    significance_level,
)
from bestofk._base.errors import ArgumentError, DesignError, UnknownNameError, argument, use
from bestofk.decide.choose_test import Choice, checked_df
from bestofk.decide.evidence import FAMILIES
from bestofk.decide.preference import (
    MEASURED,
    MeasuredCosts,
    Name,
    checked_preference,
    preference_from_json,
    preference_ranks,
    preference_to_json,
    preference_words,
    settled,
)
from bestofk.decide.registry import RULES, Rule, decides_by
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTest:
    """The stored form of a caller's test; its code is neither stored nor imported.

    Attributes
    ----------
    name : str
        Its qualified name, such as ``"mytests.sign_of_medians"``.
    """

    name: str

    @classmethod
    def of(cls, test: Callable[..., Any]) -> StoredTest:
        """Return the name of a callable."""
        inner = _inside(test)
        where = getattr(inner, "__module__", None) or "__main__"
        name = getattr(inner, "__qualname__", type(inner).__qualname__)
        return cls(name=f"{where}.{name}")


def _inside(test: Any) -> Any:
    while isinstance(test, partial):
        test = test.func
    return test.function if isinstance(test, Choice) else test


OPTIONAL = ("correction", "family", "control", "margin", "rope")
"""Options that not every rule takes; None leaves them to the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of a decision about losses; see `bestofk.compare_scores`.

    The constructor checks everything that needs no losses. `check_learners` and
    `bestofk.decide.pairs.foresee` check the rest.

    Attributes
    ----------
    prefer : None, "listed", the name of a cost, tuple of names, mapping or MeasuredCosts
        The preference, as the caller stated it.
    margin, alpha, rule, test, test_options, correction, family, control, rope, missing
        As for `bestofk.compare_scores`; a file with a calibration is read at once.
    random_state : int, Generator or None
        For tests that draw.

    Examples
    --------
    >>> settings = Settings(prefer=["small", "large"], alpha=0.01)
    >>> settings.describe()
    'rule best, test auto, alpha 0.01, preference small before large'
    >>> Settings.from_dict(settings.to_dict()) == settings
    True
    >>> given_options(with_changes(settings, alpha=0.05))
    {'prefer': ('small', 'large')}
    """

    prefer: Any = None
    margin: float | None = None
    alpha: float = 0.05
    rule: str = "best"
    test: str | Callable[..., Any] | StoredTest = "auto"
    test_options: Mapping[str, Any] = field(default_factory=dict)
    correction: str | None = None
    family: str | None = None
    control: Name | None = None
    rope: float | None = None
    missing: str = "refuse"
    random_state: RandomState = 0

    def __post_init__(self) -> None:
        if decides_by(self.rule) == "best" and (self.family, self.control) != (None, None):
            # only MultiTest has families that a user can choose
            self._set("rule", "multitest")
        entry = RULES[self.rule]
        if entry.takes != "losses":
            raise DesignError(
                f"rule {self.rule!r} decides from {entry.takes}, not from losses: call "
                f"{entry.function.replace(':', '.')}."
            )
        self._set("prefer", checked_preference(self.prefer))
        self._set("alpha", significance_level(self.alpha))
        self._check_test_options()
        self._set("missing", missing_word(self.missing))
        generator(self.random_state)
        self._check_test()
        self._refuse_what_does_not_apply(entry)
        self._check_family()
        if self.margin is not None:
            self._set("margin", positive(self.margin, "margin"))
        if self.rope is not None:
            from bestofk.stats.pairwise.bayesian import rope_half_width

            self._set("rope", rope_half_width(self.rope))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_test_options(self) -> None:
        if not isinstance(self.test_options, Mapping | None):
            raise refuse("test_options", "a mapping such as {'df': 10}", self.test_options)
        options = {name: value for name, value in (self.test_options or {}).items()
                   if value is not None}  # fmt: skip
        if "alternative" in options:
            raise ArgumentError("The rule decides which tests are one-sided: use ",
                                use(family="preference"), " for one-sided tests.")  # fmt: skip
        if "df" in options:
            options["df"] = checked_df(options["df"])
        self._set("test_options", options)

    def _check_test(self) -> None:
        if callable(self.test) or isinstance(self.test, StoredTest):
            return
        if not isinstance(self.test, str):
            raise refuse("test", "the name of a test or a function", self.test)
        if self.test == "auto":
            return
        from bestofk.stats.multiple.registry import MULTIPLE_TESTS

        # `choose_test` refuses a test that the design of the losses does not allow
        if self.test.lower() not in MULTIPLE_TESTS:
            _ = PAIRWISE_TESTS[self.test]

    def _refuse_what_does_not_apply(self, entry: Rule) -> None:
        options: dict[str, Any] = {name: getattr(self, name) for name in OPTIONAL}
        if not entry.takes_test:
            test = None if self.test == "auto" else self.test
            options |= {"test": test, "test_options": self.test_options or None}
        for name, value in options.items():
            if value is not None and name not in entry.options:
                raise ArgumentError(
                    argument(name), f" does not apply to rule {self.rule!r}: leave it out."
                )

    def _check_family(self) -> None:
        if self.family is not None:
            one_of(self.family, "family", FAMILIES)
        if self.family == "preference" and decides_by(self.rule) == "wins":
            raise ArgumentError(
                use(family="preference"),
                " tests one direction of each pair, and wins need both: use ",
                use(family="all"),
                ".",
            )
        if self.control is not None and self.family != "control":
            raise ArgumentError(
                argument("control"),
                " applies to ",
                use(family="control"),
                ": add that, or leave it out.",
            )
        if self.correction is not None:
            one_of(self.correction, "correction", CORRECTIONS)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings for JSON; `from_dict` reads them back.

        A test of the caller's is written by its qualified name and a fingerprint of its source, a
        calibration in full. A Generator cannot be written: give a seed.
        """
        if isinstance(self.random_state, np.random.Generator):
            raise ArgumentError(
                "random_state must be a whole number to be written down; got a Generator."
            )
        state, test = self.random_state, _stored_test(self.test)
        return {
            **{option.name: getattr(self, option.name) for option in fields(self)},
            "prefer": preference_to_json(self.prefer),
            "test": test if isinstance(test, str) else asdict(test),
            "control": _plain("control", self.control),
            "random_state": None if state is None else int(state),
            "test_options": {
                name: value.to_dict() if hasattr(value, "to_dict") else _plain(name, value)
                for name, value in self.test_options.items()
            },
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Settings:
        """Return the settings that `to_dict` wrote; ignore unknown options."""
        known = {option.name for option in fields(cls)}
        options = {name: value for name, value in stored.items() if name in known}
        options["prefer"] = preference_from_json(options.get("prefer"))
        if isinstance(options.get("test"), Mapping):
            options["test"] = StoredTest(**options["test"])
        df = (options.get("test_options") or {}).get("df")
        if isinstance(df, Mapping):
            from bestofk.stats.pairwise.calibration import Calibration

            options["test_options"] = options["test_options"] | {"df": Calibration.from_json(df)}
        elif isinstance(df, str) and df != "calibrated":
            raise ValueError("df must not name a file, which opening a store would read")
        return cls(**options)

    def describe(self) -> str:
        """Return the settings in a line."""
        parts = [f"rule {self.rule}", f"test {name_of_test(self)}", f"alpha {self.alpha:g}"]
        parts.append(preference_words(self.prefer))
        if self.family == "control":
            parts.append(f"all learners against {self.control}")
        elif self.family is not None:
            parts.append(f"family {self.family}")
        for name, value in self.test_options.items():
            plain = isinstance(value, int | float | str)
            parts.append(f"{name} {value}" if plain else f"{name} calibrated")
        parts += [f"{name} {value}" for name in ("correction", "margin", "rope")
                  if (value := getattr(self, name)) is not None]  # fmt: skip
        return ", ".join(parts)


Settings.__init__ = names_arguments()(Settings.__init__)  # type: ignore[method-assign]


def check_learners(settings: Settings, names: Sequence[Name]) -> None:
    """Refuse a preference or a control that names none of these learners."""
    measured = isinstance(settings.prefer, MeasuredCosts)
    if settings.prefer is not None and not measured and not isinstance(settings.prefer, str):
        preference_ranks(names, settings.prefer)
    if settings.control is not None and settings.control not in names:
        raise UnknownNameError("learner", settings.control, [str(name) for name in names])


def correction_of(settings: Settings) -> str:
    """Return the correction, or that of the rule."""
    return settings.correction or RULES[settings.rule].correction


def with_measured_costs(
    settings: Settings, names: Sequence[Name], costs: Mapping[str, Any]
) -> Settings:
    """Return the settings for the learners `names`, with measured costs from `costs`.

    `costs` gives an object by learner, with `fit_time`, `predict_time` and `size`.
    """
    return replace(settings, prefer=settled(settings.prefer, names, costs))


def preference_before_measuring(settings: Settings, names: Sequence[Name]) -> Any:
    """Return the preference with equal costs in place of those that are measured later."""
    if isinstance(settings.prefer, str) and settings.prefer in MEASURED:
        return MeasuredCosts(what=settings.prefer, costs=dict.fromkeys(map(str, names), 1.0))
    return settings.prefer


def given_options(settings: Settings) -> dict[str, Any]:
    """Return the options that differ from their defaults."""
    plain = Settings()
    values = {option.name: getattr(settings, option.name) for option in fields(settings)}
    return {name: value for name, value in values.items() if value != getattr(plain, name)}


def with_changes(settings: Settings, **changes: Any) -> Settings:
    """Return the settings with some options changed.

    Options that do not fit the new rule, test or family get their defaults, unless they
    are among the changes.
    """
    known = [option.name for option in fields(settings)]
    for name in changes:
        if name not in known:
            raise UnknownNameError("option of a decision", name, known)
    left: dict[str, Any] = {}
    rule = changes.get("rule", settings.rule)
    if decides_by(rule) == "best" and changes.get("family") is not None:
        rule = "multitest"
    if rule != settings.rule:
        entry = RULES[rule]
        left = {name: None for name in OPTIONAL if name not in entry.options}
        if not entry.takes_test:
            left |= {"test": "auto", "test_options": {}}
    if changes.get("test", settings.test) != settings.test:
        left["test_options"] = {}
    family = changes.get("family", left.get("family", settings.family))
    if family != "control":
        left["control"] = None
    if _needs_all_pairs(settings.correction) and family not in (None, "all"):
        left["correction"] = None
    return replace(settings, **{**left, **changes})


def name_of_test(settings: Settings) -> str:
    """Return the name of the test."""
    return getattr(_stored_test(settings.test), "name", str(settings.test))


def _stored_test(test: str | Callable[..., Any] | StoredTest) -> str | StoredTest:
    return test if isinstance(test, str | StoredTest) else StoredTest.of(test)


def _needs_all_pairs(correction: str | None) -> bool:
    return correction is not None and CORRECTIONS[correction].needs_all_pairs


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float) and np.isfinite(value):
        return value
    raise ArgumentError(f"{name} must be a number or a word to be written down; got {value!r:.80}.")
