"""How the documentation is built: `sphinx-build -W docs docs/_build`.

Every code cell runs at build (myst-nb); an error in one, or any warning, stops the build.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bestofk import __version__

# cells run `bestofk ...` as a reader would type it: the command of this very environment
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
os.environ["COLUMNS"] = "78"  # as wide as a page: tables fit

project = "bestofk"
author = "The bestofk developers"
release = version = __version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",  # formulas without a network
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "**.ipynb_checkpoints", "papers/tables", "measured"]
source_suffix = {".md": "myst-nb"}
nitpicky = False

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_show_tb = True
nb_merge_streams = True
nb_execution_in_temp = True  # what cells write is no part of the pages

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = f"bestofk {release}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False
copyright = "the bestofk developers, BSD-3-Clause"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
