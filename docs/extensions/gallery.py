"""The gallery of figures by question: every kind, drawn by the code beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGES = {Path("gallery.md"): "Figures of the learners", Path("gallery-more.md"): "More figures"}
"""Titles; the first page has the first two questions."""
THUMBNAILS = '<nav class="bk-thumbnails" aria-label="All figures"></nav>'

_TABLE = """
import bestofk as bk

scores = bk.read_scores("breast-cancer-10x10")
"""
_DATASETS = """
import numpy as np
import bestofk as bk

rng = np.random.default_rng(3)
table = rng.uniform(0.05, 0.4, 15) + rng.normal([[0.05], [0.01], [0.03], [0.0]], 0.02, (4, 15))
scores = bk.Scores(table, dims=("learner", "dataset"),
                   learners=["naive-bayes", "forest", "svm", "boosting"],
                   datasets=[f"set {k}" for k in range(1, 16)])
"""
QUESTIONS = {
    "Which learner should I use?": {
        "forest": f"{_TABLE}bk.compare_scores(scores, margin=0.01).plot('forest')",
        "losses": f"{_TABLE}bk.compare_scores(scores).plot('losses')",
        "frontier": """
import bestofk as bk

study = bk.compare(None, "breast-cancer", cv="kfold:10", prefer="fit_time", progress=False)
study.plot('frontier')""",
    },
    "Which learners differ?": {
        "critical-difference": f"{_DATASETS}bk.compare_scores(scores).plot('critical-difference')",
        "critical-difference-ranks": f"{_DATASETS}decision = bk.compare_scores(scores)\n"
        "decision.plot('critical-difference-ranks')",
        "matrix": f"{_TABLE}bk.compare_scores(scores).plot('matrix')",
        "rank-intervals": f"{_TABLE}bk.compare_scores(scores).plot('rank-intervals')",
        "difference": """
import bestofk as bk
from bestofk.stats import pairwise

scores = bk.read_scores("breast-cancer-10x10")
a, b = (scores.losses[k].ravel() for k in (0, 3))
pairwise.corrected_resampled_t(a, b, n_train=512, n_test=57).plot('difference')""",
    },
    "On which data sets?": {
        "heatmap": f"{_DATASETS}bk.compare_scores(scores).plot('heatmap')",
        "ranks": f"{_DATASETS}bk.compare_scores(scores).plot('ranks')",
    },
    "Do the data override my preference?": {
        "graph": f"{_TABLE}bk.compare_scores(scores, prefer='listed').plot('graph')",
        "steps": f"{_TABLE}result = bk.compare_scores("
        "scores, prefer='listed', rule='multitest')\nresult.plot('steps')",
    },
    "What happened over time?": {
        "race": """
import bestofk as bk

study = bk.compare(None, "breast-cancer", stop="settled", progress=False)
study.plot('race')""",
        "gate": """
import tempfile
import numpy as np
import bestofk as bk

rng = np.random.default_rng(5)
chance = rng.beta(0.7, 0.3, 500)
baseline = (rng.random(500) < chance) * 1.0
with tempfile.TemporaryDirectory() as folder:
    for build in range(12):
        scores = (rng.random(500) < chance - 0.012 * build) * 1.0
        result = bk.gate(scores, baseline if build == 0 else None, build=f"build {build + 1}",
                         ledger=f"{folder}/gate.json")
result.plot('gate')""",
    },
}
"""Code by figure and question; it runs by itself and ends with the call that draws."""


def gallery_page(title: str, questions: list[str]) -> str:
    """A page, as Markdown."""
    from bestofk.report.figures import FIGURES

    lines = [
        f"# {title}", "",
        "Every figure that bestofk draws, with the code that draws it. `result.plot()` takes the "
        "one that suits the result, `result.plot(kind)` the one that you name, and "
        "`result.plot(kind, \"figure.pdf\")` writes it as PDF, SVG or PNG. `width=3.3` lays it out "
        "for a column of a paper, 3.3 inches wide. On the command line, write `--figure "
        "KIND=figure.pdf --figure-width 3.3`. The colours can be told apart by colour-blind "
        "readers.", "", "```{raw} html", THUMBNAILS, "```", "",
    ]  # fmt: skip
    for question in questions:
        lines += [f"## {question}", ""]
        for name, code in QUESTIONS[question].items():
            entry = FIGURES[name]
            lines += [f"### {name}", "", f"{entry.summary[:1].upper()}{entry.summary[1:]}.", ""]
            lines += [":::{dropdown} Code", "```python", code.strip(), "```", ":::", ""]
            lines += [
                "```{code-cell} python",
                ":tags: [remove-input]",
                f"{code.strip()};",
                "```",
                "",
            ]
            if entry.needs:
                lines += [f"It needs {entry.needs}.", ""]
    return "\n".join(lines)


def all_pages() -> dict[Path, str]:
    """Path below the documentation: text, of every page made here."""
    first, more = PAGES
    return {
        first: gallery_page(PAGES[first], [*QUESTIONS][:2]),
        more: gallery_page(PAGES[more], [*QUESTIONS][2:]),
    }


def add_thumbnails(app: Any, doctree: Any) -> None:
    """Begin the gallery with small copies of its figures that lead to them."""
    from docutils import nodes

    if app.env.docname not in {page.stem for page in PAGES}:
        return
    links = []
    for section in doctree.findall(nodes.section):
        for node in section.children:
            box = re.search(r'<svg[^>]*viewBox="([^"]*)"', node.astext())
            if isinstance(node, nodes.raw) and box:
                name = section["ids"][0]
                html = node.astext().replace("<svg", f'<svg id="figure-{name}"', 1)
                node.replace_self(nodes.raw("", html, format="html"))
                links.append(
                    f'<a href="#{name}"><svg viewBox="{box[1]}" aria-hidden="true">'
                    f'<use href="#figure-{name}"/></svg><span>{name}</span></a>'
                )
                break
    for node in doctree.findall(nodes.raw):
        if node.astext().strip() == THUMBNAILS:
            filled = THUMBNAILS.replace("></nav>", f">{''.join(links)}</nav>")
            node.replace_self(nodes.raw("", filled, format="html"))
            break
