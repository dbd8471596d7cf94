"""Whose method it is: words for a methods paragraph, and the BibTeX that belongs to them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_VARIANTS = (
    "use-all-data",
    "folds",
    "folds-averaged-var",
    "runs",
    "runs-averaged-var",
    "sorted-runs",
    "sorted-runs-averaged-var",
    "folds-averaged-t",
    "runs-averaged-t",
    "sorted-runs-averaged-t",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A method as a paper names it, with the keys of its references."""

    words: str
    keys: tuple[str, ...]


def _cited(words: str, *keys: str) -> Cited:
    return Cited(words=words, keys=keys)


TESTS = {
    "corrected-repeated-kfold-t": _cited(
        "the corrected repeated k-fold cross-validation t test",
        "bouckaert2004evaluating",
        "nadeau2003inference",
    ),
    "5x2cv-t": _cited("the 5x2cv paired t test", "dietterich1998approximate"),
    "5x2cv-f": _cited("the combined 5x2cv F test", "alpaydin1999combined"),
    "corrected-resampled-t": _cited("the corrected resampled t test", "nadeau2003inference"),
    "resampled-t": _cited("the resampled paired t test", "dietterich1998approximate"),
    "kfold-t": _cited("the k-fold cross-validated paired t test", "dietterich1998approximate"),
    **{
        name: _cited(f"the repeated k-fold t test '{name}'", "bouckaert2003choosing")
        for name in _VARIANTS
    },
    "nested-cv-t": _cited("the t test of nested cross-validation", "bates2023cross"),
    "permutation": _cited(
        "the exact permutation test of the mean difference",
        "fisher1935design",
        "otero2014bootstrap",
    ),
    "paired-t": _cited("the paired t test over data sets", "student1908probable"),
    "half-sampling-t": _cited(
        "the t test with the variance from random halves of the rows",
        "mccarthy1969pseudo",
        "nadeau2003inference",
    ),
    "pooled-half-sampling-t": _cited(
        "the corrected repeated k-fold cross-validation t test with one variance factor from "
        "random halves of the rows",
        "nadeau2003inference",
    ),
    "conservative-z": _cited("the conservative Z test", "nadeau2003inference"),
    "nested-cv-z": _cited("nested cross-validation", "bates2023cross"),
    "bayle-cv-z": _cited("the cross-validation interval of single rows", "bayle2020cross"),
    "wilcoxon": _cited("Wilcoxon's signed-rank test", "wilcoxon1945individual"),
    "sign": _cited("the sign test", "demsar2006statistical"),
    "mcnemar": _cited("McNemar's test", "mcnemar1947note"),
    "correlated-t": _cited("the Bayesian correlated t test", "corani2015bayesian"),
    "signed-rank-bayes": _cited("the Bayesian signed-rank test", "benavoli2014bayesian"),
    "anova": _cited("one-way analysis of variance", "fisher1925statistical"),
    "repeated-measures-anova": _cited(
        "repeated-measures analysis of variance", "greenhouse1959methods"
    ),
    "newman-keuls": _cited("the Newman-Keuls range test", "newman1939distribution", "keuls1952use"),
    "tukey": _cited("Tukey's honestly significant difference", "tukey1949comparing"),
    "kruskal-wallis": _cited("the Kruskal-Wallis test", "kruskal1952use"),
    "friedman": _cited(
        "Friedman's test with Iman and Davenport's F", "friedman1937use", "iman1980approximations"
    ),
    "nemenyi": _cited("Nemenyi's test", "nemenyi1963distribution", "demsar2006statistical"),
    "cochran-q": _cited("Cochran's Q test", "cochran1950comparison"),
    "looney": _cited("Looney's F test", "looney1988statistical"),
    "bootstrap-a": _cited("Bootstrap-A", "otero2014bootstrap"),
    "bootstrap-b": _cited("Bootstrap-B", "otero2014bootstrap"),
}
"""Every registered test."""

PROCEDURES = {
    "multitest": _cited("MultiTest", "yildiz2006ordering"),
    "test-first": _cited("TestFirst", "yildiz2006ordering"),
    "anova-choice": _cited("the ANOVA choice", "yildiz2006ordering"),
    "newman-keuls-choice": _cited("the Newman-Keuls choice", "yildiz2006ordering"),
    "cheapest-adequate": _cited(
        "the cheapest adequate learner, by tests of non-inferiority over all pairs",
        "holm1979simple",
        "shaffer1986modified",
    ),
    "most-wins": _cited("the number of significant wins", "ler-fundamentals"),
    "roc-hull": _cited("the ROC convex hull", "provost2001robust"),
    "multinomial-selection": _cited("multinomial selection", "alsing2002multinomial"),
}
"""Every registered procedure."""

CORRECTIONS = {
    "holm": _cited("Holm's method", "holm1979simple"),
    "bonferroni": _cited("Bonferroni's method", "dunn1961multiple"),
    "hochberg": _cited("Hochberg's method", "hochberg1988sharper"),
    "benjamini-hochberg": _cited(
        "the method of Benjamini and Hochberg", "benjamini1995controlling"
    ),
    "benjamini-yekutieli": _cited("the method of Benjamini and Yekutieli", "benjamini2001control"),
    "shaffer": _cited("Shaffer's static method", "shaffer1986modified", "garcia2008extension"),
    "bergmann-hommel": _cited(
        "the method of Bergmann and Hommel", "bergmann1988improvements", "garcia2008extension"
    ),
    "none": _cited("no correction"),
}
"""Every correction."""


@cache
def bibliography() -> dict[str, str]:
    """BibTeX entries by key."""
    text = files("bestofk.report").joinpath("references.bib").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=@)", text.strip())
    return {re.match(r"@\w+\{([^,]+),", entry)[1]: entry.strip() for entry in entries}  # type: ignore[index]


def bibtex(keys: Iterable[str]) -> str:
    """The entries of `keys`, each once."""
    known = bibliography()
    return "\n\n".join(known[key] for key in dict.fromkeys(keys)) + "\n"


def reference(key: str) -> str:
    """``Author and Author, year`` for running text.

    Examples
    --------
    >>> reference("nadeau2003inference"), reference("yildiz2006ordering")
    ('Nadeau and Bengio, 2003', 'Yıldız and Alpaydın, 2006')
    """
    entry = bibliography()[key]
    people = re.search(r"author = \{(.+?)\},\n", entry)[1].split(" and ")  # type: ignore[index]
    names = [_plain(person.split(",")[0]) for person in people]
    year = re.search(r"year = \{(\d+)\}", entry)
    who = names[0] if len(names) == 1 else " and ".join(names[:2])
    if len(names) > 2:
        who = f"{names[0]} et al."
    return f"{who}, {year[1]}" if year else who


def _plain(name: str) -> str:
    """A name without the marks of TeX."""
    for mark, letter in ((r"{\i}", "ı"), (r"{\v{s}}", "š"), (r"{\'e}", "é"), (r"{\'a}", "á"),
                         (r"{\'i}", "í")):  # fmt: skip
        name = name.replace(mark, letter)
    return name
