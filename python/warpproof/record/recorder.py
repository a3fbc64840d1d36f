"""Runs a host function on fake tensors and records its launches and the formulas between them.

The function runs unchanged under `FakeTensorMode` on tensors that claim to be on a GPU. A `TorchDispatchMode` sees
every ATen operation, `launches.intercepted` every Triton launch, and `extensions` those of CUDA extensions. Nothing
is computed. Other kernels (`torch.compile`) are not seen and fail by themselves.

The host function's code is executed: run it in a sandbox if you do not trust its author.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from ..trace import tensor as ops
from ..trace.errors import Untraceable
from ..trace.formula import RESERVED, Tensor
from ..trace.torch import DTYPES, _path_name, apply, argument_names, dtype_name, has_template, structure_of
from .extensions import record_extensions
from .fake_gpu import one_thread, pretended_gpu, same_default_type
from .launches import Choices, Compiled, intercepted
from .memory import DEFINED, FILLED, INPUT, UNDEFINED, Segment, Storage

_EMPTY = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted"}
_PLACEMENT = {"device", "layout", "pin_memory", "memory_format"}
_FILLS = {"zeros": 0, "zeros_like": 0, "new_zeros": 0, "ones": 1, "ones_like": 1, "new_ones": 1}


UNUSED = object()  # a pointer never followed by the kernel


@dataclass
class Pass:
    """An argument of a launch: a storage, or a number."""

    name: str
    storage: Optional[Storage]
    number: Any = None
    state: str = ""
    fill: Any = None
    written: bool = False


@dataclass
class LaunchStep:
    """A launch of a kernel."""

    kernel: Compiled
    grid: tuple[int, ...]
    arguments: list[Pass]


@dataclass
class FormulaStep:
    """Operations of torch between launches."""

    segment: Segment
    operations: list[str] = field(default_factory=list)


class Recorder:
    """The state of one run."""

    def __init__(self, chosen: Sequence[int] = ()) -> None:
        self.storages: dict[int, Storage] = {}
        self.steps: list[Any] = []
        self.segment: Optional[FormulaStep] = None
        self.names: set[str] = set()
        self.all: list[Storage] = []
        self.choices = Choices(chosen)
        self.failure: Optional[Exception] = None
        #: Properties of the GPU that the host function read.
        self.asked: dict[str, int] = {}

    @contextlib.contextmanager
    def noting(self) -> Iterator[None]:
        """Keeps the first error of the recording: the host function may catch it and continue differently."""
        try:
            yield
        except Exception as error:
            self.failure = self.failure or error
            raise

    def fresh(self, hint: str) -> str:
        """Reserves a name for a storage."""
        name, n = hint, 1
        while name in self.names or name in RESERVED or not name.isidentifier():
            name, n = f"{hint.strip('0123456789') or 't'}{n}", n + 1
        self.names.add(name)
        return name

    def add(self, tensor: Any, hint: str, state: str, fill: Any = None, path: Optional[str] = None) -> Storage:
        """Registers the storage of a new tensor."""
        key = tensor.untyped_storage()._cdata
        if key in self.storages:
            return self.storages[key]
        made = Storage(
            self.fresh(hint),
            dtype_name(tensor.dtype),
            tuple(tensor.shape),
            tuple(tensor.stride()),
            tensor.storage_offset(),
            state,
            fill,
            tensor,
            path,
        )
        self.storages[key] = made
        self.all.append(made)
        return made

    def of(self, tensor: Any) -> Storage:
        """Returns the storage of a tensor."""
        found = self.storages.get(tensor.untyped_storage()._cdata)
        if found is None:
            raise Untraceable("a tensor that was made outside of the recording", "make it an argument or a parameter")
        return found

    def contents_of(self, storage: Storage) -> Storage:
        """Registers the contents of memory before anything is written to it, which may be anything."""
        made = Storage(self.fresh("memory"), storage.dtype, storage.shape, storage.strides, storage.offset, INPUT)
        self.all.append(made)
        return made

    # -- operations

    def operation(self, function: Any, arguments: Any, options: Any, result: Any) -> None:
        """Records one ATen operation."""
        name = function._schema.name.split("::")[1]
        made = [t for t in torch.utils._pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]
        if function._schema.is_mutable:
            self.update(function, name, arguments, options, made)
            return
        fresh = [t for t in made if t.untyped_storage()._cdata not in self.storages]
        if not fresh or name in ("detach", "alias"):
            return
        if name in _EMPTY:
            self.add(made[0], "t1", UNDEFINED)
        elif name in _FILLS or name in ("full", "full_like", "new_full"):
            fill = _FILLS[name] if name in _FILLS else arguments[1] if len(arguments) > 1 else options["fill_value"]
            if name == "new_full":
                fill = arguments[2]
            self.add(made[0], "t1", FILLED, fill)
        elif name in ("_to_copy", "clone") and _is_filled(self.of(arguments[0]), made[0]):
            self.add(made[0], "t1", FILLED, self.of(arguments[0]).fill)
        else:
            self.compute(function, name, arguments, options, made)

    def compute(self, function: Any, name: str, arguments: Any, options: Any, made: list[Any]) -> None:
        step = self.open(name)
        try:
            results = self.applied(step, function, arguments, options, made)
        except Untraceable as error:
            raise error.at(str(function), None) from error
        for tensor, value in zip(made, results):
            storage = self.add(tensor, "t1", UNDEFINED)
            if isinstance(value, Tensor):
                step.segment.define(storage, ops.cast(step.segment.b, value, storage.dtype))

    def applied(self, step: FormulaStep, function: Any, arguments: Any, options: Any, made: Any) -> list[Any]:
        def lifted(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return leaf
            storage = self.of(leaf)
            return storage.view(step.segment.whole(storage), leaf)

        ours = torch.utils._pytree.tree_map(lifted, (tuple(arguments), dict(options)))
        named = {key: value for key, value in ours[1].items() if key not in _PLACEMENT}
        return apply(step.segment.b, function, ours[0], named, made)

    def storages_are_whole(self) -> None:
        """Refuses memory whose size was changed after it was made."""
        for storage in self.all:
            if storage.keep is not None and storage.keep.untyped_storage().nbytes() < storage.keep.numel() * storage.keep.element_size():
                raise Untraceable(f"the memory of `{storage.name}` is resized")

    def update(self, function: Any, name: str, arguments: Any, options: Any, made: list[Any]) -> None:
        """Records an operation in place: the whole storage gets new contents."""
        if torch.Tag.inplace_view in function.tags:
            raise Untraceable("the shape or strides of a tensor are changed in place", "make a view of it", operation=str(function))
        target = arguments[0] if name.endswith("_") else options.get("out")
        if not isinstance(target, torch.Tensor):
            raise Untraceable("an operation that changes its arguments", operation=str(function))
        storage = self.of(target)
        if storage.state == INPUT:
            raise Untraceable(f"`{storage.name}`, an input, is changed", operation=str(function))
        if dtype_name(target.dtype) != storage.dtype:
            raise Untraceable("memory is changed as another type", operation=str(function))
        if not storage.is_whole(target):
            raise Untraceable("a part of a tensor is changed", operation=str(function))
        if (
            name in ("zero_", "fill_")
            and not isinstance(arguments[-1 if name == "fill_" else 0], torch.Tensor)
            or name == "zero_"
        ):
            number = 0 if name == "zero_" else arguments[1]
            self.open(name).segment.define(storage, ops.full(storage.shape, number, storage.dtype))
            return
        functional = _functional(function, name)
        step = self.open(name)
        rest = {key: value for key, value in options.items() if key != "out"}
        if name == "copy_":
            source = self.of(arguments[1])
            value = source.view(step.segment.whole(source), arguments[1])
            value = ops.expand(value, storage.shape)
        else:
            value = self.applied(step, functional, arguments, rest, made)[0]
        step.segment.define(storage, ops.cast(step.segment.b, value, storage.dtype))

    def open(self, operation: str) -> FormulaStep:
        """Returns the formula currently under construction."""
        if self.segment is None:
            self.segment = FormulaStep(Segment(sorted(self.names)))
            self.steps.append(self.segment)
        self.segment.operations.append(operation)
        return self.segment

    # -- launches

    def launch(self, kernel: Compiled, grid: tuple[int, ...], values: dict[str, Any]) -> None:
        """Records one launch."""
        passed = []
        updated = {self.of(values[n]) for n in kernel.written if isinstance(values[n], torch.Tensor)}
        for name in kernel.parameters:
            value = values[name]
            if not isinstance(value, torch.Tensor):
                passed.append(Pass(name, None, value))
                continue
            if name not in kernel.read | kernel.written:
                passed.append(Pass(name, None, UNUSED))
                continue
            storage = self.of(value)
            if value.storage_offset() != storage.offset:
                raise Untraceable(f"`{name}` of `{kernel.name}` begins inside another tensor")
            passed.append(Pass(name, storage, None, storage.state, storage.fill, storage in updated))
        self.require_repeatable(kernel, {one.name: one for one in passed if one.storage is not None})
        for one in passed:
            if one.storage is not None and one.written and one.storage.state != INPUT:
                one.storage.state = DEFINED
        self.segment = None
        self.steps.append(LaunchStep(kernel, grid, passed))


    def require_repeatable(self, kernel: Compiled, passed: dict[str, Pass]) -> None:
        """Refuses an autotuned kernel that changes what it starts from: Triton runs it several times to measure it."""
        if kernel.tuning is None:
            return
        for name in kernel.written & passed.keys():
            one = passed[name]
            same = {other for other in passed if passed[other].storage is one.storage}
            if one.state == UNDEFINED or same & kernel.tuning.restored:
                continue
            is_same_again = one.state == FILLED and one.fill == 0 if same & kernel.tuning.reset else not same & kernel.read
            if not is_same_again:
                raise Untraceable(
                    f"`{name}` of `{kernel.name}` is read and written or set to 0, and tuning runs the kernel several times",
                    f'write `restore_value=["{name}"]`',
                )


def _is_filled(storage: Storage, copy: Any) -> bool:
    """Returns `True` if a copy holds the one number that the storage is filled with."""
    return storage.state == FILLED and storage.dtype == dtype_name(copy.dtype)


def _functional(function: Any, name: str) -> Any:
    """Returns the operation that returns the result this one writes."""
    packet = getattr(torch.ops.aten, name.rstrip("_"), None)
    overload = function._overloadname
    for candidate in (overload, overload.replace("_out", ""), overload.replace("out", "") or "default", "default"):
        if packet is not None and candidate in packet.overloads():
            return getattr(packet, candidate)
    raise Untraceable("an operation that changes its arguments", operation=str(function))


class _Operations(TorchDispatchMode):  # type: ignore[misc,no-untyped-call,unused-ignore]
    """Hands every ATen operation to a recorder."""

    def __init__(self, recorder: Recorder):
        super().__init__()  # type: ignore[no-untyped-call,unused-ignore]
        self.recorder = recorder
        self.table = {**torch._decomp.decomposition_table, **torch._decomp.core_aten_decompositions()}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with self.recorder.noting():
            return self.dispatched(function, args, kwargs or {})

    def dispatched(self, function: Any, args: Any, options: Any) -> Any:
        """Runs one operation on fake tensors, in parts if it has no template."""
        decomposition = None if _is_known(function) else self.table.get(function)
        if decomposition is not None:
            with self:
                return decomposition(*args, **options)
        result = function(*args, **options)
        try:
            self.recorder.operation(function, args, options, result)
        except Untraceable as error:
            raise _Stop(error) from error
        return result


class _Stop(Exception):
    """Carries a refusal through torch, for which a `TypeError` means "try the other operand"."""

    def __init__(self, error: Untraceable):
        super().__init__(str(error))
        self.error = error


def _is_known(function: Any) -> bool:
    """Returns `True` if an operation is recorded as it is: a view, an allocation, an update, or one with a template."""
    name = function._schema.name.split("::")[1]
    viewed = any(r.alias_info is not None for r in function._schema.returns)
    return viewed or function._schema.is_mutable or name in _EMPTY or name in _FILLS or has_template(function)


class _Indexing(TorchFunctionMode):
    """Indexes and copies tensors by operations: torch's own methods ask the driver, which is absent."""

    def __init__(self, recorder: Recorder):
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with self.recorder.noting():
            return self.called(function, args, kwargs or {})

    def called(self, function: Any, args: Any, options: Any) -> Any:
        """Calls one function of torch."""
        if function is torch.Tensor.__getitem__:
            return _indexed(args[0], args[1])
        if function is torch.Tensor.__setitem__:
            _require_view(args[1])
            target, value = _indexed(args[0], args[1]), args[2]
            return (
                torch.ops.aten.copy_.default(target, value) if isinstance(value, torch.Tensor) else target.fill_(value)
            )
        if function is torch.Tensor.data_ptr:
            raise Untraceable("the function asks for the address of a tensor")
        if function is torch.Tensor.contiguous:
            order = options.get("memory_format", torch.contiguous_format)
            whole = args[0].is_contiguous(memory_format=order)
            return args[0] if whole else torch.ops.aten.clone.default(args[0], memory_format=order)
        if function is torch.Tensor.copy_:
            return torch.ops.aten.copy_.default(*args, **options)
        return function(*args, **options)


