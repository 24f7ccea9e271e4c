"""What all HTML pages share: templates from the package, every value escaped."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment() -> Environment:
    """Make the Jinja environment that every HTML page is rendered with."""
    return Environment(
        loader=PackageLoader("locant.lab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
