"""What `import locant` costs beside `import torch`, in one run: the median of several fresh
processes.

python benchmarks/imports.py
"""

from __future__ import annotations

import subprocess
import sys

from _table import table

CASES = {
    "import torch": "import torch",
    "import torch, then locant and all its public names": (
        "import torch, locant; [getattr(locant, n) for n in locant.__all__]"
    ),
    "import locant": "import locant",
}


def seconds(code: str) -> float:
    timed = f"import time; t = time.perf_counter()\n{code}\nprint(time.perf_counter() - t)"
    runs = [
        float(
            subprocess.run(
                [sys.executable, "-c", timed], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(7)
    ]
    return sorted(runs)[3]


def main() -> None:
    table(
        "Import, seconds",
        ["", "seconds"],
        [[name, f"{seconds(code):.3f}"] for name, code in CASES.items()],
    )


if __name__ == "__main__":
    main()