def _require_view(key: Any) -> None:
    """Refuses an assignment to elements chosen by a tensor: indexing by one makes a copy."""
    parts = key if isinstance(key, tuple) else (key,)
    if not all(part is None or part is Ellipsis or isinstance(part, (int, slice)) for part in parts):
        raise _Stop(Untraceable("elements chosen by a tensor or a list are changed", "write torch.where"))


def _indexed(tensor: Any, key: Any) -> Any:
    parts = list(key) if isinstance(key, tuple) else [key]
    used = sum(1 for p in parts if p is not None and p is not Ellipsis)
    rest: list[Any] = [slice(None)] * (tensor.dim() - used)
    place = next((n for n, p in enumerate(parts) if p is Ellipsis), None)
    parts = [*parts, *rest] if place is None else [*parts[:place], *rest, *parts[place + 1 :]]
    axis, found = 0, []
    for part in parts:
        if isinstance(part, int) and not isinstance(part, bool):
            tensor = torch.ops.aten.select.int(tensor, axis, part)
            continue
        if part is None:
            tensor = torch.ops.aten.unsqueeze.default(tensor, axis)
        elif isinstance(part, slice):
            if part != slice(None):
                tensor = torch.ops.aten.slice.Tensor(tensor, axis, part.start, part.stop, part.step or 1)
        elif not isinstance(part, torch.Tensor):
            raise _Stop(Untraceable(f"an index that is {type(part).__name__}"))
        found.append(part if isinstance(part, torch.Tensor) else None)
        axis += 1
    return torch.ops.aten.index.Tensor(tensor, found) if any(p is not None for p in found) else tensor


