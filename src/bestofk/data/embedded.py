"""The registry of embedded data sets, which come with scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass

from bestofk._base.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSet:
    """One embedded data set."""

    name: str
    loader: str
    """Its loader, as ``package.module:name``."""
    summary: str
    rows: int
    columns: int
    classes: int | None
    """None for a regression."""

    @property
    def task(self) -> str:
        """``"classification"`` or ``"regression"``."""
        return "regression" if self.classes is None else "classification"


DATASETS = Registry(
    "data set",
    EmbeddedSet(
        name="iris",
        loader="sklearn.datasets:load_iris",
        summary="lengths and widths of the flowers of three species of iris",
        rows=150,
        columns=4,
        classes=3,
    ),
    EmbeddedSet(
        name="wine",
        loader="sklearn.datasets:load_wine",
        summary="chemical analyses of wines of three growers",
        rows=178,
        columns=13,
        classes=3,
    ),
    EmbeddedSet(
        name="breast-cancer",
        loader="sklearn.datasets:load_breast_cancer",
        summary="measures of cell nuclei of malignant and benign masses",
        rows=569,
        columns=30,
        classes=2,
    ),
    EmbeddedSet(
        name="digits",
        loader="sklearn.datasets:load_digits",
        summary="handwritten digits as images of 8 x 8 points",
        rows=1797,
        columns=64,
        classes=10,
    ),
    EmbeddedSet(
        name="diabetes",
        loader="sklearn.datasets:load_diabetes",
        summary="progression of diabetes after a year (a number to predict)",
        rows=442,
        columns=10,
        classes=None,
    ),
)
