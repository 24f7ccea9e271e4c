"""A thousand requests made from the explorer's own description, inside and outside its bounds: none
breaks it."""

from __future__ import annotations

import json
import random

import pytest

REQUESTS = 1000
COSTLY = {
    "/api/certificate",
    "/api/attention",
}  # seconds each when they are right: asked with wrong values alone
WORDS = [
    "",
    "rotary",
    "zebra",
    "../..",
    "<script>",
    "0",
    "-1",
    "1e9",
    "nan",
    "null",
    "[]",
    "{}",
    '{"base": 5}',
    "a b c",
    "é\u0000x",
    "🙂",
]
OPTIONS = [
    '{"base": %s}',
    '{"axes": %s}',
    '{"width": %s}',
    '{"scaling": %s}',
    '{"hidden": %s}',
    '{"std": %s}',
    '{"sides": %s}',
]
VALUES = [
    "1",
    "0",
    "-7",
    "3.5",
    "1e300",
    "1e999",
    "true",
    "null",
    '"half"',
    "[]",
    '{"type": "yarn", "factor": 4.0}',
    "[[[[1]]]]",
]


def sensible(draw, name, field):
    if name == "encoding":
        return draw.choice(
            ["rotary", "alibi", "learned", "sinusoidal", "none", "t5", "fourier", "shaw"]
        )
    if name == "options":
        return draw.choice(["{}", draw.choice(OPTIONS) % draw.choice(VALUES)])
    if name == "words":
        return " ".join(draw.choices(["the", "cat", "<b>", "ä"], k=draw.randint(2, 6)))
    if name in ("study", "row"):
        return {"study": "anomaly", "row": draw.choice(["rotary", "none"])}[name]
    if name == "dim":
        return draw.choice([4, 8, 12, 16])
    if "enum" in field:
        return draw.choice(field["enum"])
    if field.get("type") == "integer":
        return draw.randint(field.get("minimum", 0), min(field.get("maximum", 30), 30))
    return draw.choice(WORDS)


def wild(draw, field):
    edges = [
        field.get("minimum", 0) - 1,
        field.get("maximum", 0) + 1,
        field.get("exclusiveMaximum", 0),
    ]
    return draw.choice([*WORDS, *edges, "x" * 600, 10**30, -(10**30), 0.5])


def request(draw, path, parameters):
    """Values for an address: mostly sensible, some wild, some missing, some unknown."""
    broken = path in COSTLY or draw.random() < 0.6
    values = {}
    for parameter in parameters:
        name, field = parameter["name"], parameter["schema"]
        if broken and draw.random() < 0.5:
            values[name] = wild(draw, field)
        elif parameter.get("required") or draw.random() < 0.6:
            values[name] = sensible(draw, name, field)
    if path in COSTLY:
        values[draw.choice(["encoding", "nonsense"])] = draw.choice(["zebra", "", "../x"])
    return values


@pytest.fixture(scope="module")
def addresses(client):
    described = client.get("/api/openapi.json").json()["paths"]
    return {
        path: ways["get"].get("parameters", [])
        for path, ways in described.items()
        if "get" in ways and path.startswith("/api")
    }


@pytest.mark.slow
def test_a_thousand_random_requests_break_nothing(client, addresses):
    draw, seen = random.Random(7), {}
    for _ in range(REQUESTS):
        path = draw.choice(sorted(addresses))
        values = request(draw, path, addresses[path])
        response = client.get(path, params=values)
        assert response.status_code < 500, (path, values, response.text[:300])
        if response.status_code >= 400:
            assert set(json.loads(response.text)) == {"error"}, (path, values)
        seen.setdefault(path, set()).add(response.status_code // 100)
    assert client.get("/api/start").status_code == 200
    measured = {path for path, parameters in addresses.items() if parameters}
    assert {
        path for path in measured - COSTLY if seen[path] != {2, 4}
    } == set()  # both inside and outside were met
