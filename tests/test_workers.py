"""A worker does not outlive the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

PARENT = """
import os, sys, time
from locant._internal.workers import Worker

def idle(pipe):
    pipe.send("ready")
    time.sleep(60)

if __name__ == "__main__":
    worker = Worker(idle)
    worker.pipe.recv()
    if "fork" in sys.argv and not os.fork():
        time.sleep(30)
        os._exit(0)
    print(worker.process.pid, flush=True)
    time.sleep(60)
"""


def runs(process: int) -> bool:
    """Whether there is such a process; one that has ended and is not yet collected is none."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(
    not os.path.exists("/proc/self/stat"), reason="needs /proc to see whether a process is there"
)
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    "with_child", ["", "fork"]
)  # a child of the parent holds what the parent held
def test_a_worker_goes_with_the_process_that_started_it(how, with_child, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen(
        [sys.executable, script, with_child], stdout=subprocess.PIPE, text=True
    ) as parent:
        worker = int(parent.stdout.readline())
        assert runs(worker)
        parent.send_signal(how)
        parent.wait()
        until = time.monotonic() + 20
        while runs(worker) and time.monotonic() < until:
            time.sleep(0.05)
        assert not runs(worker)
