"""Write the pages that are made from the program, before Sphinx looks for pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import command_pages
import gallery
import public_names

NOTE = {".md": "% Made by {module}: changes here are lost.\n\n", ".rst": ".. Made by {module}.\n\n"}


def made_pages() -> dict[Path, str]:
    """Path below the documentation: text, of all pages that are made."""
    pages = {}
    for module in (public_names, command_pages, gallery):
        where = f"docs/extensions/{module.__name__}.py"
        for path, text in module.all_pages().items():
            pages[path] = NOTE[path.suffix].format(module=where) + text.rstrip() + "\n"
    return pages


def write_pages(app: Any, config: Any) -> None:
    """Write those that changed; an unchanged one is not read again."""
    for path, text in made_pages().items():
        target = Path(app.srcdir) / path
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Sphinx asks."""
    app.connect("config-inited", write_pages)
    app.connect("doctree-read", gallery.add_thumbnails)
    return {"version": "1", "parallel_read_safe": True}
