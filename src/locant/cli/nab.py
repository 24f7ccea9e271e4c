"""`locant compare … --nab`: the folder of real series that a study is made on."""

from __future__ import annotations

import os
from pathlib import Path

from locant.lab.study import Study
from locant.lab.tasks import NAB

TASK = "real-anomalies"


def name_folder(folder: Path, plans: list[Study]) -> None:
    """Tell tasks, in the processes of this command too, where the series lie. No run keeps it: what they hold counts."""
    for plan in plans:
        if plan.task != TASK:
            raise ValueError(
                f"--nab is for studies of the task {TASK}, but {plan.name} is one of {plan.task}."
            )
    os.environ[NAB] = str(folder.expanduser().resolve())
