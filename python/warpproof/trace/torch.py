"""PyTorch functions and modules as formulas: `torch.export`, Core ATen, templates.

The function runs once on fake tensors (`torch.export`, not strict) and is decomposed to Core ATen. Every operation
there has a template or is refused by name and Python line. Parameters and buffers of modules become inputs, named
after their paths. Constants made by the function itself are inputs with contents, unless they are one number.

Errors are on the safe side: anything not understood is `Untraceable`. Updates of buffers (running statistics) are not
outputs, and are mentioned in `Traced.notes`. A function that changes its inputs is refused.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import warnings
from dataclasses import replace
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

import torch
from torch._subclasses.fake_tensor import FakeTensor

from . import aten_reduce, aten_views, tensor as ops
from .aten import TEMPLATES, Call, refused, sequence
from .errors import Untraceable
from .formula import Builder, Tensor
from .traced import Traced

DTYPES: dict[str, torch.dtype] = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "s64": torch.int64,
    "s32": torch.int32,
    "s16": torch.int16,
    "s8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
    "b1": torch.bool,
}
assert aten_views  # registers its templates
NAMES = {dtype: name for name, dtype in DTYPES.items() if name != "b1"}


def dtype_name(dtype: torch.dtype) -> str:
    """Returns the name of an element type, such as "f32"."""
    if dtype not in NAMES:
        raise Untraceable(f"elements of type {dtype}")
    return NAMES[dtype]


class _Function(torch.nn.Module):
    """A function as a module, as required by `torch.export`."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def trace(
    function: Callable[..., Any],
    *specs: Any,
    names: Optional[Sequence[str]] = None,
    outputs: Optional[Sequence[str]] = None,
    avoid: Sequence[str] = (),
) -> Traced:
    """Traces a torch function or module on tensors of given shapes and types."""
    arguments = tuple(_example(spec) for spec in specs)
    program = export(function, arguments)
    given = list(names or argument_names(function, arguments))
    reader = _Reader(program, given, outputs)
    reader.avoid = [name for name in avoid if name not in {*given, *(outputs or [])}]
    return reader.read()


def _example(spec: Any) -> Any:
    if isinstance(spec, (list, tuple)):
        return type(spec)(_example(s) for s in spec)
    if isinstance(spec, torch.Tensor) or not hasattr(spec, "shape") or not hasattr(spec, "dtype"):
        return spec
    name = str(spec.dtype)
    if name not in DTYPES:
        raise Untraceable(f"elements of type {name}: torch has none")
    return torch.empty(tuple(spec.shape), dtype=DTYPES[name])


