"""Who may ask, what may be asked, and what comes back when something is wrong."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from common_explorer import HERE

from locant.explorer.jobs import JobQueue, JobStopped, TooManyJobs


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost@evil", "", "["],
)
def test_a_foreign_host_is_refused(client, host):
    for path in ("/", "/api/start", "/plotly.min.js"):
        response = client.get(path, headers={"host": host})
        assert response.status_code == 403
        assert "127.0.0.1 and localhost only" in response.json()["error"]


@pytest.mark.parametrize("host", ["localhost:8765", "127.0.0.1:9", "LOCALHOST", "127.0.0.1"])
def test_this_machine_is_answered_by_both_of_its_names(client, host):
    assert client.get("/api/start", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}],
)
def test_a_write_from_another_site_is_refused(client, method, headers):
    response = client.request(method, "/api/start", headers=headers)
    assert response.status_code == 403
    assert "another site's page" in response.json()["error"]


def test_a_write_from_the_page_itself_is_not_taken_for_foreign(client):
    assert client.post("/api/start", headers={"origin": HERE}).status_code == 405


def test_another_sites_page_makes_the_explorer_compute_nothing(client):
    values = {"encoding": "rotary"}
    foreign = client.get("/api/view", params=values, headers={"sec-fetch-site": "cross-site"})
    assert foreign.status_code == 403
    assert (
        client.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200
    )  # a link from elsewhere


def test_the_page_may_load_nothing_from_elsewhere(client):
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "http" not in policy
    assert (
        "access-control-allow-origin"
        not in client.get("/api/start", headers={"origin": "http://evil.example"}).headers
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"encoding": "rop"}, ["'rop'", "Did you mean 'rotary'?"]),
        ({"encoding": "/etc/passwd"}, ["no encoding of this page"]),
        ({"encoding": "tests/mutants.py:Any"}, ["no encoding of this page"]),
        ({"encoding": "rotary", "dim": 0}, ["dim should be greater", "'0'"]),
        ({"encoding": "rotary", "dim": 513}, ["dim should be less"]),
        ({"encoding": "rotary", "dim": "wide"}, ["dim should be a valid integer", "'wide'"]),
        ({"encoding": "rotary", "length": 10**9}, ["length should be less"]),
        (
            {"encoding": "rotary", "dim": 10, "heads": 4},
            ["cannot be shared among heads=4", "1, 2, 5, 10"],
        ),
        ({"encoding": "rotary", "view": "zebra"}, ["view should be", "'zebra'"]),
        ({"encoding": "rotary", "colour": "red"}, ["no parameter called colour"]),
        ({}, ["encoding is required"]),
        ({"encoding": "rotary", "options": "{"}, ["JSON"]),
        ({"encoding": "rotary", "options": "[1]"}, ["names with values"]),
        ({"encoding": "rotary", "options": '{"base": NaN}'}, ["JSON"]),
        ({"encoding": "rotary", "options": '{"base": "x"}'}, ["a number for base", "'x'"]),
        ({"encoding": "rotary", "options": '{"base": -1}'}, ["above 0 for base"]),
        ({"encoding": "rotary", "options": '{"bass": 1}'}, ["no option 'bass'", "'base'"]),
        ({"encoding": "rotary", "options": '{"dim": 9999}'}, ["no option 'dim'"]),
        ({"encoding": "t5", "options": '{"buckets": 1000000000}'}, ["up to 4,096"]),
        (
            {"encoding": "continuous", "options": '{"depth": 4000, "hidden": 4000}'},
            ["would learn", "2,000,000"],
        ),
    ],
)
def test_a_bad_request_is_answered_with_a_sentence(refused, values, words):
    said = refused("view", **values)
    assert [word for word in words if word not in said] == []


@pytest.mark.parametrize(
    ("path", "values", "words"),
    [
        ("worked", {"encoding": "rotary", "position": 100}, "from 0 to 99"),
        ("shuffle", {"encoding": "rotary", "words": "one"}, "2 to 16 words"),
        ("shuffle", {"encoding": "rotary", "words": "a " * 100}, "2 to 16 words"),
        (
            "shuffle",
            {"encoding": "rotary", "words": "a b c", "order": "0,0,1"},
            "every word from 0 to 2 once",
        ),
        ("shuffle", {"encoding": "rotary", "words": "a b c", "order": "x"}, "every word"),
        ("source", {"encoding": "../../setup"}, "no encoding of this page"),
        ("nothing", {}, "nothing at /api/nothing"),
    ],
)
def test_other_addresses_refuse_alike(refused, path, values, words):
    assert words in refused(path, **values)


@pytest.mark.parametrize(
    "path", ["/../server.py", "/%2e%2e/server.py", "/tabs/../../server.py", "/..%2fserver.py"]
)
def test_only_the_page_is_served(client, path):
    assert client.get(path).status_code == 404


def test_work_that_takes_too_long_is_ended_and_the_queue_goes_on():
    async def both():
        queue = JobQueue(seconds=0.001)
        try:
            with pytest.raises(JobStopped, match=r"longer than 0.001 s"):
                await queue.run("encoding_views.certificate", "rotary", {"dim": 64})
            queue.seconds = 60.0
            return await queue.run("serialization.to_json", 3)
        finally:
            queue.stop()

    assert asyncio.run(both()) == b"3"


def test_a_worker_that_dies_is_told_and_replaced():
    async def after():
        queue = JobQueue(seconds=60.0)
        try:
            assert await queue.run("serialization.to_json", 1) == b"1"
            queue.worker.process.kill()
            with pytest.raises(JobStopped, match="has died"):
                await queue.run("serialization.to_json", 2)
            return await queue.run("serialization.to_json", 3)
        finally:
            queue.stop()

    assert asyncio.run(after()) == b"3"


def test_no_more_may_wait_than_are_allowed():
    async def full():
        await JobQueue(seconds=1, limit=0).run("serialization.to_json", 0)

    with pytest.raises(TooManyJobs, match="waiting already"):
        asyncio.run(full())


def test_an_encoding_of_the_users_own_that_breaks_is_told_and_the_server_lives(tmp_path):
    broken = "from locant.encodings.base import Encoding\n"
    broken += "class Broken(Encoding):\n    def embed(self, x, pos):\n"
    (tmp_path / "broken.py").write_text(f"print('noise')\n{broken}        return x['<b>no</b>']\n")
    code = (
        "from starlette.testclient import TestClient\n"
        "from locant.explorer.state import ExplorerState\n"
        "from locant.explorer.server import make_app\n"
        "if __name__ == '__main__':\n"
        "    app = make_app(ExplorerState(['broken.py:Broken']))\n"
        "    with TestClient(app, base_url='http://localhost') as client:\n"
        "        for name in ('broken.py:Broken', 'rotary'):\n"
        "            got = client.get('/api/view', params={'encoding': name})\n"
        "            print(got.status_code, got.text[:400])\n"
    )
    (tmp_path / "run.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    first, second = done.stdout.splitlines()
    assert first.startswith("400 ")
    assert json.loads(first[4:])["error"].startswith("broken.py:Broken failed while it was used: ")
    assert second.startswith("200 ")
