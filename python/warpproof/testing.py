"""Proofs as tests: for pytest, unittest, or a script in CI."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Callable, TypeVar

from warpproof import api
from warpproof.errors import NotProved, Refuted, UsageError
from warpproof.kernels import as_kernel
from warpproof.report import Report, brief

__all__ = ["Claim", "assert_check", "assert_equiv", "brief", "claims", "proved_against"]

Function = TypeVar("Function")


class KernelRefuted(Refuted):
    """The kernel of a test is wrong."""

    def __str__(self) -> str:
        return brief(self.report)


class KernelNotProved(NotProved):
    """The kernel of a test may be wrong."""

    def __str__(self) -> str:
        return brief(self.report)


def assert_equiv(reference: Any, kernel: Any, /, *, allow_unknown: bool = False, **keywords: Any) -> Report:
    """Fails unless a kernel is proved to compute the reference; see :func:`warpproof.verify`.

    With ``allow_unknown`` only a counterexample, or another error in the kernel, is a failure.
    """
    __tracebackhide__ = True
    return _judged(api.verify(reference, kernel, **keywords), allow_unknown)


def assert_check(kernel: Any, /, *, allow_unknown: bool = False, **keywords: Any) -> Report:
    """Fails unless a launch is proved to be free of races and memory errors; see :func:`warpproof.check`."""
    __tracebackhide__ = True
    return _judged(api.check(kernel, **keywords), allow_unknown)


def _judged(report: Report, allow_unknown: bool) -> Report:
    __tracebackhide__ = True
    if report.refuted:
        raise KernelRefuted(report)
    if report.unknown and not allow_unknown:
        raise KernelNotProved(report)
    return report


@dataclass(frozen=True)
class Claim:
    """A claim about a kernel: it computes the reference, at a launch."""

    reference: Any
    kernel: Any
    keywords: dict[str, Any] = field(default_factory=dict)
    #: Distinguishes it from other claims about the kernel.
    label: str = ""

    def prove(self) -> Report:
        """Fails unless it is proved."""
        __tracebackhide__ = True
        return assert_equiv(self.reference, self.kernel, **self.keywords)


def proved_against(reference: Any, /, *, grid: Any = None, label: str = "", **keywords: Any) -> Callable[[Function], Function]:
    """Claims that a kernel computes a reference at this launch. Several claims may stand above one kernel.

    It stands above a ``@triton.jit`` function and does not change it: the kernel is launched as before. The claim is
    proved when pytest collects the module, as the test ``proved[NAME]``, and at once with ``WARPPROOF_PROVE=1``. A
    grid given as a function gets the arguments, as in Triton.

    The reference is a formula or a function. Keywords are options and arguments of the kernel, its constants among
    them.
    """

    def claim(function: Function) -> Function:
        kernel = as_kernel(function)
        place = grid(dict(keywords)) if callable(grid) else grid
        if place is None:
            raise UsageError("a claim needs a launch: `@proved_against(reference, grid=…, …)`")
        made = Claim(reference, kernel.launch(grid=place), keywords, label)
        _CLAIMS.setdefault(id(function), (function, []))[1].append(made)
        if os.environ.get("WARPPROOF_PROVE") == "1":
            made.prove()
        return function

    return claim


#: Claims by function. A compiled function may not take attributes, so they are kept here.
_CLAIMS: dict[int, tuple[Any, list[Claim]]] = {}


def claims(function: Any) -> list[Claim]:
    """Returns the claims about a function, the nearest to it first."""
    found = _CLAIMS.get(id(function))
    return list(found[1]) if found is not None and found[0] is function else []
