"""Triton functions, compiled to PTX without a GPU. Imported only where Triton is used; written for Triton 3.2 to 3.9."""

from __future__ import annotations

import inspect
import linecache
import re
from dataclasses import dataclass, field
from typing import Any, Mapping

from warpproof.arguments import Scalar, Tensor, as_tensor, dtype_name
from warpproof.errors import UsageError
from warpproof.kernels import Kernel

#: Element types by their names in Triton's signatures.
_TYPES = {
    "f64": "fp64", "f32": "fp32", "tf32": "fp32", "f16": "fp16", "bf16": "bf16", "f8e4m3": "fp8e4nv", "f8e5m2": "fp8e5",
    "s64": "i64", "s32": "i32", "s16": "i16", "s8": "i8", "u64": "u64", "u32": "u32", "u16": "u16", "u8": "u8", "b1": "i1",
}  # fmt: skip


@dataclass(frozen=True)
class TritonKernel(Kernel):
    """A Triton function, compiled once its arguments are known."""

    fn: Any = field(default=None, repr=False)
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    target: str | int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, launch: Any) -> Any:
        return self.launch(grid=launch)

    def resolved(self, arguments: Mapping[str, Any]) -> tuple[Kernel, dict[str, Any]]:
        """Compiles the function for these arguments."""
        given = {**self.constexprs, **arguments}
        names = list(self.fn.arg_names)
        unknown = [name for name in given if name not in names]
        if unknown:
            raise UsageError(f"`{unknown[0]}` is not a parameter of `{_name(self.fn)}`: {', '.join(names)}")
        defaults = {p.name: p.default for p in self.fn.params if getattr(p, "has_default", False)}
        given = {**defaults, **given}
        missing = [name for name in names if name not in given]
        if missing:
            raise UsageError(f"`{_name(self.fn)}` needs `{missing[0]}` too")
        signature, constexprs, attrs, passed = {}, {}, {}, {}
        for position, parameter in enumerate(self.fn.params):
            name, value = parameter.name, given[parameter.name]
            kind = _kind(parameter, value)
            if kind is None:
                constexprs[name] = value
                continue
            signature[name] = kind
            passed[name] = value
            if _is_aligned(parameter, kind, value):
                attrs[(position,)] = [["tt.divisibility", 16]]
        return _compiled(self.fn, signature, constexprs, self.target, dict(self.options), attrs), passed


def kernel(fn: Any, signature: Any, constexprs: dict[str, Any], target: Any, options: dict[str, Any]) -> Kernel:
    """Returns a Triton function as a kernel; see :func:`warpproof.triton`."""
    while not hasattr(fn, "arg_names") or type(fn).__name__ in ("Autotuner", "Heuristics"):
        if not hasattr(fn, "fn"):
            raise UsageError(f"{type(fn).__name__} is not a function with @triton.jit")
        fn = fn.fn
    if signature is None:
        return TritonKernel(
            f"{_name(fn)}.ptx", fn=fn, constexprs=constexprs, target=target, options=options
        )
    if isinstance(signature, str):
        types = [one.strip() for one in signature.split(",")]
        names = [name for name in fn.arg_names if name not in constexprs]
        if len(types) != len(names):
            raise UsageError(f"the signature has {len(types)} types, but `{_name(fn)}` takes {', '.join(names)}")
        signature = dict(zip(names, types))
    return _compiled(fn, dict(signature), constexprs, target, options, {})


def _name(fn: Any) -> str:
    return str(getattr(fn, "__name__", None) or fn.fn.__name__)


def _kind(parameter: Any, value: Any) -> str | None:
    """Returns the type of a parameter in a signature, or `None` for a constant."""
    if parameter.is_constexpr or value is None:
        return None
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, Tensor):
        return f"*{_TYPES[value.dtype]}"
    if isinstance(value, Scalar):
        return _TYPES[value.dtype]
    if hasattr(value, "shape") and hasattr(value, "dtype") and tuple(value.shape) != ():
        return f"*{_TYPES[as_tensor(value).dtype]}"
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        if value == 1 and not _is_unspecialised(parameter):
            return None
        return "i32" if -(2**31) <= value < 2**31 else "i64"
    return "fp32"


def _of_text(text: str) -> str:
    """Returns the type of an argument in the command line's syntax: ``f32[4,8]:out``, ``f32``, ``512``."""
    match = re.match(r"(\w+)(\[)?", text)
    if match and re.match(r"[a-z]", text):
        name = _TYPES[dtype_name(match.group(1))]
        return f"*{name}" if match.group(2) else name
    return "i32" if re.fullmatch(r"-?\d+", text) else "fp32"


def _is_unspecialised(parameter: Any) -> bool:
    return bool(getattr(parameter, "do_not_specialize", False))


def _is_aligned(parameter: Any, kind: str, value: Any) -> bool:
    """Returns `True` if Triton specialises on the value being a multiple of 16. The checker assumes that every tensor
    begins at such an address.
    """
    if _is_unspecialised(parameter) or getattr(parameter, "do_not_specialize_on_alignment", False):
        return False
    return kind.startswith("*") or (isinstance(value, int) and not isinstance(value, bool) and value % 16 == 0)


def _compiled(
    fn: Any,
    signature: dict[str, str],
    constexprs: dict[str, Any],
    target: Any,
    options: dict[str, Any],
    attrs: dict[Any, Any],
) -> Kernel:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    constants = {name: "constexpr" for name in fn.arg_names if name not in signature}
    ordered = {name: {**signature, **constants}[name] for name in fn.arg_names}
    keys = {(list(fn.arg_names).index(name),): value for name, value in constexprs.items()}
    source = ASTSource(fn=fn, signature=ordered, constexprs=keys, attrs=attrs)
    made = triton.compile(source, target=GPUTarget("cuda", _capability(target), 32), options=options)
    metadata = made.metadata
    cluster = tuple(getattr(metadata, "cluster_dims", None) or ())
    return Kernel(
        f"{_name(fn)}.ptx",
        made.asm["ptx"],
        name=metadata.name,
        block=32 * metadata.num_warps,
        shared=metadata.shared,
        cluster=cluster if any(size > 1 for size in cluster) else None,
        parameters=tuple(name for name in fn.arg_names if name in signature),
        sources=_sources(fn, made.asm["ptx"]),
    )


def _sources(fn: Any, ptx: str) -> tuple[tuple[str, str], ...]:
    """Returns the Python file of a function, under its name in the PTX."""
    own = inspect.getsourcefile(fn.fn)
    names = [name for name in re.findall(r'^\s*\.file\s+\d+\s+"([^"]+)"', ptx, re.MULTILINE) if name == own]
    return tuple((name, "".join(linecache.getlines(name))) for name in names[:1])


def _capability(target: Any) -> int:
    if target is None:
        return 80
    digits = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3})[a-z]?", str(target))
    if digits is None:
        raise UsageError(f"`{target}` is not an architecture such as sm_90")
    return int(digits.group(1))
