"""`locant explore`: the explorer, a page in the browser, served to this machine only."""

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
from locant.cli._options import StoreOption
from locant.encodings.registry import canonical, describe
from locant.lab.store import STORE

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
    """Open the explorer in the browser: encodings with sliders, attention, certificates, studies.

    It listens on 127.0.0.1 only, loads nothing from the network, and stops with Ctrl-C.

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
        describe(name)  # a wrong name is reported before anything starts
    from locant.lab.store.open import sqlite_file

    with sqlite_file(store) as runs:
        serve(own, runs, port, open_browser=not no_open)


def serve(own: list[str], store: Path, port: int | None, *, open_browser: bool) -> None:
    """Serve the explorer until Ctrl-C."""
    import uvicorn

    from locant.explorer.server import make_app
    from locant.explorer.state import ExplorerState

    listener = listening(port)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    print(f"locant explore: {address}   (Ctrl-C stops it)", file=sys.stderr)
    if open_browser:
        soon = Timer(1.0, webbrowser.open, [address])
        soon.daemon = True
        soon.start()
    # exit normally, so that an unpacked store is removed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    app = make_app(ExplorerState(own, store))
    settings = uvicorn.Config(
        app, log_level="warning", server_header=False, timeout_graceful_shutdown=1
    )
    uvicorn.Server(settings).run(sockets=[listener])


def listening(port: int | None) -> socket.socket:
    """Open a socket on this machine only: at the given port, or else the default one, or a free
    one."""
    for wanted in (PORT, 0) if port is None else (port,):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", wanted))
            listener.listen()  # requests that come before the server is up wait
        except OSError as problem:
            listener.close()
            why = problem.strerror
        else:
            return listener
    raise ValueError(f"port {port} cannot be used: {why}. Choose another --port, or leave it out.")
