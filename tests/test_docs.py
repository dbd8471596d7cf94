"""Every code cell of the documentation runs here, in this process; so it does at its build."""

import re
import shlex
from inspect import ismodule
from pathlib import Path

import pytest

from bestofk.cli import main

DOCS = Path(__file__).resolve().parents[1] / "docs"
CELL = re.compile(
    r"^```\{code-cell\} python\n((?:^:[^\n]*\n)*)(.*?)^```$", re.MULTILINE | re.DOTALL
)
QUIETLY = " 2>/dev/null"
"""No progress bar in a page."""
PAGES = sorted(
    page
    for page in DOCS.rglob("*.md")
    if "_build" not in page.parts and CELL.search(page.read_text())
)


def test_there_are_pages():
    assert len(PAGES) > 30


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_cell_is_found(page):
    # a pattern that runs past the end of a cell would leave the next ones unrun
    found = [match.group(2) for match in CELL.finditer(page.read_text())]
    assert len(found) == page.read_text().count("```{code-cell}")
    assert all(cell.strip() and "```" not in cell for cell in found)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_cells_run(page, tmp_path, monkeypatch, capsys):
    import matplotlib as mpl
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    names = {"__name__": "__main__"}
    for match in CELL.finditer(page.read_text()):
        lines = match.group(2).splitlines()
        if lines and lines[0].startswith("!bestofk "):
            line = lines[0].removesuffix(QUIETLY)
            if "remove-input" in match.group(1):
                assert f"$ {line[1:]}\n" in page.read_text(), "what a reader sees is what runs"
            code = main(shlex.split(line)[1:])
            assert code == 0, capsys.readouterr().err
        else:
            exec(compile("\n".join(lines), str(page), "exec"), names)
    pyplot.close("all")


def _names_of_methods():
    from bestofk.multiple.registry import MULTIPLE_TESTS
    from bestofk.ordering.registry import PROCEDURES
    from bestofk.pairwise.registry import PAIRWISE_TESTS

    return [*PAIRWISE_TESTS, *MULTIPLE_TESTS, *PROCEDURES]


@pytest.mark.parametrize("name", _names_of_methods())
def test_every_test_and_procedure_has_a_page(name):
    pages = [page for page in (DOCS / "methods").glob("*.md") if page.stem != "index"]
    assert any(page.stem == name or f"`{name}`" in page.read_text() for page in pages)


def test_the_index_of_methods_lists_every_page():
    pages = {page.stem for page in (DOCS / "methods").glob("*.md")} - {"index"}
    listed = (DOCS / "methods" / "index.md").read_text().splitlines()
    assert pages <= set(listed), pages - set(listed)


def test_the_reference_lists_every_public_name():
    import bestofk
    from bestofk import lab, multiple, ordering, pairwise, planning

    listed = {word for page in (DOCS / "api").glob("*.md") for word in page.read_text().split()}
    for module in (bestofk, lab, multiple, ordering, pairwise, planning):
        # modules have pages, and registries are for those who add to them
        names = {name for name in module.__all__ if not name.isupper() and name != "__version__"}
        names -= {name for name in names if ismodule(getattr(module, name))}
        assert names <= listed, (module.__name__, names - listed)


def test_the_reference_says_what_every_result_has():
    text = (DOCS / "api" / "index.md").read_text()
    for part in ("explain(names=None, alpha=None)", "to_frame()", "to_dict()", "pvalue"):
        assert part in text


def test_every_link_between_pages_leads_somewhere():
    for page in DOCS.rglob("*.md"):
        if "_build" in page.parts or "generated" in page.parts:
            continue
        for target in re.findall(r"\]\(([^)#:]+\.md)\)", page.read_text()):
            assert (page.parent / target).resolve().is_file(), f"{page}: {target}"
