"""The same study on a real Ray of two workers, one of which is killed."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
import ray
from common_lab import finish, kept, write_tiny

from locant.lab.engine.ray import compute
from locant.lab.study_files import read_study

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("ray"),
]  # one after the other: one of them kills workers


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def test_a_cluster_gives_what_this_machine_gives_bit_for_bit(tmp_path):
    write_tiny(tmp_path)
    finish(tmp_path, "--engine", "ray", "--store", "ray.sqlite")
    finish(tmp_path, "--store", "local.sqlite")
    assert kept(tmp_path, "ray.sqlite") == kept(tmp_path, "local.sqlite")
    assert len(kept(tmp_path, "ray.sqlite")) == 8


def test_a_killed_worker_costs_no_run(cluster, tmp_path):
    plan = read_study(str(write_tiny(tmp_path)), changes={"training.steps": 400, "seeds": 3})
    runs = [plan.run(row, seed) for row in plan.rows() for seed in range(plan.seeds)]
    killed: list[int] = []

    def kill_one() -> None:
        for _ in range(600):
            time.sleep(0.1)
            found = os.popen("pgrep -f ray::attempt").read().split()
            if found:
                os.kill(int(found[0]), signal.SIGKILL)
                killed.append(int(found[0]))
                return

    killer = threading.Thread(target=kill_one)
    killer.start()
    done = list(compute(runs))
    killer.join()
    assert killed, "no worker was there to be killed"
    assert sorted(one.digest for one in done) == sorted(run.digest() for run in runs)
    assert [one.error for one in done if one.error] == []