@dataclass
class Run:
    """One run: the recording and the results."""

    recorder: Recorder
    results: list[Any]
    structure: str


def run(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    names: Optional[Sequence[str]],
    chosen: Sequence[int],
    capability: int,
    mode: Optional[FakeTensorMode] = None,
    weights: Optional[Mapping[str, str]] = None,
) -> Run:
    """Runs the host function once. `chosen` are the configurations of its autotuned kernels, see `Choices`."""
    recorder = Recorder(chosen)
    surroundings = pretended_gpu(capability, recorder.asked, recorder.noting)
    with surroundings, same_default_type(), mode or FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        fakes = [fake(a) for a in arguments]
        for tensor, name in zip(_tensors(fakes), names or argument_names(function, arguments)):
            if tensor is not None:
                recorder.add(tensor, name, INPUT)
        call = _with_fake_weights(function, recorder, weights or {})
        launches = intercepted(recorder.launch, recorder.choices, capability, recorder.noting)
        try:
            with launches, record_extensions(recorder.launch, recorder.noting), one_thread(recorder.noting), _Indexing(recorder), _Operations(recorder):
                result = call(*fakes)
        except Exception as error:
            _require_no_refusal(recorder.failure)
            raise error
        except SystemExit as end:
            raise Untraceable("the function exits the process") from end
        _require_no_failure(recorder.failure)
        recorder.storages_are_whole()
        results = [t for t in torch.utils._pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]
    if not results:
        raise Untraceable("the function returns no tensor")
    return Run(recorder, results, structure_of(torch.utils._pytree.tree_structure(result)))


