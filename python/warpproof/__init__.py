"""Warpproof proves GPU kernels correct.

``check`` looks for races, misused barriers and memory errors in a launch, for all contents of the tensors. ``equiv``
and ``verify`` compare a kernel with a reference, which always comes first. ``prove`` takes CUDA C, for every launch
and size. ``simulate`` runs a kernel on numbers. None of them needs a GPU.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from warpproof.api import check, equiv, prove, run, simulate, verify
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
    from warpproof.batches import Job, Result, batch, job
    from warpproof.errors import Bug, NotProved, Refuted, UsageError
    from warpproof.kernels import Kernel, Launch, cuda, ptx, tilelang, triton
    from warpproof.report import Counterexample, Finding, Location, Property, Report, Simulation
    from warpproof.rewards import Reward, Scored, reward
    from warpproof.testing import assert_check, assert_equiv, proved_against

__all__ = [
    "Bug", "Counterexample", "Finding", "Job", "Kernel", "Launch", "Location", "NotProved", "Property", "Refuted", "Report", "Result", "Reward",
    "Scalar", "Scored", "Simulation", "Tensor", "UsageError", "assert_check", "assert_equiv", "b1", "batch", "bf16", "check", "cuda", "equiv",
    "f8e4m3", "f8e5m2", "f16", "f32", "f64", "inout", "job", "known", "out", "prove", "proved_against", "ptx", "reward", "run", "s8", "s16", "s32",
    "s64", "scalar", "scratch", "simulate", "tensor", "tf32", "tilelang", "triton", "u8", "u16", "u32", "u64", "verify",
    "version",
]  # fmt: skip

#: The module of each name, imported at first use so that `import warpproof` takes no time.
_MODULES = {
    "api": ("check", "equiv", "prove", "run", "simulate", "verify"),
    "arguments": (
        "Scalar", "Tensor", "b1", "bf16", "f16", "f32", "f64", "f8e4m3", "f8e5m2", "inout", "known", "out", "s16", "s32", "s64",
        "s8", "scalar", "scratch", "tensor", "tf32", "u16", "u32", "u64", "u8",
    ),
    "batches": ("Job", "Result", "batch", "job"),
    "errors": ("Bug", "NotProved", "Refuted", "UsageError"),
    "kernels": ("Kernel", "Launch", "cuda", "ptx", "tilelang", "triton"),
    "report": ("Counterexample", "Finding", "Location", "Property", "Report", "Simulation"),
    "rewards": ("Reward", "Scored", "reward"),
    "testing": ("assert_check", "assert_equiv", "proved_against"),
}  # fmt: skip
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def version() -> str:
    """Returns version, revision, target and compiler."""
    from warpproof import _native

    return _native.version()


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        value = getattr(import_module(f"warpproof.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if name in ("kernelbench", "record", "testing", "trace"):
        return import_module(f"warpproof.{name}")
    if name == "__version__":
        return version().splitlines()[0]
    raise AttributeError(f"module `warpproof` has no attribute `{name}`")


def __dir__() -> list[str]:
    return [*__all__, "__version__", "kernelbench", "record", "testing", "trace"]
