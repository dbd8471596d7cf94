"""Every code cell of the documentation runs, and pages and reference are complete."""

import ast
import re
import sys
from importlib import import_module
from inspect import signature
from operator import attrgetter
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
sys.path.append(str(DOCS / "extensions"))

import command_pages  # noqa: E402
import gallery  # noqa: E402
import method_links  # noqa: E402
import public_names  # noqa: E402
from run_cells import CELL, COLUMNS, PROMPT, CellPage  # noqa: E402

MADE = "% Made by"
"""First words of generated pages."""
WRAPPED = ("compare", "scores", "evals", "test", "size")
"""Commands whose text is wrapped to the width of the terminal."""
ANSI = re.compile(r"\x1b\[[\d;]*m")
SOURCES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if "_build" not in page.parts and not page.read_text().startswith(MADE)
]
PAGES = [page for page in SOURCES if CELL.search(page.read_text())]


def test_every_cell_is_found():
    # a pattern that runs past the end of a cell would skip the next cells
    assert len(PAGES) > 30
    for page in PAGES:
        cells = [(match.group(1), match.group(3)) for match in CELL.finditer(page.read_text())]
        assert len(cells) == page.read_text().count("```{code-cell}"), page
        assert all(cell.strip() and "```" not in cell for _, cell in cells), page
        assert all(
            cell.startswith(f"{PROMPT}bestofk ") for kind, cell in cells if kind == "console"
        )


@pytest.mark.usefixtures("preloaded_workers", "three_nested_runs")
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_cells_run(page):
    cells, text = CellPage(name=page.stem), page.read_text()
    for match in CELL.finditer(text):
        language, options, source = match.groups()
        output = cells.run(language, source, stderr="remove-stderr" not in options)
        stated = re.search(r"^:exit-code: (\d+)", options, re.MULTILINE)
        assert output.code == (int(stated[1]) if stated else 0), output.text
        if stated:
            assert output.text, "a page shows the answer of a command that fails"
        if language == "console" and source.split()[2] in WRAPPED:
            lines = ANSI.sub("", output.text).splitlines()
            assert max(map(len, lines), default=0) <= COLUMNS, "a phone would wrap it"
        _check_explained(ANSI.sub("", output.text), text[match.end() :].partition("```{")[0])


def _check_explained(output, after):
    """Compare a table of the printed words, if one follows the output, with the output."""
    _, _, table = after.partition("| printed | meaning |\n")
    if not table:
        return
    explained = re.findall(r"^\| \*\*(.+?)\*\*", table.partition("\n\n")[0], re.MULTILINE)
    assert len(explained) > 5
    printed = " ".join(output.split())
    for words in explained:
        assert re.search(re.escape(words).replace(r"\.\.\.", ".+?"), printed), words
    assert set(re.findall(r"^(?!Use )([A-Z][\w ]+): ", output, re.MULTILINE)) <= set(explained)


def test_the_index_of_methods_lists_every_page():
    pages = {page.stem for page in (DOCS / "methods").glob("*.md")} - {"index"}
    listed = (DOCS / "methods" / "index.md").read_text().splitlines()
    assert pages <= set(listed), pages - set(listed)


@pytest.mark.parametrize("module", public_names.public_modules())
def test_the_reference_lists_every_public_name(module):
    page = public_names.module_page(module)
    if module in public_names.CLASSES_APART:
        page += public_names.classes_page(module)
    # listed in a table of pages, or described on this page
    listed = {line.strip().rpartition(":: ")[2] for line in page.splitlines()}
    names = public_names.public_names(module)
    assert names
    assert set(names) <= listed


def test_every_method_and_its_function_link_to_each_other():
    about = method_links.pages_of_functions()
    missing = {
        name
        for name, function in method_links.registered().items()
        if method_links.is_function(function) and method_links.described(function) not in about
    }
    assert missing == set()
    for stem, functions in method_links.functions_of_pages().items():
        for function in filter(method_links.is_function, functions):
            assert stem in about[method_links.described(function)]
    assert about["bestofk.stats.pairwise.wilcoxon"] == ("wilcoxon",)
    lines = []
    method_links.add_methods(None, "function", "bestofk.stats.pairwise.wilcoxon", None, None, lines)
    assert any("/methods/wilcoxon" in line for line in lines)
    source = ["# Title\n\n**Question**: which?\n\nThe formula."]
    method_links.add_reference(None, "methods/wilcoxon", source)
    assert "<bestofk.stats.pairwise.wilcoxon>" in source[0]
    assert source[0].index("**Question**") < source[0].index("Compares two learners over data sets")
    assert source[0].index("Do not use it on fewer than six") < source[0].index("The formula.")


