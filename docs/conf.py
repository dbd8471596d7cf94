"""How the documentation is built: `sphinx-build -W docs docs/_build`.

Every code cell runs at build, in this process (docs/extensions/run_cells.py); an error in one, or
any warning, stops the build. The API reference, the command-line reference and the gallery are
made from the program (docs/extensions/made_pages.py).
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

from docutils.nodes import reference  # noqa: E402
from numpydoc.xref import DEFAULT_LINKS  # noqa: E402
from public_names import type_links  # noqa: E402

from bestofk import __version__  # noqa: E402

project = "bestofk"
author = "The bestofk developers"
addresses = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"].get("urls", {})
release = version = __version__

extensions = [
    "myst_parser",
    "notfound.extension",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx-mathjax-offline",  # formulas without a network
    "sphinx_copybutton",
    "sphinx_design",
    "cells",
    "sample_reports",
    "made_pages",
    "method_links",
    "page_text",
    "pictures",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build", "extensions", "_templates", "papers/tables",
    "use/command-line.md", "use/exit-codes.md",  # parts of the page of the commands
    # read in the repository
    "design.md", "contributing.md", "stability.md", "skill.md",
    "papers/checklist.md", "papers/terms.md",
]  # fmt: skip
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = False

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # only the types of bestofk are links
numpydoc_xref_aliases = type_links()
DEFAULT_LINKS.clear()  # to other sites, whose inventories need a network
default_role = "py:obj"  # names in docstrings are links
add_module_names = False
python_use_unqualified_type_names = True

html_search_scorer = str(HERE / "extensions" / "search_order.js")

extlinks = {"doi": ("https://doi.org/%s", "doi:%s")}

html_theme = "pydata_sphinx_theme"
html_title = "bestofk"
html_baseurl = ""
html_static_path = ["_static"]
html_extra_path = ["llms.txt", "skill.md"]  # for programs that read documentation
html_css_files = ["site.css", "made/colours.css"]
html_js_files = ["site.js"]
html_sidebars = {page: [] for page in ("index", "start", "search")}
html_theme_options = {
    "logo": {"text": "bestofk"},
    "header_links_before_dropdown": 8,
    "show_toc_level": 1,
    "navigation_depth": 2,
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "secondary_sidebar_items": {"index": [], "**": ["page-toc"]},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
if "Repository" in addresses:
    html_theme_options["icon_links"] = [
        {"name": "Repository", "url": addresses["Repository"], "icon": "fa-solid fa-code-branch"}
    ]
html_show_sourcelink = False
html_use_index = False
html_domain_indices = False
copyright = "the bestofk developers, BSD-3-Clause"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
copybutton_selector = "div:not(.no-copy) > div.highlight > pre"


def _absolute_links(app, doctree, docname):
    """Make the links of the 404 page work at any address, as its header does."""
    if docname == app.config.notfound_pagename:
        for link in doctree.findall(reference):
            if link.get("internal") and "refuri" in link:
                link["refuri"] = app.config.notfound_urls_prefix + link["refuri"]


def _styles_inside(app, failed):
    """Put the styles into the 404 page, so that it looks right at any address."""
    page = Path(app.outdir) / "404.html"
    if failed or not page.exists():
        return

    def style(link):
        name = link[1].removeprefix(app.config.notfound_urls_prefix).partition("?")[0]
        text = (Path(app.outdir) / name).read_text(encoding="utf-8")
        return f"<style>{text}</style>"

    sheets = r'<link (?=[^>]*rel="stylesheet")[^>]*href="([^"]*)"[^>]*>'
    text = re.sub(sheets, style, page.read_text(encoding="utf-8"))
    # the font of the icons is a file, too
    text = text.replace(
        "</head>", "<style>.fa-solid, .headerlink { display: none; }</style></head>"
    )
    page.write_text(text, encoding="utf-8")


def setup(app):
    """Connect the hooks."""
    app.connect("doctree-resolved", _absolute_links)
    app.connect("build-finished", _styles_inside)
