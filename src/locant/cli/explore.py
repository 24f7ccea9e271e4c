"""`locant explore`: the explorer, a page in the browser, served to this machine alone."""

from __future__ import annotations

import signal
import socket
import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Annotated

import typer

from locant._internal.checks import how_to_install
from locant.cli._options import STORE, StoreOption
from locant.encodings.registry import canonical, describe

PORT = 8765
NEEDED = ("fastapi", "uvicorn", "plotly")


def explore(
    encodings: Annotated[
        list[str] | None,
        typer.Argument(help="Your own encodings, path.py:Class, listed beside the others."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help=f"Port; {PORT} by default, or a free one if that is taken."
        ),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
    store: StoreOption = STORE,
) -> None:
    """Open the explorer: every encoding in the browser, with sliders; attention, certificates and studies.

    It listens on 127.0.0.1 alone, loads nothing from the network, and ends with Ctrl-C.

    Examples:

      locant explore

      locant explore mine.py:Mine --port 9000

      locant explore --no-open --store docs/studies/studies.json.gz
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ValueError(f"the explorer needs {', '.join(missing)}.{how_to_install('explore')}")
    own = list(dict.fromkeys(map(canonical, encodings or [])))
    for name in own:
        describe(name)  # a wrong name is told before anything starts
    from locant.lab.store.open import sqlite_file

    with sqlite_file(store) as runs:
        serve(own, runs, port, open_browser=not no_open)


def serve(own: list[str], store: Path, port: int | None, *, open_browser: bool) -> None:
    """Listen until Ctrl-C."""
    import uvicorn

    from locant.explorer.desk import Desk
    from locant.explorer.server import make_app

    listener = listening(port)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    print(f"locant explore: {address}   (Ctrl-C ends it)", file=sys.stderr)
    if open_browser:
        soon = Timer(1.0, webbrowser.open, [address])
        soon.daemon = True
        soon.start()
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM)
    )  # so that what was unpacked is cleared away
    app = make_app(Desk(own, store))
    settings = uvicorn.Config(
        app, log_level="warning", server_header=False, timeout_graceful_shutdown=1
    )
    uvicorn.Server(settings).run(sockets=[listener])


def listening(port: int | None) -> socket.socket:
    """A socket on this machine alone: the port asked for, or else the usual one, or a free one."""
    for wanted in (PORT, 0) if port is None else (port,):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", wanted))
            listener.listen()  # whoever comes before the server is up waits
        except OSError as problem:
            listener.close()
            why = problem.strerror
        else:
            return listener
    raise ValueError(
        f"port {port} cannot be used: {why}. Give another with --port, or none at all."
    )
