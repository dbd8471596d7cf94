"""The gallery of figures, made from the registry: every kind, drawn by the code beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAGE = Path("gallery.md")
PANEL = '["max", "nmc", "logistic", "nn"]'
RECIPES: dict[str, tuple[str, ...]] = {
    "Order": (
        'value = bk.order(bk.read_losses("breast-cancer-10x10"), prior="listed")',
        'value = bk.order(bk.read_losses("breast-cancer-10x10"))',
    ),
    "StoppedOrder": (
        'value = bk.compare(data="breast-cancer", stop="settled", progress=False).decision',
    ),
    "Study": (
        f'value = bk.compare({PANEL}, data="wine", plan="5x2", prior="fit_time", progress=False)',
        'sets = ["iris", "wine", "breast-cancer", "digits"]\n'
        f'value = bk.compare({PANEL}, data=sets, plan="kfold:5", progress=False)',
        'value = bk.compare(data="breast-cancer", stop="settled", progress=False)',
    ),
    "Race": ('value = bk.compare(data="breast-cancer", stop="settled", progress=False).race',),
    "Losses": ('value = bk.read_losses("breast-cancer-10x10")',),
    "PairwiseResult": (
        "from bestofk import pairwise\n\n"
        'losses = bk.read_losses("breast-cancer-10x10")\n'
        "value = pairwise.corrected_repeated_kfold_t(\n"
        "    losses.values[0, 0, ..., 0], losses.values[1, 0, ..., 0])",
    ),
    "PosteriorResult": (
        "from bestofk import pairwise\n\n"
        "a = [0.24, 0.31, 0.12, 0.08, 0.27, 0.19, 0.22, 0.35, 0.05, 0.15]\n"
        "b = [0.21, 0.29, 0.12, 0.09, 0.22, 0.16, 0.20, 0.30, 0.04, 0.11]\n"
        "value = pairwise.signed_rank_bayes(a, b, rope=0.01)",
    ),
    "NemenyiResult": (
        "from bestofk import multiple\n\n"
        "import numpy as np\n\n"
        "rng = np.random.default_rng(1)\n"
        "means = np.array([[0.30], [0.27], [0.25], [0.21], [0.20]])\n"
        "table = means + rng.normal(0, 0.03, (5, 30))\n"
        "value = multiple.nemenyi(table)",
    ),
    "NewmanKeulsResult": (
        "from bestofk import multiple\n\n"
        'losses = bk.read_losses("breast-cancer-10x10")\n'
        "value = multiple.newman_keuls(losses.values[:, 0, 0, :, 0])",
    ),
    "BootstrapBResult": (
        "from bestofk import multiple\n\n"
        "import numpy as np\n\n"
        "rng = np.random.default_rng(6)\n"
        "steadiness = np.array([0.002, 0.03, 0.01, 0.02])[:, None, None, None]\n"
        "means = np.array([0.16, 0.19, 0.22, 0.24])[:, None, None, None]\n"
        "losses = means + steadiness * rng.standard_normal((4, 12, 5, 20))\n"
        'value = multiple.bootstrap_b(losses, names=["a", "b", "c", "d"])',
    ),
    "Rates": (
        "from bestofk.report.figures import Rates\n\n"
        "import numpy as np\n\n"
        "x = np.array([1.0, 2, 5, 10, 20, 50, 100])\n"
        "rate = np.array([0.05 + 0.10 * (1 - np.exp(-x / 10)), 0.05 + 0 * x])\n"
        "half = 1.96 * np.sqrt(rate * (1 - rate) / 1000)\n"
        "value = Rates(\n"
        '    x=x, rate=rate, low=rate - half, high=rate + half, names=["too bold", "sound"],\n'
        '    nominal=0.05, note="An example with made-up rates.")',
    ),
    "RocHull": (
        "from bestofk.ordering import roc_hull\n\n"
        "import numpy as np\n\n"
        "rng = np.random.default_rng(3)\n"
        "truth = rng.random(300) < 0.4\n"
        "width = np.where(truth, 1.0, [[0.5], [1.0], [1.5]])\n"
        "scores = [[1.5], [1.2], [1.4]] * truth + width * rng.standard_normal((3, 300))\n"
        'value = roc_hull(scores.round(1), truth, names=["a", "b", "c"])',
    ),
    "ModelChoice": (
        "from bestofk.evals import example_evals\n\n"
        'value = bk.choose_model(example_evals("inspect-sums"))',
    ),
}
"""Class: code that makes a value of it, the simplest first."""


def recipe_of(entry: Any, values: dict[str, Any]) -> str:
    """The first recipe whose value the figure can draw."""
    from bestofk.errors import BestOfKError

    for kind in (*entry.accepts, *RECIPES):
        for code in RECIPES.get(kind, ()):
            if code not in values:
                values[code] = value_of(code)
            value = values[code]
            if not entry.fits(value):
                continue
            try:
                entry.layout(value)
            except (BestOfKError, ValueError, AttributeError):
                continue
            return code
    raise LookupError(
        f"no recipe of docs/extensions/gallery.py makes what the figure {entry.name!r} draws "
        f"({', '.join(entry.accepts)}): add one."
    )


def value_of(code: str) -> Any:
    """What a recipe makes."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(f"import bestofk as bk\n{code}", names)
    return names["value"]


def gallery_page() -> str:
    """The page, as Markdown."""
    from bestofk.report.figures import FIGURES

    values: dict[str, Any] = {}
    lines = [
        "# Gallery of figures", "",
        "Every figure that bestofk draws, with the code that draws it. `bk.figure(value)` takes "
        "the one that suits the value, `bk.figure(value, kind)` the one that you name, and "
        "`bk.save_figure(ax, \"figure.pdf\")` writes it as PDF, SVG or PNG. A study, an order or "
        "a result can also draw itself: `study.plot(\"forest\")`. The colours can be told apart "
        "by colour-blind readers.", "",
    ]  # fmt: skip
    for entry in FIGURES.values():
        code = recipe_of(entry, values)
        summary = entry.summary[:1].upper() + entry.summary[1:]
        takes = ", ".join(f"`{kind}`" for kind in entry.accepts)
        lines += [f"## {entry.name}", "", f"{summary}.", ""]
        lines += ["```{code-cell} python", "import bestofk as bk"]
        lines += [*code.splitlines(), f'bk.figure(value, "{entry.name}");', "```", ""]
        lines += [f"Draws {takes}.", ""]
    return "\n".join(lines)


def all_pages() -> dict[Path, str]:
    """Path below the documentation: text, of every page made here."""
    return {PAGE: gallery_page()}
