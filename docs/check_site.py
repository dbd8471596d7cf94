"""Check a built site: links, anchors, images, public names, and how it looks in a browser.

sphinx-build -W docs docs/_build && python docs/check_site.py docs/_build [--axe axe.min.js]

The looks need Chromium, its driver and selenium; without them that part is left out, and says so.
``axe.min.js`` is that of the npm package axe-core (``npm pack axe-core``).
"""

from __future__ import annotations

import argparse
import re
import sys
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
NOT_FOUND_PREFIX = "/en/latest/"
"""Links of the 404 page start with it, because the page is shown at any address."""
sys.path[:0] = [str(HERE), str(HERE / "extensions")]


@dataclass(slots=True)
class Page:
    """What a page links to, and what in it can be linked to."""

    links: list[str] = field(default_factory=list)
    images: list[tuple[str, str | None]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    unnamed_pictures: int = 0


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.before = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "figure":
            self.before = given.get("class") or ""
        for name in ("id", "name"):
            if given.get(name) and (name == "id" or tag == "a"):
                self.page.ids.add(str(given[name]))
        if tag == "a" and given.get("href"):
            self.page.links.append(str(given["href"]))
        if tag in ("link", "script", "iframe"):
            address = given.get("href") or given.get("src")
            if address and not address.startswith("data:"):
                self.page.links.append(address)
        if tag == "img" and given.get("src"):
            self.page.images.append((str(given["src"]), given.get("alt")))
        if tag == "svg" and "bk-picture" in self.before:
            self.page.unnamed_pictures += not given.get("aria-label")

    def handle_endtag(self, tag: str) -> None:
        if tag == "figure":
            self.before = ""


def read_page(path: Path) -> Page:
    """What the page at `path` holds."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def broken_links(site: Path) -> list[str]:
    """Links, anchors and images of all pages that lead nowhere, or are not well-formed."""
    # a report is made by the program, and has tests of its own
    paths = [p for p in sorted(site.rglob("*.html")) if p.parent.name not in ("_static", "samples")]
    pages = {path.resolve(): read_page(path) for path in paths}
    wrong = []
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        wrong += [f"{where}: the image {src} has no alternative text"
                  for src, alt in page.images if not alt]  # fmt: skip
        if page.unnamed_pictures:
            wrong.append(f"{where}: {page.unnamed_pictures} figures without alternative text")
        for address in {*page.links, *(src for src, _ in page.images)}:
            if address.startswith(("data:", "javascript:", "mailto:")):
                continue
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                fine = parts.scheme in ("http", "https") and "." in parts.netloc
                if not fine or " " in address or "<" in address:
                    wrong.append(f"{where}: {address} is no address")
                continue
            local = unquote(parts.path)
            if path.name == "404.html" and local.startswith(NOT_FOUND_PREFIX):
                local = local.removeprefix(NOT_FOUND_PREFIX)
            target = (path.parent / local).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                wrong.append(f"{where}: {address} leads nowhere")
            elif parts.fragment and target in pages and not anchored(pages[target], parts.fragment):
                wrong.append(f"{where}: {address} has no such anchor")
    return wrong


def anchored(page: Page, fragment: str) -> bool:
    """Whether a page has that anchor; the top of a page always has one."""
    return unquote(fragment) in page.ids or fragment == ""


def missing_names(site: Path) -> list[str]:
    """Public names that the inventory of the site does not hold."""
    from public_names import public_modules, public_names

    # four lines of text, then one compressed line per name: name, kind, priority, place, title
    packed = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    rows = [line.split(" ") for line in zlib.decompress(packed).decode().splitlines()]
    held = {row[0] for row in rows if row[1].startswith("py:")}
    return [
        f"objects.inv lacks {module}.{name}"
        for module in public_modules()
        for name in public_names(module)
        if f"{module}.{name}" not in held
    ]


def unlinked_methods(site: Path) -> list[str]:
    """Method pages and functions that do not link to each other."""
    from method_links import documented, functions_of_pages
    from public_names import page_of

    wrong = []
    for stem in functions_of_pages():
        method = site / "methods" / f"{stem}.html"
        for function in documented(stem):
            api = site / "api" / f"{page_of(function)}.html"
            if not any(f"{page_of(function)}.html" in link for link in read_page(method).links):
                wrong.append(f"methods/{stem} does not link to {function}")
            if not api.exists():
                wrong.append(f"{function} has no page")
            elif not any(link.split("#")[0].endswith(f"methods/{stem}.html")
                         for link in read_page(api).links):  # fmt: skip
                wrong.append(f"{function} does not link to methods/{stem}")
    return wrong


def raw_directives(site: Path) -> list[str]:
    """Pages that show markup in place of what it stands for."""
    wrong = []
    for path in sorted(site.rglob("*.html")):
        if path.parent.name in ("_static", "samples"):
            continue
        text = path.read_text(encoding="utf-8")
        wrong += [
            f"{path.relative_to(site)}: shows {sign!r}"
            for sign in (".. auto", ".. currentmodule", "{eval-rst}", "```{")
            if f">{sign}" in text
        ]
    return wrong


QUESTIONS = {
    "csv file": "use/choose-a-model", "table of scores": "use/table-of-scores",
    "two models": "use/two-models", "llm evaluation logs": "use/language-models",
    "which test": "which-test", "cite paper": "cite", "ci build": "use/gate", "slow": "slow",
    "trust": "trust",
}  # fmt: skip
"""Searches of newcomers, and the page that answers each."""


def far_answers(site: Path) -> list[str]:
    """Pages that answer newcomers and are more than two clicks from the first page."""
    near = {site / "index.html"}
    for _ in range(2):
        linked = {
            (page.parent / unquote(urlsplit(link).path)).resolve()
            for page in near
            if page.suffix == ".html" and page.exists()
            for link in read_page(page).links
            if not urlsplit(link).netloc
        }
        near |= linked
    answers = QUESTIONS.values()
    return [f"{page} is far from the first page" for page in answers
            if site / f"{page}.html" not in near]  # fmt: skip


def size(site: Path) -> str:
    """Pages and words of the narrative and of the API reference."""
    counts = {}
    for page in sorted(site.rglob("*.html")):
        place = page.relative_to(site).parts[0]
        if place in ("_static", "samples"):
            continue
        text = page.read_text(encoding="utf-8")
        _, _, article = text.partition('<article class="bd-article">')
        article = article.partition("</article>")[0]
        words = re.sub(r"<(script|style|svg).*?</\1>|<[^>]*>", " ", article, flags=re.DOTALL)
        counts.setdefault("API" if place == "api" else "narrative", []).append(len(words.split()))
    return "; ".join(f"{kind}: {len(n)} pages, {sum(n):,} words" for kind, n in counts.items())


def main() -> int:
    """Print what is wrong; the exit code is 1 where anything is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--axe", type=Path, help="axe.min.js of the npm package axe-core")
    parser.add_argument("--no-browser", action="store_true")
    given = parser.parse_args()
    site = given.site.resolve()
    print(size(site))
    wrong = []
    for check in (broken_links, missing_names, unlinked_methods, raw_directives, far_answers):
        found = check(site)
        print(f"{check.__name__.replace('_', ' ')}: {len(found)}")
        wrong += found
    if not given.no_browser:
        from check_looks import looks

        wrong += looks(site, given.axe)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
