"""Triton launches without a GPU: compiles with a stub driver, and finds the pointers a kernel writes through.

`JITFunction.run` compiles as for a real launch, on tensors whose addresses only show their alignment; the launch
itself is left out. The written arguments are read from Triton's own intermediate code: every store through a pointer
that may come from an argument counts. So an argument may be wrongly taken as written, never the reverse.
"""

from __future__ import annotations

import contextlib
import operator
from dataclasses import dataclass, replace
from typing import Any, Callable, ContextManager, Iterator, Optional, Sequence
from unittest import mock

from ..trace.errors import Untraceable
from .pointers import accessed

VERSIONS = ((3, 2), (3, 9))


@dataclass(frozen=True)
class Tuning:
    """Arguments that an autotuner of several configurations restores or sets to 0 while it measures them."""

    restored: frozenset[str]
    reset: frozenset[str]


@dataclass(frozen=True)
class Compiled:
    """A kernel as compiled by Triton for one launch."""

    name: str
    ptx: str
    warps: int
    shared: int
    cluster: tuple[int, ...]
    parameters: tuple[str, ...]  # of the PTX, in order
    read: frozenset[str]
    written: frozenset[str]
    options: dict[str, Any]  # constexpr arguments
    tuning: Optional[Tuning] = None
    block: tuple[int, ...] = ()  # of CUDA C++; Triton's is a number of warps
    #: Writes CUDA C++, in place of PTX, with parameter names that differ from these.
    cuda: Optional[Callable[[set[str]], str]] = None


class Pointer:
    """A tensor as seen by Triton's launcher: a type and an address."""

    def __init__(self, tensor: Any):
        self.tensor, self.dtype = tensor, tensor.dtype
        self.shape, self.device = tensor.shape, tensor.device

    def data_ptr(self) -> int:
        """Returns an address with the tensor's alignment."""
        return 1 << 20 | int(self.tensor.storage_offset()) * int(self.tensor.element_size())

    ptr_range = staticmethod(lambda: 0)

    def stride(self, *axes: Any) -> Any:
        """Returns the strides."""
        return self.tensor.stride(*axes)


class _Driver:
    """The part of a driver needed for compiling."""

    def __init__(self, capability: int):
        from triton.backends.compiler import GPUTarget

        self.target = GPUTarget("cuda", capability, 32)

    def get_current_target(self) -> Any:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def set_current_device(self, device: Any) -> None:
        return None

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def get_benchmarker(self) -> Any:
        raise Untraceable("a benchmark without a GPU")

    @staticmethod
    def is_active() -> bool:
        return True


Launched = Callable[[Compiled, tuple[int, ...], dict[str, Any]], None]
ErrorNotes = Callable[[], ContextManager[None]]


class Choices:
    """The configurations of autotuned kernels in one run: a number for each tuner and key, in the order they come.

    The autotuner chooses once for every key, that is for the arguments it lists and for the element types. `numbers`
    are the choices to make; those beyond are 0. `counts` are the numbers of configurations met.
    """

    def __init__(self, numbers: Sequence[int] = ()):
        self.numbers, self.counts = list(numbers), list[int]()
        self._made: dict[Any, Any] = {}

    def choose(self, tuner: Any, key: tuple[Any, ...], configurations: Callable[[], Sequence[Any]]) -> Any:
        """Returns the configuration of a tuner for a key."""
        place = (id(tuner), repr(key))
        if place not in self._made:
            found = list(configurations())
            if not found:
                raise Untraceable("an autotuned kernel without a configuration")
            number = self.numbers[len(self.counts)] if len(self.counts) < len(self.numbers) else 0
            self.counts.append(len(found))
            self._made[place] = tuner, found[min(number, len(found) - 1)]
        return self._made[place][1]

    def following(self) -> Optional[list[int]]:
        """Returns the next combination, or `None` after the last."""
        numbers = (self.numbers + [0] * len(self.counts))[: len(self.counts)]
        while numbers and numbers[-1] + 1 >= self.counts[len(numbers) - 1]:
            numbers.pop()
        return [*numbers[:-1], numbers[-1] + 1] if numbers else None


