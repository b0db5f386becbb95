"""One headless Chromium for all tests of a process: starting one costs more than most of them do in it."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tests.support import require

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserType

# The first is the same browser without windows, profiles and extensions: half the work for the same pages.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Each of these starts something, reaches out to other hosts, or draws what nobody sees.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]


class Chromium:
    """The program, started when a test first needs it, and again when it has died."""

    def __init__(self, program: str, playwright: "BrowserType") -> None:
        self._program = program
        self._playwright = playwright
        self._running: Browser | None = None

    @asynccontextmanager
    async def lent(self) -> "AsyncIterator[Browser]":
        """The browser without a page, for one test; nothing that the test opened or began outlives it.

        Cookies, storage, caches and permissions are a context's, and every new_page() has one of its own.
        """
        browser = await self._started()
        before = asyncio.all_tasks()
        yield browser
        try:
            for context in browser.contexts:
                await context.close()
        finally:
            left = asyncio.all_tasks() - before - {asyncio.current_task()}
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def close(self) -> None:
        if self._running is not None:
            await self._running.close()

    async def _started(self) -> "Browser":
        if self._running is None or not self._running.is_connected():
            self._running = await self._playwright.launch(executable_path=self._program, args=ARGUMENTS)
        return self._running


@asynccontextmanager
async def chromium_here() -> AsyncIterator[Chromium]:
    """Chromium, driven by Playwright in the event loop that runs now."""
    program = require(
        next((path for name in PROGRAMS if (path := shutil.which(name))), None),
        "Chromium is not installed (on Debian: apt-get install chromium-headless-shell)",
    )
    require(find_spec("playwright"), "Playwright is not installed: make test installs it")
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        chromium = Chromium(program, playwright.chromium)
        try:
            yield chromium
        finally:
            await chromium.close()
