"""Lets the tests of the tracer run from a clone whose extension module is not built."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

_SOURCE = Path(__file__).resolve().parents[2]


def _package() -> None:
    """Takes the package as installed, else from the clone, else its tracing part alone."""
    for path in ([], [str(_SOURCE)]):
        sys.path[:0] = path
        try:
            importlib.import_module("warpproof.trace")
            return
        except ImportError:
            sys.modules.pop("warpproof", None)
    package = types.ModuleType("warpproof")
    package.__path__ = [str(_SOURCE / "warpproof")]
    sys.modules["warpproof"] = package


_package()
sys.path.insert(0, str(Path(__file__).resolve().parent))