def _require_no_refusal(failure: Optional[Exception]) -> None:
    """Raises the refusal that ended a recording, whatever the host function made of it."""
    refusal = failure.error if isinstance(failure, _Stop) else failure
    if isinstance(refusal, Untraceable):
        raise refusal from None
    if type(refusal).__module__ == FakeTensor.__module__:  # its errors ask for the contents of a tensor
        raise Untraceable(f"the contents of a tensor are asked for: {refusal}") from None


def _require_no_failure(failure: Optional[Exception]) -> None:
    """Refuses a recording in which the host function caught an error: on a GPU it may not occur."""
    _require_no_refusal(failure)
    if failure is not None:
        first = (str(failure).strip().splitlines() or [""])[0]
        raise Untraceable(f"the function catches an error of the recording: {type(failure).__name__}: {first}") from failure


def _tensors(arguments: Sequence[Any]) -> list[Any]:
    leaves = torch.utils._pytree.tree_leaves(list(arguments))
    return [leaf if isinstance(leaf, torch.Tensor) else None for leaf in leaves]


def fake(argument: Any) -> Any:
    """Returns a fake tensor on a GPU for a tensor or a spec. Other arguments stay."""
    if isinstance(argument, FakeTensor) and argument.is_cuda:
        return argument
    if isinstance(argument, torch.Tensor):
        return torch.empty_strided(tuple(argument.shape), argument.stride(), dtype=argument.dtype, device="cuda")
    if isinstance(argument, (list, tuple)):
        return type(argument)(fake(a) for a in argument)
    if hasattr(argument, "shape") and hasattr(argument, "dtype"):
        return torch.empty(tuple(argument.shape), dtype=DTYPES[str(argument.dtype)], device="cuda")
    return argument


