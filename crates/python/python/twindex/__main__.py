"""The command `twindex`: `python -m twindex` runs it too."""

import os
import signal
import sys

from twindex._twindex import run_command


def main() -> None:
    """Run the command with the arguments of the process, and end the process."""
    # The command handles signals itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    name = "twindex" if sys.argv[0].endswith("__main__.py") else sys.argv[0]
    status = run_command([name, *sys.argv[1:]])
    # Nothing of Python is left to do, and a command that ends by a signal must end at once.
    os._exit(status)


if __name__ == "__main__":
    main()
