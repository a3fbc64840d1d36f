"""Kernels and their launches: PTX, CUDA C++, Triton functions, TileLang kernels."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, Tuple, Union, overload

from warpproof.errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

    from warpproof.report import Report, Simulation

#: A number, or up to three.
Dimensions: TypeAlias = Union[int, Tuple[int, ...], Sequence[int]]


@dataclass(frozen=True)
class Kernel:
    """A kernel without a launch: ``kernel[grid, block]`` gives it one."""

    #: A path, or a name for the text in reports.
    file: str
    #: PTX or CUDA C++. Without it, the file is read.
    source: str | bytes | None = field(default=None, repr=False)
    #: The kernel's name in the file.
    name: str | None = None
    #: The architecture to compile CUDA C++ for.
    arch: str | None = None
    #: Folders with header files.
    include: tuple[str, ...] = ()
    #: Threads of a block, if fixed.
    block: Dimensions | None = None
    #: Bytes of dynamic shared memory, as requested by the compiler.
    shared: int | str | None = None
    #: Blocks of a cluster, if fixed.
    cluster: Dimensions | None = None
    #: Names of the parameters in their order, if known.
    parameters: tuple[str, ...] | None = None
    #: Source files of the PTX: their paths in it, and their texts.
    sources: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def __getitem__(self, launch: Any) -> Launch:
        if self.block is not None:
            # The block is the compiler's, as in Triton: the whole index is the grid.
            return Launch(self, grid=launch)
        if not isinstance(launch, tuple) or len(launch) not in (2, 3):
            raise UsageError("a launch is `kernel[grid, block]` or `kernel[grid, block, shared]`")
        return Launch(self, *launch)

    def launch(
        self,
        *,
        grid: Dimensions | None = None,
        block: Dimensions | None = None,
        shared: int | str | None = None,
        cluster: Dimensions | None = None,
    ) -> Launch:
        """Returns a launch. Sizes that are not given must be in the PTX."""
        return Launch(self, grid, block, shared, cluster)

    def resolved(self, arguments: Mapping[str, Any]) -> tuple[Kernel, dict[str, Any]]:
        """Returns the kernel compiled for these arguments, and the arguments passed at a launch."""
        return self, dict(arguments)

    def named(self) -> str:
        """Returns ``FILE::KERNEL``."""
        return self.file if self.name is None else f"{self.file}::{self.name}"


@dataclass(frozen=True)
class Launch:
    """A kernel with the sizes and arguments of its launch. ``launch(x=…, y=…)`` adds arguments."""

    kernel: Kernel
    grid: Dimensions | None = None
    block: Dimensions | None = None
    shared: int | str | None = None
    cluster: Dimensions | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, **arguments: Any) -> Launch:
        return replace(self, arguments={**self.arguments, **arguments})

    def check(self, **keywords: Any) -> Report:
        """Looks for races and memory errors in this launch; see :func:`warpproof.check`."""
        from warpproof import api

        return api.check(self, **keywords)

    def equiv(self, reference: Any, **keywords: Any) -> Report:
        """Compares this launch with a reference; see :func:`warpproof.equiv`."""
        from warpproof import api

        return api.equiv(reference, self, **keywords)

    def verify(self, reference: Any, **keywords: Any) -> Report:
        """Compares this launch with a reference, possibly a function; see :func:`warpproof.verify`."""
        from warpproof import api

        return api.verify(reference, self, **keywords)

    def simulate(self, **keywords: Any) -> Simulation:
        """Runs this launch on numbers; see :func:`warpproof.simulate`."""
        from warpproof import api

        return api.simulate(self, **keywords)

    def resolved(self, arguments: Mapping[str, Any]) -> Launch:
        """Returns the launch with these arguments added and the sizes fixed by the kernel filled in."""
        kernel, passed = self.kernel.resolved({**self.arguments, **arguments})
        given = {name: getattr(self, name) for name in ("block", "shared", "cluster")}
        filled = {name: getattr(kernel, name) if value is None else value for name, value in given.items()}
        return replace(self, kernel=kernel, arguments=passed, **filled)


def dimensions(given: Dimensions) -> str:
    """Returns sizes in the command line's notation: ``4,2``."""
    if isinstance(given, int):
        return str(given)
    return ",".join(str(int(size)) for size in given)


def _read(source: Any, marks: Iterable[str]) -> tuple[str | None, str | bytes | None]:
    """Tells a path from a text, and returns one of the two."""
    if hasattr(source, "read"):
        return None, source.read()
    if isinstance(source, bytes):
        return None, source
    if isinstance(source, str) and ("\n" in source or any(mark in source for mark in marks)):
        return None, source
    return os.fspath(source), None