def test_every_test_and_rule_is_explained_on_one_page():
    pages = "\n".join(map(method_links.explanations, method_links.method_pages()))
    for module, registry in method_links.REGISTRIES:
        for name, entry in getattr(import_module(module), registry).items():
            assert len(entry.explanation) == 3, name
            assert pages.count(f"`{name}`: {entry.explanation[0]}") == 1, name


def test_the_command_line_reference_has_every_option():
    import click

    pages = command_pages.all_pages()
    for name, command in command_pages.commands().items():
        page = pages[command_pages.FOLDER / f"{command_pages.page_of(name).replace(' ', '-')}.md"]
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert all(one in page for one in option.opts), (name, option.opts)
    assert "compare" in command_pages.commands()
    assert "papers measure type1" in command_pages.commands()


def _calls(page):
    """Return (name, call) of every whole call of `bk` in the prose of a page."""
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for code in re.findall(r"`(bk\.[^`]*)`", prose):
        try:
            tree = ast.parse(" ".join(code.split()), mode="eval")
        except SyntaxError:
            continue  # a piece, such as `bk.compare_scores(losses, ...)`
        for node in ast.walk(tree):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if re.fullmatch(r"bk(\.\w+)+", name):
                yield name.removeprefix("bk."), node


def test_calls_in_the_text_fit_the_functions():
    calls = [call for page in [DOCS.parent / "README.md", *SOURCES] for call in _calls(page)]
    assert len(calls) > 30
    for name, call in calls:
        function = attrgetter(name)(import_module("bestofk"))
        keywords = {word.arg: None for word in call.keywords if word.arg}
        signature(function).bind_partial(*call.args, **keywords)


OTHER_OPTIONS = {
    "--help", "--version",
    "--output", "--output_path", "--log_samples", "--save-details",  # of evaluation tools
    "--part", "--sets", "--seed", "--splits", "--axe",  # of studies and checks
    "--memory-limit", "--local-directory", "--nthreads",  # of Dask
}  # fmt: skip