def _with_fake_weights(
    function: Callable[..., Any], recorder: Recorder, names: Mapping[str, str]
) -> Callable[..., Any]:
    """Returns the call of a module with fake tensors in place of its parameters and buffers."""
    if not isinstance(function, torch.nn.Module):
        return function
    held = {**dict(function.named_parameters()), **dict(function.named_buffers())}
    fakes = {path: fake(tensor) for path, tensor in held.items()}
    for path, tensor in fakes.items():
        recorder.add(tensor, names.get(path, _path_name(path)), INPUT, path=path)
    return lambda *arguments: torch.func.functional_call(_Unchanged(function, fakes), {f"module.{path}": fakes[path] for path in fakes}, arguments)


class _Unchanged(torch.nn.Module):
    """Calls a module, and refuses one that replaces its parameters or buffers: the next call would see others."""

    def __init__(self, module: torch.nn.Module, fakes: Mapping[str, Any]):
        super().__init__()
        self.module, self.fakes = module, fakes
        self.memory = {path: tensor.untyped_storage()._cdata for path, tensor in fakes.items()}

    def forward(self, *arguments: Any) -> Any:
        result = self.module(*arguments)
        held = {**dict(self.module.named_parameters()), **dict(self.module.named_buffers())}
        for path in sorted(held.keys() | self.fakes.keys()):
            if held.get(path) is not self.fakes.get(path) or held[path].untyped_storage()._cdata != self.memory[path]:
                raise Untraceable(f"the function replaces `{path}` of its module, which the next call sees", "make it a result")
        return result
