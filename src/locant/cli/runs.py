"""`locant runs`: the studies that a store keeps."""

from __future__ import annotations

import time

from locant import lab
from locant._internal.text import counted
from locant.cli._options import JsonOption, StoreOption
from locant.cli._output import print_json
from locant.lab.store import STORE


def runs(store: StoreOption = STORE, as_json: JsonOption = False) -> None:
    """List the studies that are kept.

    Examples:

      locant runs

      locant runs --json
    """
    studies = lab.runs(store).to_dicts()
    if as_json:
        print_json(studies)
        return
    for entry in studies:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry["finished"]))
        print(f"{entry['id']:24} {when}  {counted(entry['runs'], 'runs')}  {entry['title']}")