def test_options_in_the_text_exist():
    import click

    options = {
        option
        for command in command_pages.commands().values()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert len(options) > 50
    for page in [DOCS.parent / "README.md", *SOURCES]:
        if page.stem == "checklist":
            continue  # tests/papers/test_checklist.py runs its commands
        text = page.read_text()
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        typed = re.findall(r"^(?:\$ )?(bestofk (?:[^\n]*\\\n)*[^\n]*)", text, re.MULTILINE)
        for command in [*re.findall(r"`((?:bestofk |--)[^`]*)`", prose), *typed]:
            named = {word.partition("=")[0].strip(".,") for word in command.split()}
            named = {word for word in named if re.fullmatch(r"--[a-z]\S*", word)}
            assert named <= options | OTHER_OPTIONS, (page.name, command)


def test_every_figure_is_in_the_gallery_and_its_example_draws_it():
    import matplotlib as mpl
    from matplotlib import pyplot

    from bestofk.report.figures import FIGURES

    mpl.use("Agg")
    page = "".join(gallery.all_pages().values())
    examples = {name: code for group in gallery.QUESTIONS.values() for name, code in group.items()}
    assert set(examples) == set(FIGURES)
    for name, code in examples.items():
        assert f"### {name}\n" in page
        *setup, call = code.split("\n")
        assert f".plot('{name}')" in call
        names = {}
        exec("\n".join(setup), names)
        ax = eval(call, names)
        assert len(ax.texts) > 3
        pyplot.close(ax.figure)


def test_dois_are_links():
    from page_text import doi_links

    text = "See doi:10.1162/089976698300017197.\n\n```bibtex\ndoi:10.1/x\n```\n"
    linked = doi_links(text)
    address = "10.1162/089976698300017197"
    assert f"[doi:{address}](https://doi.org/{address})." in linked
    assert "```bibtex\ndoi:10.1/x\n```" in linked


RECIPES = {"use/language-models.md", "use/exports.md", "papers/checklist.md"}
"""Pages with one recipe, format or row after another, which may be longer."""
GUIDES = [*(DOCS / "use").glob("*.md"), *(DOCS / "papers").glob("[cfim]*.md"),
          *(DOCS / f"{name}.md" for name in ("coming-from", "questions", "start", "slow", "trust",
                                             "cite", "which-test"))]  # fmt: skip


def test_guides_are_short():
    long = {page for page in GUIDES if len(page.read_text().split()) > 900}
    assert {page.relative_to(DOCS).as_posix() for page in long} <= RECIPES


def test_wrapped_sentences_are_joined():
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    from cells import reflowed

    long = [
        "word " * 14 + "a \x1b[0m",
        "and the rest.",
        "Another one.",
        "",
        "  name   mean",
        "1 nn    0.1",
    ]
    html = reflowed(long)
    assert html.startswith("word " * 14 + "a and the rest.\nAnother one.\n\n<span")
    assert "  name   mean\n1 nn    0.1</span>" in html
    assert "bk-columns" not in reflowed(["Caution: this goes on", "  on an indented line."])
    assert (
        reflowed(["  --cv   the plan", "         of splits", "  or so"]).count("of splits</span>")
        == 1
    )


def _luminance(colour):
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_of_figures_and_outputs_has_enough_contrast():
    # WCAG 2.2 requires a contrast of 4.5 for small text
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    from sample_reports import WORDS

    from bestofk.report.figures.style import DARK, LIGHT

    for palette, theme in ((LIGHT, "light"), (DARK, "dark")):
        words = {role: WORDS[theme][role] for role in ("good", "bad", "warn", "purple-ink")}
        for colour in (palette["ink"], palette["muted"], *words.values()):
            low, high = sorted((_luminance(colour), _luminance(palette["paper"])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (theme, colour)


def test_site_checks_find_broken_links_and_directives(tmp_path):
    sys.path.append(str(DOCS))
    from check_site import broken_links, raw_directives

    (tmp_path / "a.html").write_text(
        '<a href="b.html#there">b</a><a href="#none">x</a><a href="c.html">c</a>'
        '<img src="d.png" alt="d"><a href="https://nowhere">y</a><p>.. autosummary::</p>'
    )
    (tmp_path / "b.html").write_text('<h1 id="there">b</h1><a href="a.html">a</a>')
    assert sorted(line.split(" ")[1] for line in broken_links(tmp_path)) == [
        "#none", "c.html", "d.png", "https://nowhere",
    ]  # fmt: skip
    assert len(raw_directives(tmp_path)) == 1


def test_links_between_pages_work():
    made = {DOCS / path for path in (*command_pages.all_pages(), *gallery.all_pages())}
    for page in SOURCES:
        for target in re.findall(r"\]\(([^)#:]+\.md)(?:#[\w-]+)?\)", page.read_text()):
            path = (page.parent / target).resolve()
            if path not in made:
                assert path.is_file(), f"{page}: {target}"


def test_scripts_in_the_text_exist():
    root = DOCS.parent
    pages = [*SOURCES, root / "studies" / "README.md", root / "benchmarks" / "README.md"]
    for page in pages:
        text = page.read_text()
        for script in re.findall(r"(?:studies|benchmarks)/\w+\.py", text):
            assert (root / script).is_file(), f"{page}: {script}"
        for name in re.findall(r"benchmarks/run\.py (\w+)", text):
            assert (root / "benchmarks" / f"{name}.py").is_file(), f"{page}: {name}"


@pytest.mark.parametrize("folder", ["methods", "papers", "use"])
def test_index_pages_describe_every_page(folder):
    text = (DOCS / folder / "index.md").read_text()
    toctrees = re.findall(r"```\{toctree\}(.*?)```", text, re.DOTALL)
    names = [line for tree in toctrees for line in tree.splitlines() if line and line[0] != ":"]
    lines = re.findall(r"^- \[\]\((\S+)\.md\): .{10,}\.$", text, re.MULTILINE)
    assert {f"..{name}" if name.startswith("/") else name for name in names} <= set(lines)


def test_the_search_finds_the_page_on_tests_first():
    # main entries of the index rank above titles and text; the title is too long to match
    assert "```{index} ! which test," in (DOCS / "which-test.md").read_text()
