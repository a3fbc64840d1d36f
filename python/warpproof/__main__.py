"""The command line: ``warpproof`` and ``python -m warpproof``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from warpproof import _native


def main() -> int:
    """Runs the program with the arguments of this process."""
    add_scripts_to_path()
    return _native.main(sys.argv[1:])


def add_scripts_to_path() -> None:
    """Puts the programs of this environment on the path: ``warpproof[prove]`` brings a z3 that an environment which is not activated
    would not find."""
    scripts = str(Path(sys.executable).parent)
    folders = os.environ.get("PATH", "").split(os.pathsep)
    if scripts not in folders:
        os.environ["PATH"] = os.pathsep.join([*folders, scripts])


if __name__ == "__main__":
    sys.exit(main())
