"""One file, one question put to a model."""

from pathlib import Path

UNSEEN = "unseen data"  # what decides, unless a published protocol has it otherwise
NAB = "LOCANT_NAB"  # the variable that names the folder of real series
UNLABELLED = "labels that no row was shown"  # where what is judged is also learnt from


def task_source(name: str) -> tuple[Path, str]:
    """The file of a task, and the name of its class in it.

    >>> path, cls = task_source("own-text")
    >>> path.name, cls
    ('own_text.py', 'OwnText')
    """
    return Path(__file__).parent / f"{name.replace('-', '_')}.py", name.title().replace("-", "")
