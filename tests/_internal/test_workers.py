"""A worker does not outlive the process that started it, and a pool answers every call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children

import pytest

from locant._internal.workers import WorkerDied, call_all

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


# ---------------------------------------------------------------- a pool of workers


def double(number):
    if number == 13:
        raise ValueError("13 is refused")
    if number == 14:
        os._exit(3)
    if number == 15:
        raise Unpicklable("15")
    return 2 * number


class Unpicklable(Exception):
    def __reduce__(self):
        raise TypeError("this cannot be pickled")


def test_every_call_is_answered_once_with_its_index():
    calls = [(number,) for number in range(7)]
    assert sorted(call_all(double, calls, 3)) == [(number, 2 * number) for number in range(7)]


@pytest.mark.parametrize(
    ("number", "kind", "message"),
    [
        (13, ValueError, "13 is refused"),
        (14, WorkerDied, None),
        (15, RuntimeError, "Unpicklable: 15"),
    ],
)
def test_what_goes_wrong_in_a_worker_is_raised_and_no_worker_is_left(number, kind, message):
    before = set(active_children())
    with pytest.raises(kind, match=message):
        list(call_all(double, [(1,), (number,), (2,)], 2))
    assert set(active_children()) <= before


def test_an_iteration_that_is_given_up_leaves_no_worker():
    before = set(active_children())
    answers = call_all(double, [(1,), (2,), (3,)], 2)
    next(answers)
    answers.close()
    assert set(active_children()) <= before
