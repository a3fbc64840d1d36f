"""The command line: ``warpproof`` and ``python -m warpproof``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from warpproof import _native


def main() -> int:
    """Runs the program with the arguments of this process."""
    add_scripts_to_path()
    if sys.prefix != sys.base_prefix:
        # The compiler for CUDA C++ is looked for in this environment, activated or not.
        os.environ.setdefault("VIRTUAL_ENV", sys.prefix)
    if sys.argv[1:2] == ["batch"] and any(word.partition("=")[0] == "--ray" for word in sys.argv):
        from warpproof import ray

        return ray.main(sys.argv[2:])
    return _native.main(sys.argv[1:])


def add_scripts_to_path() -> None:
    """Puts the programs of this environment on the path.

    ``warpproof[prove]`` installs a z3 there, which is not found otherwise in an environment that is not activated.
    """
    scripts = str(Path(sys.executable).parent)
    folders = os.environ.get("PATH", "").split(os.pathsep)
    if scripts not in folders:
        os.environ["PATH"] = os.pathsep.join([*folders, scripts])


if __name__ == "__main__":
    sys.exit(main())
