"""Triton launches without a GPU: compiles with a stub driver and tells which pointers a kernel writes.

`JITFunction.run` compiles as for a real launch, on tensors whose addresses only tell their alignment; the launch itself
is left out. Which arguments are written is read from Triton's own intermediate code: every store through a pointer that
may come from an argument counts, so that an argument may be called written that is not, never the reverse.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import Any, Callable, Iterator
from unittest import mock

from ..trace.errors import Untraceable

VERSIONS = ((3, 2), (3, 9))


@dataclass(frozen=True)
class Compiled:
    """A kernel as Triton compiled it for one launch."""

    name: str
    ptx: str
    warps: int
    shared: int
    cluster: tuple[int, ...]
    parameters: tuple[str, ...]  # of the PTX, in order
    read: frozenset[str]
    written: frozenset[str]
    options: dict[str, Any]  # constexpr arguments


class Pointer:
    """A tensor as Triton's launcher looks at it: a type and an address."""

    def __init__(self, tensor: Any):
        self.tensor, self.dtype = tensor, tensor.dtype
        self.shape, self.device = tensor.shape, tensor.device

    def data_ptr(self) -> int:
        """Returns an address with the alignment that the tensor would have."""
        return 1 << 20 | int(self.tensor.storage_offset()) * int(self.tensor.element_size())

    ptr_range = staticmethod(lambda: 0)

    def stride(self, *axes: Any) -> Any:
        """Returns the strides."""
        return self.tensor.stride(*axes)


class _Driver:
    """The part of a driver that compiling needs."""

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


@contextlib.contextmanager
def intercepted(on_launch: Launched, variant: int, capability: int, found: dict[str, int]) -> Iterator[None]:
    """Calls `on_launch(kernel, grid, arguments)` in place of every launch.

    Autotuned functions take configuration `variant`, or their last; `found` gets how many each has.
    """
    from triton.runtime import driver
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    _check_version()
    compile_only = JITFunction.run

    def run(self: Any, *arguments: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        import torch

        def pointer(value: Any) -> Any:
            return Pointer(value) if isinstance(value, torch.Tensor) else value

        passed = [pointer(a) for a in arguments]
        named = {name: pointer(value) for name, value in options.items()}
        kernel = compile_only(self, *passed, grid=grid, warmup=True, **dict(named))
        bound = self.device_caches[0][4](*passed, **_clean(named))[0]
        size = grid(dict(bound)) if callable(grid) else grid
        if not warmup:
            values = {n: v.tensor if isinstance(v, Pointer) else v for n, v in bound.items()}
            on_launch(compiled(kernel, values), tuple(int(g) for g in size), values)
        return kernel

    def tune(self: Any, *arguments: Any, **options: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, arguments))
        configurations = list(self.prune_configs(options))
        found[getattr(self.base_fn, "__name__", "kernel")] = len(configurations)
        chosen = configurations[min(variant, len(configurations) - 1)]
        if chosen.pre_hook is not None:
            chosen.pre_hook({**self.nargs, **options, **chosen.all_kwargs()})
        self.best_config, self.nargs = chosen, None
        return self.fn.run(*arguments, **options, **chosen.all_kwargs())

    before = driver._active
    driver.set_active(_Driver(capability))
    try:
        with mock.patch.object(JITFunction, "run", run), mock.patch.object(Autotuner, "run", tune):
            yield
    finally:
        driver._active = before


def _clean(options: dict[str, Any]) -> dict[str, Any]:
    """Adds what `JITFunction.run` adds before it binds arguments."""
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
    """Reads what matters from Triton's compiled kernel."""
    signature = {str(name): kind for name, kind in kernel.src.signature.items()}
    parameters = tuple(name for name, kind in signature.items() if kind != "constexpr")
    metadata = kernel.metadata
    for name in parameters:
        if isinstance(signature[name], str) and signature[name].startswith("tensordesc"):
            raise Untraceable(f"`{name}` is a tensor descriptor")
    if getattr(metadata, "global_scratch_size", 0):
        raise Untraceable("a kernel that needs scratch memory of Triton's")
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


_STORES = re.compile(r"tt\.(?:store|atomic_rmw|atomic_cas|descriptor_store|descriptor_scatter|descriptor_reduce)\b")
_READS = re.compile(r"tt\.(?:load|atomic_rmw|atomic_cas|descriptor_load|descriptor_gather|descriptor_reduce)\b")
_VALUE = re.compile(r"%[\w$.-]+")


def accessed(code: str, name: str, parameters: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the parameters that pointers of loads and of stores may come from."""
    everything = frozenset(parameters)
    head = re.search(rf"tt\.func public @{re.escape(name)}\((.*?)\)\s*(?:attributes|\{{)", code, re.S)
    if head is None or "tt.call" in code or "tt.extern_elementwise" in code or "inline_asm" in code:
        return everything, everything
    formal = re.findall(r"(%[\w$.-]+):", head.group(1))
    if len(formal) != len(parameters):
        return everything, everything
    reach = {value: {parameter} for value, parameter in zip(formal, parameters)}
    lines = [line for line in code[head.end() :].splitlines() if "%" in line or "yield" in line]
    _propagate(lines, reach)
    return _origins(_READS, lines, reach, everything), _origins(_STORES, lines, reach, everything)


def _origins(
    operation: re.Pattern[str], lines: list[str], reach: dict[str, set[str]], everything: frozenset[str]
) -> frozenset[str]:
    found: set[str] = set()
    for line in lines:
        match = operation.search(line)
        if match is not None:
            first = _VALUE.search(line[match.end() :])
            found |= reach.get(first.group().split("#")[0], set()) if first else everything
    return frozenset(found)


def _propagate(lines: list[str], reach: dict[str, set[str]]) -> None:
    """Spreads the origin of pointers over all values until nothing changes; loops spread over their yields."""
    changed = True
    while changed:
        changed = False
        open_results: list[list[str]] = []
        for line in lines:
            left, equals, right = line.partition(" = ")
            results = [v.split(":")[0] for v in _VALUE.findall(left)] if equals else []
            carried = re.findall(r"(%[\w$.-]+) = (%[\w$.#-]+)", right) if "iter_args" in right else []
            pairs = [([inner], [outer]) for inner, outer in carried]
            values = [v for v in _VALUE.findall(right if equals else line)]
            if "scf." in line and line.rstrip().endswith("{"):
                open_results.append(results + [inner for inner, _ in carried])
            if "scf.yield" in line and open_results:
                pairs += [(open_results[-1], values)]
            if line.strip().startswith("}") and open_results and "else" not in line:
                open_results.pop()
            if results:
                pairs.append((results, values))
            for targets, sources in pairs:
                origin = set().union(*(reach.get(s.split("#")[0], set()) for s in sources)) if sources else set()
                for target in targets:
                    before = reach.setdefault(target.split("#")[0], set())
                    if not origin <= before:
                        before |= origin
                        changed = True
