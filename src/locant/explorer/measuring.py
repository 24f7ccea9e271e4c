"""The certificate of one encoding, measured now."""

from __future__ import annotations

from locant.certificate import certify
from locant.explorer.answers import answer
from locant.explorer.pictures import Size, made
from locant.guests import told


def certificate(name: str, size: Size) -> bytes:
    """As `Certificate.to_dict` gives it."""
    with told(name):
        return answer(certify(made(name, size), effort="quick", name=name).to_dict())
