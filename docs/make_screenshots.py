"""Take the screenshots of a report that the pages show, into docs/screenshots.

python docs/make_screenshots.py     # needs Chromium, its driver, selenium and Pillow
"""

from __future__ import annotations

import base64
import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

import bestofk as bk

HERE = Path(__file__).parent / "screenshots"
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars")


def main() -> None:
    """Open one report as on a desk, on a phone and on paper."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in FLAGS:
        options.add_argument(flag)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        bk.compare_scores(bk.read_scores("breast-cancer-10x10"), prefer="listed").report(page)
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            driver.get(page.as_uri())
            take(driver, "report-light.png", width=1180, height=780)
            take(driver, "report-phone.png", width=390, height=1240)
            take(driver, "report-print.png", width=740, height=1046, media="print")
        finally:
            driver.quit()


def take(
    driver: Any,
    name: str,
    *,
    width: int,
    height: int,
    media: str = "",
) -> None:
    """One picture of the top of the page."""
    from PIL import Image, ImageOps

    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    shot = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True}
    )
    picture = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    if media == "print":
        # the margins of the paper
        picture = ImageOps.expand(picture, border=40, fill="white")
    picture.quantize(64).save(HERE / name, optimize=True)


if __name__ == "__main__":
    main()
