"""Run the commands as `python -m locant …`."""

from locant.cli import main

main()
