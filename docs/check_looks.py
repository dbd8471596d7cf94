"""How the pages of a built site look in Chromium: on a desk and a phone, light and dark."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PAGES = (
    "index", "start", "use/choose-a-model", "use/index", "methods/wilcoxon",
    "gallery",
    "api/bestofk.stats.pairwise", "api/generated/bestofk.stats.pairwise.wilcoxon",
    "api/generated/bestofk.Result", "api/generated/bestofk.compare", "commands/compare",
    "questions", "papers/multitest",
    "papers/intervals", "which-test", "trust", "slow", "use/two-models", "changelog", "use/report",
    "words", "cite", "reference", "404",
)  # fmt: skip
"""One page of every kind."""
AXE_PAGES = (
    "index", "start", "use/choose-a-model", "methods/wilcoxon", "gallery",
    "api/bestofk.stats.pairwise",
    "api/generated/bestofk.Result", "commands/compare", "questions", "which-test", "use/report",
)  # fmt: skip
"""Those that axe-core reads, which takes a while."""
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip
SMALLEST = 10.95
"""No word of a figure may be smaller, in CSS pixels (11, but for rounding)."""
CONTROLS = (
    ".bk-actions a, .bk-sample, .bk-more > summary, .bd-header .primary-toggle, "
    ".bd-header .search-button, .bd-header .navbar-brand"
)
TAP = 43.5
IN_PAGE = """
const [smallest, tap, controls, phone] = arguments, wrong = [];
const seen = (node) => node.getClientRects().length > 0;
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth + 1) {
  const wide = [...document.querySelectorAll('main *')].filter((node) =>
    seen(node) && node.getBoundingClientRect().right > root.clientWidth + 1 &&
    !node.closest('.bk-scroll, .pst-scrollable-table-container, pre, .math, iframe'));
  wrong.push(`is ${root.scrollWidth} wide on ${root.clientWidth}: ` + wide.slice(0, 3)
    .map((node) => node.outerHTML.slice(0, 80)).join(' | '));
}
for (const box of document.querySelectorAll('.bk-phone')) {
  if (seen(box) && (!box.querySelector('svg') || box.scrollWidth > box.clientWidth + 1)) {
    wrong.push(`a figure is ${box.scrollWidth} wide on ${box.clientWidth}`);
  }
}
for (const svg of document.querySelectorAll('.bk-picture svg')) {
  if (!seen(svg)) continue;
  const scale = svg.getScreenCTM().a;
  for (const text of svg.querySelectorAll('text')) {
    const size = parseFloat(getComputedStyle(text).fontSize) * scale;
    if (size < smallest) {
      wrong.push(`"${text.textContent.slice(0, 20)}" is set in ${size.toFixed(1)} px`); break;
    }
  }
}
if (phone) for (const node of document.querySelectorAll(controls)) {
  if (!seen(node)) continue;
  const box = node.getBoundingClientRect();
  if (box.height < tap || box.width < tap) {
    wrong.push(`${node.className || node.tagName} is ${box.width.toFixed(0)} x ` +
      `${box.height.toFixed(0)}, too small for a finger`);
  }
}
const header = document.querySelector('.bd-header');
if (header && header.getBoundingClientRect().height > 90) wrong.push('the header wraps');
for (const side of document.querySelectorAll('.bd-sidebar-primary, .bd-sidebar-secondary')) {
  if (!phone && seen(side) && !side.innerText.trim()) wrong.push('a sidebar is empty');
}
return wrong;
"""
AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations'], iframes: false}).then((found) => done(
  found.violations.filter((one) => ['serious', 'critical'].includes(one.impact)).map((one) =>
    `${one.id} (${one.impact}, ${one.nodes.length}): ` + one.nodes.slice(0, 3)
      .map((node) => `${node.target} ${node.any[0]?.message ?? ''}`).join(' | '))),
  (failed) => done([String(failed)]));
"""


WIDTHS = (390, 800, 1280, 1600)
FRAMES = """
const [pages, widths, done] = [arguments[0], arguments[1], arguments[arguments.length - 1]];
const frames = pages.flatMap((page) => widths.map((width) => {
  const frame = document.createElement('iframe');
  frame.style = `width: ${width}px; height: 900px; border: 0; position: absolute; top: 0; left: 0`;
  frame.src = page;
  return frame;
}));
document.body.replaceChildren(...frames);
const loaded = frames.map((frame) => new Promise((yes) => { frame.onload = yes; }));
const parts = 'body, table, .bd-article section > *';
const boxes = (frame) => [...frame.contentDocument.querySelectorAll(parts)]
  .map((node) => `${node.offsetWidth} ${node.offsetHeight} ${node.offsetTop}`).join();
Promise.all(loaded).then(() => setTimeout(() => {
  const last = frames.map(boxes), changes = frames.map(() => 0);
  let left = 60;
  const next = () => {
    frames.forEach((frame, at) => {
      const now = boxes(frame);
      if (now !== last[at]) { changes[at] += 1; last[at] = now; }
    });
    if (left-- > 0) requestAnimationFrame(next); else done(changes);
  };
  requestAnimationFrame(next);
}, 1500));
"""