def export(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Exports to Core ATen. Errors of torch become `Untraceable` with torch's own words."""
    module = function if isinstance(function, torch.nn.Module) else _Function(function)
    try:
        with warnings.catch_warnings(), _lines_of(function):
            warnings.simplefilter("ignore")
            return torch.export.export(module, arguments, strict=False).run_decompositions()
    except Untraceable:
        raise
    except Exception as error:  # anything raised by the user's code or by torch
        text = str(error).strip().splitlines()
        raise Untraceable(f"torch.export failed: {type(error).__name__}: {text[0] if text else ''}") from error


@contextlib.contextmanager
def _lines_of(function: Callable[..., Any]) -> Iterator[None]:
    """Makes torch record lines inside a plain function, not only inside `forward` of modules."""
    anchors = getattr(torch.fx.proxy, "_STACK_TRACE_ANCHORS", None)
    code = getattr(function, "__code__", None)
    if not isinstance(anchors, set) or code is None or (code.co_filename, code.co_name) in anchors:
        yield
        return
    anchors.add((code.co_filename, code.co_name))
    try:
        yield
    finally:
        anchors.discard((code.co_filename, code.co_name))


def argument_names(function: Callable[..., Any], arguments: Sequence[Any]) -> list[str]:
    """Returns names for the tensors among the arguments, from the signature if it has them."""
    target = function.forward if isinstance(function, torch.nn.Module) else function
    try:
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        known = [p.name for p in inspect.signature(target).parameters.values() if p.kind in kinds]
    except (TypeError, ValueError):
        known = []
    names: list[str] = []
    for n, argument in enumerate(arguments):
        base = known[n] if n < len(known) else f"x{n}" if len(arguments) > 1 else "x"
        parts = torch.utils._pytree.tree_leaves(argument)
        names.extend(
            [base] if not isinstance(argument, (list, tuple, dict)) else [f"{base}_{k}" for k in range(len(parts))]
        )
    return names


class _Reader:
    """Walks the graph of an exported program."""

    def __init__(self, program: Any, names: Sequence[str], outputs: Optional[Sequence[str]]):
        self.program, self.names, self.wanted = program, list(names), outputs
        self.b = Builder()
        self.avoid: Sequence[str] = ()
        self.values: dict[Any, Any] = {}
        self.weights: dict[str, str] = {}
        self.notes: list[str] = []

    def read(self) -> Traced:
        for name in self.wanted or []:
            self.b.reserve(name)
        self.b.avoid(self.avoid)
        self.define(self.walk())
        traced = self.b.traced(self.weights, self.notes)
        return replace(traced, structure=structure_of(self.program.call_spec.out_spec))

    def walk(self) -> list[Any]:
        """Interprets the graph and returns the outputs, to be defined by `read`."""
        specs = {spec.arg.name: spec for spec in self.program.graph_signature.input_specs}
        results: list[Any] = []
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                self.values[node] = self.placeholder(node, specs[node.name])
            elif node.op == "call_function":
                self.values[node] = self.call(node)
            elif node.op == "output":
                results = self.results(node)
            else:
                raise Untraceable(f"a graph node `{node.op}`", operation=str(node.target))
        return results

    def placeholder(self, node: Any, spec: Any) -> Any:
        kind = spec.kind.name
        meta = node.meta.get("val")
        if kind == "USER_INPUT":
            name = self.names.pop(0) if self.names else node.name
            if not isinstance(meta, torch.Tensor):
                return spec.arg.value if hasattr(spec.arg, "value") else meta
            return self.b.input(name, dtype_name(meta.dtype), tuple(meta.shape))
        if kind == "TOKEN":  # orders operations with effects, which have no template
            return None
        if kind not in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            raise Untraceable(f"an input of kind {kind}")
        return self.held(spec, kind, meta)

    def held(self, spec: Any, kind: str, meta: torch.Tensor) -> Tensor:
        """Returns a parameter, buffer or constant. One that consists of one number becomes that number."""
        stored = self.stored(spec.target)
        dtype = dtype_name(meta.dtype)
        if kind == "CONSTANT_TENSOR" and stored is not None and _uniform(stored):
            return ops.full(tuple(meta.shape), _item(stored), dtype)
        made = self.b.input(_path_name(spec.target), dtype, tuple(meta.shape))
        name = self.b.inputs[-1][0]
        self.weights[name] = spec.target
        if kind != "PARAMETER" and stored is not None:
            self.b.contents[name] = stored.detach().cpu().numpy() if dtype != "bf16" else stored.float().numpy()
        return made

    def stored(self, target: str) -> Optional[torch.Tensor]:
        found = self.program.constants.get(target, self.program.state_dict.get(target))
        real = isinstance(found, torch.Tensor) and not isinstance(found, FakeTensor) and found.device.type != "meta"
        return found if real else None

    def call(self, node: Any) -> Any:
        line = line_of(node)
        self.b.line = line
        target = node.target
        name = getattr(target, "__name__", str(target))
        if name == "getitem":
            return self.values[node.args[0]][node.args[1]]
        if not isinstance(target, torch._ops.OpOverload):
            raise Untraceable("not an operation of Core ATen", operation=str(target), line=line)
        operation, overload = target._schema.name.split("::")[1], target._overloadname
        if operation.startswith("_assert"):
            return None
        reason = refused(operation)
        if reason is not None or operation not in TEMPLATES or target.namespace != "aten":
            raise Untraceable(reason or "no template for this operation", operation=str(target), line=line)
        found = bound(target, node.args, node.kwargs)
        arguments = {key: self.resolved(argument) for key, argument in found.items()}
        if operation == "as_strided":
            arguments["row_major"] = is_row_major(node.args[0].meta.get("val"))
        call = Call(self.b, operation, overload, arguments, _results(node.meta.get("val")))
        try:
            result = TEMPLATES[operation](call)
        except Untraceable as error:
            raise error.at(str(target), line) from error
        _check(result, call, str(target), line)
        return result

    def resolved(self, argument: Any) -> Any:
        if isinstance(argument, torch.fx.Node):
            found = self.values[argument]
            if isinstance(found, aten_reduce.Unused):
                raise Untraceable(f"{found.reason} are used")
            return found
        if isinstance(argument, (list, tuple)):
            return [self.resolved(a) for a in argument]
        return argument

    def results(self, node: Any) -> list[Any]:
        """Returns the function's results. Updates of buffers become notes."""
        specs = self.program.graph_signature.output_specs
        kept = []
        for spec, argument in zip(specs, node.args[0]):
            kind = spec.kind.name
            if kind == "USER_OUTPUT":
                kept.append(argument)
            elif kind == "BUFFER_MUTATION":
                self.notes.append(f"the update of buffer `{spec.target}` is not compared")
            else:
                raise Untraceable(f"the function changes `{spec.target}` ({kind.lower()})", "return a new tensor")
        return [self.resolved(argument) for argument in kept]

    def define(self, results: Sequence[Any]) -> None:
        """Defines the outputs."""
        self.b.line = None
        names = list(self.wanted or (["y"] if len(results) == 1 else [f"y{n}" for n in range(len(results))]))
        if len(names) != len(results):
            raise Untraceable(f"the function returns {len(results)} tensors, {len(names)} names are given")
        for name, found in zip(names, results):
            if not isinstance(found, Tensor):
                raise Untraceable(f"an output that is {found!r}, not a tensor")
            self.b.output(name, found)


def structure_of(spec: Any) -> str:
    """Writes how results are put together. A list and a tuple are the same."""
    if spec.type is None:
        return "*"
    kind = "sequence" if spec.type in (list, tuple) else f"{spec.type.__name__} {spec.context}"
    children = spec.children() if hasattr(spec, "children") else spec.children_specs
    return f"{kind}({', '.join(map(structure_of, children))})"


def is_row_major(tensor: Any) -> bool:
    """Returns `True` if a tensor fills its memory in the order of its indices."""
    if not isinstance(tensor, torch.Tensor) or not tensor.is_contiguous() or tensor.storage_offset() != 0:
        return False
    return tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()


def bound(target: Any, arguments: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Binds arguments to the names of torch's schema, with its defaults."""
    formal = target._schema.arguments
    found = {a.name: a.default_value for a in formal if a.has_default_value()}
    found.update(zip((a.name for a in formal), arguments))
    found.update(options)
    return found


def apply(b: Builder, operation: Any, arguments: Sequence[Any], options: Mapping[str, Any], results: Any) -> list[Any]:
    """Applies one ATen operation to tensors of a formula under construction. `results` are torch's."""
    name = operation._schema.name.split("::")[1]
    reason = refused(name)
    if reason is not None or not has_template(operation):
        raise Untraceable(reason or "no template for this operation", operation=str(operation))
    call = Call(b, name, operation._overloadname, bound(operation, arguments, options), _results(results))
    made = TEMPLATES[name](call)
    _check(made, call, str(operation), None)
    return list(sequence(made))


def has_template(operation: Any) -> bool:
    """Returns `True` if an operation of torch is in the table."""
    return operation.namespace == "aten" and operation._schema.name.split("::")[1] in TEMPLATES


def _check(result: Any, call: Call, operation: str, line: Optional[str]) -> None:
    """Compares shape and kind of a template's result with torch's."""
    for made, (dtype, shape) in zip(sequence(result), call.results):
        if isinstance(made, Tensor) and (made.shape != shape or made.dtype != dtype):
            if made.shape == shape and {made.dtype, dtype} <= {"f64", "f32", "f16", "bf16"}:
                continue
            raise AssertionError(f"{line}: {operation}: {made.dtype}{made.shape}, torch has {dtype}{shape}")


def _results(meta: Any) -> list[tuple[str, tuple[int, ...]]]:
    found = []
    for one in meta if isinstance(meta, (list, tuple)) else [meta]:
        if isinstance(one, torch.Tensor):
            if any(not isinstance(extent, int) for extent in one.shape):
                raise Untraceable("a size that is not fixed")
            found.append((dtype_name(one.dtype), tuple(one.shape)))
    return found


def _uniform(stored: torch.Tensor) -> bool:
    return stored.numel() > 0 and bool((stored == stored.flatten()[0]).all())


def _item(stored: torch.Tensor) -> Any:
    """Returns the number; for a float, the shortest decimal that rounds to it in its own type."""
    first = stored.flatten()[0]
    return float(str(first.numpy())) if first.dtype in (torch.float32, torch.float16) else first.item()


def _path_name(path: str) -> str:
    return re.sub(r"\W+", "_", re.sub(r"^function\.", "", path))


def line_of(node: Any) -> Optional[str]:
    """Returns `file:line` of the user's call behind a node: the innermost frame outside torch."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    inside = re.compile(r"[/\\]torch[/\\]|warpproof[/\\]trace[/\\]")
    own = [frame for frame in frames if not inside.search(frame[0])] or frames
    return f"{own[-1][0]}:{own[-1][1]}" if own else None
