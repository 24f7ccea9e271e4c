"""The certificate of one encoding, measured now."""

from __future__ import annotations

from locant._internal.user_code import user_code
from locant.certification.certificate import certify
from locant.explorer.answers import answer
from locant.explorer.pictures import Size, made


def certificate(name: str, size: Size) -> bytes:
    """As `Certificate.to_dict` gives it."""
    with user_code(name):
        return answer(certify(made(name, size), effort="quick", name=name).to_dict())
