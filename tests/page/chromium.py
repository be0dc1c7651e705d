"""A headless Chromium that tests drive, and what it has to say of a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

SIZE = (1480, 1060)  # px
PAPER = (718, 1000)  # px, A4 without its margins
ARGUMENTS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
    *("--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run"),
    *("--force-device-scale-factor=1", "--force-color-profile=srgb"),
    f"--window-size={SIZE[0]},{SIZE[1]}",
)


class Browser:
    """One window; pages are opened in it one after the other."""

    def __init__(self, driver: webdriver.Chrome, axe: str) -> None:
        self.driver = driver
        self._axe = axe

    def open(self, address: str | Path) -> None:
        """Opens a page; what was said of the one before is forgotten."""
        self.messages()
        self.requests()
        self.driver.get("about:blank")
        self.requests()
        self.driver.get(address.as_uri() if isinstance(address, Path) else address)

    def js(self, code: str, *arguments: Any) -> Any:
        """What a function body returns in the page."""
        return self.driver.execute_script(code, *arguments)

    def text(self, selector: str) -> str:
        """The text that is seen of the first element, on one line."""
        found = self.js("return document.querySelector(arguments[0]).innerText", selector)
        return " ".join(found.split())

    def count(self, selector: str) -> int:
        """How many elements there are."""
        found: int = self.js("return document.querySelectorAll(arguments[0]).length", selector)
        return found

    def click(self, selector: str) -> None:
        """A click by the page's own means, wherever the element is."""
        self.js("document.querySelector(arguments[0]).click()", selector)

    def keys(self, *keys: str) -> None:
        """Keys for whatever has the focus."""
        webdriver.ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def settle(self) -> None:
        """Waits until what was asked for has been drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done), 0))"
        )

    def messages(self) -> list[str]:
        """What the console has heard since the last time."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses that were asked for since the last time, pages among them."""
        asked = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        return [address for address in asked if not address.startswith("data:")]

    def violations(self) -> list[str]:
        """What axe-core finds wrong with the page as it is now."""
        if not self.js("return typeof axe === 'object'"):
            self.js(self._axe)
        found = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations.map("
            "(v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' | ' + "
            "n.failureSummary.slice(0, 260)).join(' ; '))), (e) => done([String(e)]))"
        )
        return list(found)

    def dark(self, wanted: bool) -> None:
        """What the system says: dark or light."""
        self.media("prefers-color-scheme", "dark" if wanted else "light")

    def media(self, name: str, value: str) -> None:
        """What the page is told of the system by media queries."""
        features = [{"name": name, "value": value}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


@contextmanager
def screen(browser: Browser, width: int, height: int) -> Iterator[None]:
    """A window of that size, for a while."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@contextmanager
def paper(browser: Browser) -> Iterator[None]:
    """As if the page was being printed."""
    with screen(browser, *PAPER):
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        browser.js("window.dispatchEvent(new Event('beforeprint'))")
        try:
            yield
        finally:
            browser.js("window.dispatchEvent(new Event('afterprint'))")
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@contextmanager
def chromium(axe: str, scale: float = 1) -> Iterator[Browser]:
    """A browser of its own profile, which ends with the block."""
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ARGUMENTS:
        options.add_argument(argument.replace("factor=1", f"factor={scale:g}"))
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        driver.set_script_timeout(60)
        yield Browser(driver, axe)
    finally:
        driver.quit()
