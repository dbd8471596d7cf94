"""A real browser for reports, if Chromium and its driver are installed."""

import json
import shutil
from pathlib import Path

import pytest

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--window-size=1100,900",
)  # fmt: skip


class Browser:
    """One session of Chromium; pages are files."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path):
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get(Path(path).as_uri())

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def devtools(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def requests(self):
        """Return the addresses requested since the page was opened, without blocked ones."""
        entries = self.driver.get_log("performance")
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        stopped = {
            message["params"]["requestId"]
            for message in messages
            if message["method"] == "Network.loadingFailed"
            and message["params"].get("blockedReason") == "csp"
        }
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
            and message["params"]["requestId"] not in stopped
        ]

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def browser_session(tmp_path_factory):
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("Chromium and its driver are not installed (apt install chromium-driver)")
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    options = selenium.ChromeOptions()
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("chromium")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = selenium.Chrome(options=options, service=Service(chromedriver))
    driver.set_page_load_timeout(600)
    driver.set_script_timeout(600)
    try:
        yield Browser(driver)
    finally:
        driver.quit()


@pytest.fixture
def browser(browser_session):
    """Reset the session to a desktop screen, light mode, with scripts."""
    browser_session.devtools("Emulation.clearDeviceMetricsOverride")
    browser_session.devtools("Emulation.setScriptExecutionDisabled", value=False)
    browser_session.devtools("Emulation.setEmulatedMedia", media="", features=[])
    return browser_session