def ptx(source: Any, name: str | None = None) -> Kernel:
    """Returns a kernel in PTX: a text, an open file, or a path.

    A path may also lead to an object, a library, a program, or an entry of Triton's cache that contains PTX. ``name``
    is needed if there are several kernels.
    """
    path, text = _read(source, [".version"])
    return Kernel(path or "kernel.ptx", text, name)


def cuda(
    source: Any,
    name: str | None = None,
    arch: str | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
) -> Kernel:
    """Returns a kernel in CUDA C++: a text, an open file, or a path.

    It is compiled by NVRTC or nvcc; ``pip install 'warpproof[cuda]'`` brings NVRTC.
    """
    path, text = _read(source, ["__global__"])
    return Kernel(path or "kernel.cu", text, name, arch, tuple(os.fspath(folder) for folder in include))


def triton(
    fn: Any,
    signature: Mapping[str, str] | str | None = None,
    constexprs: Mapping[str, Any] | None = None,
    target: str | int | None = None,
    **options: Any,
) -> Kernel:
    """Returns a ``@triton.jit`` function as a kernel, compiled without a GPU.

    Without a signature it is compiled when arguments are given, and specialised as by Triton: pointers are multiples
    of 16 bytes, an integer of 1 is a constant. ``target`` is an architecture such as ``"sm_90"``. ``options`` are
    Triton's own: ``num_warps``, ``num_stages``. The grid stands alone, as in Triton: ``kernel[grid]``.
    """
    from warpproof import _triton

    return _triton.kernel(fn, signature, dict(constexprs or {}), target, options)


@overload
def tilelang(kernel: str, name: str | None = None, arch: str | None = None, include: Sequence[str] = ()) -> Kernel: ...
@overload
def tilelang(kernel: Any, name: str | None = None, arch: str | None = None, include: Sequence[str] = ()) -> Any: ...
def tilelang(kernel: Any, name: str | None = None, arch: str | None = None, include: Sequence[str] = ()) -> Kernel | Launch:
    """Returns the launch of a TileLang program, with the program's own grid, block and tensors.

    A program is a function with ``@T.prim_func``, or the result of ``@tilelang.jit`` on one. It is lowered without a
    GPU, for ``sm_80`` unless ``arch`` says otherwise. Tensors are inputs if the program only reads them, otherwise
    outputs: ``launch(C=wp.inout(…))`` changes that. The text of ``get_kernel_source()`` gives a kernel without a
    launch.
    """
    from warpproof import _tilelang

    program = kernel if _tilelang.is_program(kernel) else getattr(kernel, "prim_func", None)
    if program is not None:
        return _tilelang.launch(program, arch, tuple(include))
    if hasattr(kernel, "get_tir"):
        raise UsageError("a function with @tilelang.jit has sizes: give the program, `wp.tilelang(function.get_tir(…))`")
    source = kernel.get_kernel_source() if hasattr(kernel, "get_kernel_source") else kernel
    return _tilelang.kernel(source, name, arch, tuple(include)) if _tilelang.is_installed() else cuda(source, name, arch, include)


def as_kernel(given: Any) -> Kernel:
    """Returns a kernel for anything accepted as one, such as a path."""
    if isinstance(given, Kernel):
        return given
    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        if "\n" in text:
            return cuda(text) if "__global__" in text and ".version" not in text else ptx(text)
        file, separator, name = text.partition("::")
        return Kernel(file, None, name if separator else None)
    if hasattr(given, "get_kernel_source"):
        made = tilelang(given)
        return made.kernel if isinstance(made, Launch) else made
    if hasattr(given, "arg_names") and hasattr(given, "fn"):
        return triton(given)
    raise UsageError(
        f"{type(given).__name__} is not a kernel; there are `wp.ptx(…)`, `wp.cuda(…)`, `wp.triton(…)`, `wp.tilelang(…)`, and paths"
    )


def as_launch(given: Any) -> Launch:
    """Returns a launch for anything accepted as one."""
    if isinstance(given, Launch):
        return given
    if type(given).__name__ == "PrimFunc" or hasattr(given, "get_kernel_source"):
        made = tilelang(given)
        return made if isinstance(made, Launch) else Launch(made)
    return Launch(as_kernel(given))


def stem(kernel: Kernel) -> str:
    """Returns the extension of the kernel's file."""
    return Path(kernel.file).suffix or ".ptx"