@contextlib.contextmanager
def intercepted(on_launch: Launched, choices: Choices, capability: int, noting: ErrorNotes) -> Iterator[None]:
    """Calls `on_launch(kernel, grid, arguments)` in place of every launch.

    `choices` chooses the configurations of autotuned kernels. `noting` sees the errors that the host function may catch.
    """
    from triton.compiler import CompiledKernel
    from triton.runtime import driver
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    _check_version()
    compile_only = JITFunction.run
    tunings: list[Optional[Tuning]] = []

    def noted(function: Callable[..., Any]) -> Callable[..., Any]:
        def inside(*arguments: Any, **options: Any) -> Any:
            with noting():
                return function(*arguments, **options)

        return inside

    def run(self: Any, *arguments: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        import torch

        def pointer(value: Any) -> Any:
            return Pointer(value) if isinstance(value, torch.Tensor) else value

        for tensor in (*arguments, *options.values()):
            if isinstance(tensor, torch.Tensor) and not tensor.is_cuda:
                raise Untraceable("a Triton kernel is launched on a tensor in the memory of the CPU")
        passed = [pointer(a) for a in arguments]
        named = {name: pointer(value) for name, value in options.items()}
        kernel = compile_only(self, *passed, grid=grid, warmup=True, **dict(named))
        bound = self.device_caches[0][4](*passed, **_clean(named))[0]
        size = grid(dict(bound)) if callable(grid) else grid
        if not warmup:
            values = {n: v.tensor if isinstance(v, Pointer) else v for n, v in bound.items()}
            made = replace(compiled(kernel, values), tuning=tunings[-1] if tunings else None)
            on_launch(made, tuple(operator.index(g) for g in size), values)
        return kernel

    def tune(self: Any, *arguments: Any, **options: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, arguments))
        chosen = choices.choose(self, _key(self, {**self.nargs, **options}), lambda: _configurations(self, options))
        if chosen.pre_hook is not None:
            chosen.pre_hook({**self.nargs, **options, **chosen.all_kwargs()})
        self.best_config, self.nargs = chosen, None
        tunings.append(_tuning(self))
        try:
            return self.fn.run(*arguments, **options, **chosen.all_kwargs())
        finally:
            tunings.pop()

    before = driver._active
    driver.set_active(_Driver(capability))
    try:
        patches = mock.patch.object(JITFunction, "run", noted(run)), mock.patch.object(Autotuner, "run", noted(tune))
        with patches[0], patches[1], mock.patch.object(CompiledKernel, "_init_handles", noted(_load)):
            yield
    finally:
        driver._active = before


def _load(kernel: Any) -> None:
    """Refuses to load a compiled kernel: only launches of functions are recorded."""
    raise Untraceable("a kernel that was compiled earlier is launched", "launch the function itself")


def _key(tuner: Any, given: dict[str, Any]) -> tuple[Any, ...]:
    """Returns the key for which an autotuner chooses a configuration."""
    named = {name: value for name, value in given.items() if name in tuner.arg_names}
    types = [str(value.dtype) for value in named.values() if hasattr(value, "dtype")]
    return (*(named[name] for name in getattr(tuner, "keys", ()) if name in named), *types)


def _tuning(tuner: Any) -> Optional[Tuning]:
    """Returns the arguments that a tuner restores, or `None` if it measures nothing."""
    if len(tuner.configs) <= 1:
        return None
    if getattr(tuner, "user_defined_pre_hook", False) or getattr(tuner, "user_defined_post_hook", False):
        raise Untraceable("an autotuner with a hook of its own")
    return Tuning(frozenset(tuner.restore_value or ()), frozenset(tuner.reset_to_zero or ()))


def _configurations(tuner: Any, options: dict[str, Any]) -> Sequence[Any]:
    """Returns the configurations that an autotuner chooses from. It does not prune a single one."""
    configurations: Sequence[Any] = tuner.configs if len(tuner.configs) == 1 else tuner.prune_configs(options)
    return configurations


def _clean(options: dict[str, Any]) -> dict[str, Any]:
    """Adds the options that `JITFunction.run` adds before it binds arguments."""
    from triton import knobs

    added = {"debug": options.get("debug", False) or knobs.runtime.debug}
    for name in ("instrumentation_mode", "fpsan_homomorphic_casts"):
        if hasattr(knobs.compilation, name):
            added[name] = getattr(knobs.compilation, name)
    return {**options, **added}


def _check_version() -> None:
    import triton

    version = tuple(int(part) for part in triton.__version__.split(".")[:2])
    if not VERSIONS[0] <= version <= VERSIONS[1]:
        raise Untraceable(f"Triton {triton.__version__}: recording is known to work with 3.2 to 3.9")


def compiled(kernel: Any, values: dict[str, Any]) -> Compiled:
    """Reads the needed parts of Triton's compiled kernel."""
    signature = {str(name): kind for name, kind in kernel.src.signature.items()}
    parameters = tuple(name for name, kind in signature.items() if kind != "constexpr")
    metadata = kernel.metadata
    for name in parameters:
        if isinstance(signature[name], str) and signature[name].startswith("tensordesc"):
            raise Untraceable(f"`{name}` is a tensor descriptor")
    if getattr(metadata, "global_scratch_size", 0):
        raise Untraceable("a kernel that needs scratch memory of Triton's")
    if getattr(metadata, "launch_pdl", False):
        raise Untraceable("a kernel with `launch_pdl`, which may run before earlier ones have ended")
    cluster = tuple(getattr(metadata, "cluster_dims", None) or ())
    options = {name: value for name, value in values.items() if signature.get(name) == "constexpr"}
    return Compiled(
        metadata.name,
        kernel.asm["ptx"],
        metadata.num_warps,
        metadata.shared,
        cluster if any(size > 1 for size in cluster) else (),
        parameters,
        *accessed(kernel.asm["ttir"], metadata.name, parameters),
        options,
    )
