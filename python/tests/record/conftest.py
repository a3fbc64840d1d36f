"""Lets the tests of the tracer run in a clone without a built extension module."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

_SOURCE = Path(__file__).resolve().parents[2]


def _package() -> None:
    """Imports the package as installed, otherwise from the clone, otherwise only its tracing part."""
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
