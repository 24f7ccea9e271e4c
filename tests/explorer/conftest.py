"""One explorer for all of these tests: its workers take seconds to start."""

from __future__ import annotations

import pytest
from common_browser import CHROMIUM, FLAGS, Visit, explorer
from common_explorer import HERE, MINE, PACKED
from starlette.testclient import TestClient

from locant.explorer.server import make_app
from locant.explorer.state import ExplorerState
from locant.lab.store.open import sqlite_file


@pytest.fixture(scope="session")
def store():
    """The studies that come with the repository."""
    with sqlite_file(PACKED) as path:
        yield path


@pytest.fixture(scope="session")
def client(store):
    """Asks a running explorer that knows one encoding of the user's own."""
    with TestClient(
        make_app(ExplorerState([MINE], store)), base_url=HERE, raise_server_exceptions=False
    ) as client:
        yield client


@pytest.fixture(scope="session")
def ask(client):
    """What a good request is answered with."""

    def asked(path, **values):
        response = client.get(f"/api/{path}", params=values)
        assert response.status_code == 200, response.text[:300]
        return response.json()

    return asked


@pytest.fixture(scope="session")
def refused(client):
    """The sentence that a bad request is answered with."""

    def asked(path, **values):
        response = client.get(f"/api/{path}", params=values)
        assert 400 <= response.status_code < 500, response.text[:300]
        assert response.json().keys() == {"error"}
        assert "Traceback" not in response.text
        return response.json()["error"]

    return asked


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address():
    with explorer(MINE, "--store", PACKED) as address:
        yield address


@pytest.fixture
def visit(browser, address):
    """Opens a page of the explorer."""
    opened = []

    def opens(where="", **how):
        opened.append(Visit(browser, address, where, **how))
        return opened[-1]

    yield opens
    for one in opened:
        one.context.close()
