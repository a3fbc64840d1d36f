"""Warpproof proves GPU kernels correct.

``check`` looks for races, misused barriers and memory errors in a launch, whatever its tensors contain; ``equiv`` and
``verify`` compare a kernel with a reference, which always comes first; ``prove`` takes CUDA C for every launch and size;
``simulate`` runs a kernel on numbers. No GPU is needed for any of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpproof.api import check, equiv, prove, simulate, verify
from warpproof.arguments import (
    Scalar,
    Tensor,
    b1,
    bf16,
    f8e4m3,
    f8e5m2,
    f16,
    f32,
    f64,
    inout,
    known,
    out,
    s8,
    s16,
    s32,
    s64,
    scalar,
    scratch,
    tensor,
    tf32,
    u8,
    u16,
    u32,
    u64,
)
from warpproof.errors import Bug, NotProved, Refuted, UsageError
from warpproof.kernels import Kernel, Launch, cuda, ptx, tilelang, triton
from warpproof.report import Counterexample, Finding, Location, Property, Report, Simulation

if TYPE_CHECKING:
    from warpproof.testing import assert_check, assert_equiv, proved_against

__all__ = [
    "Bug", "Counterexample", "Finding", "Kernel", "Launch", "Location", "NotProved", "Property", "Refuted", "Report",
    "Scalar", "Simulation", "Tensor", "UsageError", "assert_check", "assert_equiv", "b1", "bf16", "check", "cuda", "equiv",
    "f8e4m3", "f8e5m2", "f16", "f32", "f64", "inout", "known", "out", "prove", "proved_against", "ptx", "s8", "s16", "s32",
    "s64", "scalar", "scratch", "simulate", "tensor", "tf32", "tilelang", "triton", "u8", "u16", "u32", "u64", "verify",
    "version",
]  # fmt: skip

#: Imported when they are first used, so that `import warpproof` stays fast.
_LATER = {"assert_check": "testing", "assert_equiv": "testing", "proved_against": "testing"}
_MODULES = ("kernelbench", "record", "testing", "trace")


def version() -> str:
    """Returns version, revision, target and compiler."""
    from warpproof import _native

    return _native.version()


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"warpproof.{name}")
    if name in _LATER:
        return getattr(import_module(f"warpproof.{_LATER[name]}"), name)
    if name == "__version__":
        return version().splitlines()[0]
    raise AttributeError(f"module `warpproof` has no attribute `{name}`")