def moving(driver: Any, site: Path) -> list[str]:
    """Pages whose layout changes over 60 frames after they are loaded, at any of four widths."""
    pages = [str(page.relative_to(site)) for page in sorted(site.rglob("*.html"))]
    handler = partial(Quiet, directory=str(site))
    wrong = []
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{server.server_port}/"
        driver.get(root + "_static/site.css")
        for at in range(0, len(pages), 5):
            some = pages[at : at + 5]
            changes = driver.execute_async_script(FRAMES, [root + page for page in some], WIDTHS)
            places = [(page, width) for page in some for width in WIDTHS]
            wrong += [
                f"{page} at {width} px: the layout changes in {count} of 60 frames"
                for (page, width), count in zip(places, changes, strict=True)
                if count
            ]
        server.shutdown()
    print(f"moving pages of {len(pages)} at {len(WIDTHS)} widths: {len(wrong)}")
    return wrong


LONGEST, ROWS = 6000, 40
"""Limits for a page, in pixels at a width of 1280, and for a table."""
MEASURE = """
const rows = [...document.querySelectorAll('article table')].map((table) => table.rows.length - 1);
return [document.documentElement.scrollHeight, Math.max(0, ...rows)];
"""


def long_pages(driver: Any, site: Path) -> list[str]:
    """Pages and tables that are too long to read."""
    size = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    heights, tables = {}, {}
    for page in sorted(site.rglob("*.html")):
        name = str(page.relative_to(site))
        if not name.startswith(("_static", "samples")):
            driver.get(page.as_uri())
            heights[name], tables[name] = driver.execute_script(MEASURE)
    for unit, sizes in (("px", heights), ("rows", tables)):
        longest = sorted(sizes, key=sizes.__getitem__)[-3:][::-1]
        print("longest:", ", ".join(f"{name} {sizes[name]} {unit}" for name in longest))
    return [f"{name} has {heights[name]} px" for name in heights if heights[name] > LONGEST] + [
        f"a table of {name} has {tables[name]} rows" for name in tables if tables[name] > ROWS
    ]


def lost_answers(driver: Any, site: Path) -> list[str]:
    """Searches of newcomers whose first result is not the page that answers them."""
    from urllib.parse import quote

    from check_site import QUESTIONS

    wrong = []
    for words, answer in QUESTIONS.items():
        driver.get((site / "search.html").as_uri() + f"?q={quote(words)}")
        found = driver.execute_async_script(FIRST_RESULTS)
        if not found or f"/{answer}.html" not in found[0]:
            wrong.append(f"the search for {words!r} finds {found} before {answer}")
    print(f"searches of {len(QUESTIONS)} questions: {len(wrong)}")
    return wrong


FIRST_RESULTS = """
const done = arguments[arguments.length - 1];
const look = (left) => {
  const links = [...document.querySelectorAll('#search-results li a')].slice(0, 3);
  if (links.length > 2 || !left) done(links.map((link) => link.pathname));
  else setTimeout(() => look(left - 1), 100);
};
look(50);
"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *arguments: Any) -> None:
        """Write nothing."""


def looks(site: Path, axe: Path | None, pages: tuple[str, ...] = PAGES) -> list[str]:
    """What is wrong with the pages, in sentences."""
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        print("looks: left out, Chromium and its driver are not installed")
        return []
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(chromedriver))
        driver.set_script_timeout(120)
        try:
            for page in pages:
                wrong += _look(driver, site, page, axe)
            print(f"looks of {len(pages)} pages: {len(wrong)}")
            wrong += long_pages(driver, site)
            wrong += lost_answers(driver, site)
            wrong += moving(driver, site)
        finally:
            driver.quit()
    return wrong


def _look(driver: Any, site: Path, page: str, axe: Path | None) -> list[str]:
    wrong = []
    for dark in (False, True):
        for width in (1280, 390):
            driver.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
            )
            driver.execute_cdp_cmd(
                "Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme",
                               "value": "dark" if dark else "light"}]},
            )  # fmt: skip
            driver.get((site / f"{page}.html").as_uri())
            where = f"{page} at {width} px, {'dark' if dark else 'light'}:"
            found = driver.execute_script(IN_PAGE, SMALLEST, TAP, CONTROLS, width < 500)
            if axe is not None and width == 1280 and page in AXE_PAGES:
                driver.execute_script(axe.read_text(encoding="utf-8"))
                found += driver.execute_async_script(AXE)
            wrong += [f"{where} {line}" for line in found]
    return wrong


if __name__ == "__main__":
    import sys

    print(json.dumps(looks(Path(sys.argv[1]), None), indent=1))
