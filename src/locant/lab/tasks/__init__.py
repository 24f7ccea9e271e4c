"""Tasks, one file each: data that ask a model one question, and the scores of its answers."""

from pathlib import Path

UNSEEN = "unseen data"  # the data that decide, unless a published protocol says otherwise
TS_FOLDER = "LOCANT_TS"  # the environment variable that names a folder of .ts files
NAB = "LOCANT_NAB"  # the environment variable that names the folder of real series
SAMPLERS = ("randomized", "skips")  # of positions, which tasks on sequences offer to entrants
UNLABELLED = "labels that no row was shown"  # where a model learns from the series it is judged on


def task_source(name: str) -> tuple[Path, str]:
    """Return the file of a task, and the name of its class.

    >>> path, cls = task_source("own-text")
    >>> path.name, cls
    ('own_text.py', 'OwnText')
    """
    return Path(__file__).parent / f"{name.replace('-', '_')}.py", name.title().replace("-", "")
