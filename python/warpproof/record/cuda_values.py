"""Values of host functions of CUDA extensions: numbers, sizes of launches, options, tensors, addresses."""

from __future__ import annotations

import itertools
import math
import re
import struct
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence

import torch

from ..trace.errors import Untraceable
from .cuda_integers import INTEGERS, TYPING, common, integer, plain


@dataclass(frozen=True)
class Dim3:
    """The sizes of a grid or block."""

    x: int
    y: int = 1
    z: int = 1


@dataclass(frozen=True)
class Options:
    """The element type and the device of a new tensor, `None` where the function that makes it decides."""

    dtype: Optional[torch.dtype] = None
    device: Optional[str] = None


@dataclass(frozen=True)
class Pointer:
    """The address of a tensor."""

    tensor: Any


#: The largest number of `float`.
FLOAT_MAX = 3.4028234663852886e38


class Rounded(float):
    """A number that the compiled code computes with rounding: its value there is at most `error` away."""

    error: float = 0.0


#: Relative and absolute errors of rounding to a type, from above. Every computation may be one in `float`.
_PRECISION = {"float": (2.0**-23, 2.0**-149), "half": (2.0**-10, 2.0**-24), "bfloat16": (2.0**-7, 2.0**-133)}


def error_of(value: Any) -> float:
    """Returns how far a number may be from that of the compiled code."""
    return value.error if isinstance(value, Rounded) else 0.0


def computed(value: Any, error: float = 0.0, kind: str = "float") -> Any:
    """Returns a result with its error: that of its operands, and that of rounding if it is not exact in `kind`."""
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    if error == 0 and _is_exact(value, kind):
        return float(value)
    relative, absolute = _PRECISION[kind]
    made = Rounded(value)
    made.error = error + (abs(value) + error) * relative + absolute
    return made


def _is_exact(value: float, kind: str) -> bool:
    """Returns `True` if a type has this number."""
    if abs(value) > FLOAT_MAX or (kind == "half" and abs(value) > 65504):
        return False
    if kind == "half":
        return bool(struct.unpack("e", struct.pack("e", value))[0] == value)
    bits = struct.pack("<f", value)
    return bool(struct.unpack("<f", bits)[0] == value) and (kind != "bfloat16" or bits[:2] == b"\0\0")


TYPES: dict[str, Any] = {
    "float": torch.float32, "double": torch.float64, "half": torch.float16, "__half": torch.float16, "at :: Half": torch.float16,
    "c10 :: Half": torch.float16, "at :: BFloat16": torch.bfloat16, "c10 :: BFloat16": torch.bfloat16, "__nv_bfloat16": torch.bfloat16,
    "int": torch.int32, "int32_t": torch.int32, "int64_t": torch.int64, "long": torch.int64, "long long": torch.int64, "int16_t": torch.int16,
    "int8_t": torch.int8, "uint8_t": torch.uint8, "bool": torch.bool,
}  # fmt: skip

_KINDS = {
    "kFloat32": torch.float32, "kFloat": torch.float32, "kFloat64": torch.float64, "kDouble": torch.float64, "kFloat16": torch.float16,
    "kHalf": torch.float16, "kBFloat16": torch.bfloat16, "kInt32": torch.int32, "kInt": torch.int32, "kInt64": torch.int64,
    "kLong": torch.int64, "kInt8": torch.int8, "kUInt8": torch.uint8, "kBool": torch.bool, "kCUDA": "cuda", "kCPU": "cpu",
}  # fmt: skip
_SCALARS = {"Float": torch.float32, "Double": torch.float64, "Half": torch.float16, "BFloat16": torch.bfloat16, "Int": torch.int32, "Long": torch.int64}

CONSTANTS: dict[str, Any] = {
    "true": True, "false": False, "nullptr": 0, "NULL": 0, "cudaSuccess": 0, "INFINITY": math.inf, "FLT_MAX": FLOAT_MAX,
    "M_PI": math.pi, **{f"{space}::{name}": kind for space in ("torch", "at", "c10") for name, kind in _KINDS.items()},
    **{f"{space}::ScalarType::{name}": kind for space in ("torch", "at", "c10") for name, kind in _SCALARS.items()},
}  # fmt: skip

#: Calls that do not affect the comparison: errors, streams, limits.
IGNORED = frozenset({
    "cudaGetLastError", "cudaPeekAtLastError", "cudaDeviceSynchronize", "cudaStreamSynchronize", "C10_CUDA_KERNEL_LAUNCH_CHECK", "C10_CUDA_CHECK",
    "AT_CUDA_CHECK", "cudaFuncSetAttribute", "cudaFuncSetCacheConfig", "cudaDeviceGetAttribute", "cudaGetErrorString", "printf", "fprintf",
    "at::cuda::getCurrentCUDAStream", "c10::cuda::getCurrentCUDAStream", "torch::cuda::synchronize", "at::cuda::CUDAGuard", "c10::cuda::CUDAGuard",
})  # fmt: skip

#: Types of values that do not affect the comparison.
_OPAQUE = frozenset("cudaError_t cudaStream_t at::cuda::CUDAStream c10::cuda::CUDAStream at::cuda::CUDAGuard c10::cuda::CUDAGuard".split())
_FLOATS = frozenset("float double half __half at::Half c10::Half at::BFloat16 c10::BFloat16 __nv_bfloat16".split())


def bare_kind(kind: str) -> str:
    """Returns a type without qualifiers, references and `std`."""
    words = re.sub(r"\b(?:const|__restrict__)\b|&", " ", re.sub(r"\bstd\s*::\s*", "", kind))
    return re.sub(r"\s*(::|[<>,*])\s*", r"\1", " ".join(words.split()))


def converted(kind: str, value: Any, scope: Optional[Mapping[str, Any]] = None) -> Any:
    """Returns a value converted to a type of C++."""
    bare = bare_kind(kind)
    if bare == "scalar_t" and scope is not None and "scalar_t" in scope:
        bare = {torch.float32: "float", torch.float64: "double", torch.bfloat16: "at::BFloat16"}.get(scope["scalar_t"], "half")
    if isinstance(value, Pointer):
        return _address_as(bare, value)
    if bare.endswith("*"):
        return value
    if bare == "dim3":
        return value if isinstance(value, Dim3) else _dim3(*(value if isinstance(value, list) else [value]))
    if isinstance(value, (int, float)):
        return _number_as(bare, value)
    if isinstance(value, list) and any(isinstance(one, (int, float)) for one in value):
        inner = re.fullmatch(r"(?:vector|initializer_list|c10::ArrayRef|at::ArrayRef)<(.*)>", bare)
        if inner is not None or bare in ("at::IntArrayRef", "c10::IntArrayRef", "torch::IntArrayRef"):
            return [converted(inner.group(1) if inner is not None else "int64_t", one) for one in value]
        if bare != "auto":
            raise Untraceable(f"a list of numbers as `{bare}` in a host function")
    return value


def _number_as(bare: str, value: Any) -> Any:
    if bare in INTEGERS:
        return integer(int(value) if isinstance(value, int) else math.trunc(_settled(value)), bare)
    if bare in _FLOATS:
        is_half = bare.lower().endswith("half")
        if abs(value) > (65504 if is_half else 3.5e38) and math.isfinite(value):
            raise Untraceable(f"{value} as `{bare}` of a host function")
        return computed(float(value), error_of(value), "half" if is_half else "bfloat16" if "bf" in bare.lower() else "float")
    if bare == "bool":
        return truth(value)
    if bare == "auto" or (bare in _OPAQUE and value == 0):
        return value
    raise Untraceable(f"a number as `{bare}` in a host function", "give the kernel and its launch to warpproof.verify")


def truth(value: Any) -> bool:
    """Returns the value of a condition."""
    if isinstance(value, Rounded) and abs(value) <= value.error and not TYPING.get():
        raise Untraceable(f"`{value}` as a condition in a host function depends on rounding")
    if isinstance(value, (int, float)):
        return bool(value)
    if isinstance(value, Pointer):
        return not_null(value)
    raise Untraceable(f"{type(value).__name__} as a condition in a host function")


def not_null(value: Pointer) -> bool:
    """Returns `True`: the address of elements is not 0."""
    if value.tensor.numel() == 0:
        raise Untraceable("the address of a tensor of no elements in a host function")
    return True


def _address_as(bare: str, value: Pointer) -> Any:
    if bare == "bool":
        return not_null(value)
    if bare != "auto" and not bare.endswith("*"):
        raise Untraceable(f"an address as `{bare}` in a host function")
    return value


def _dim3(*sizes: Any) -> Dim3:
    if not 1 <= len(sizes) <= 3:
        raise Untraceable(f"`dim3` of {len(sizes)} numbers in a host function")
    return Dim3(*(converted("unsigned", size) for size in sizes))


def _settled(value: float) -> float:
    """Returns a float about to become an integer. Refuses it if the rounding of `float` could change the integer."""
    if not math.isfinite(value) or (isinstance(value, Rounded) and abs(value - round(value)) <= value.error):
        raise Untraceable(f"the conversion of {value} to an integer in a host function depends on rounding")
    return value


def _options(values: Sequence[Any]) -> Options:
    """Returns the options among the arguments of an allocation."""
    made = Options()
    for value in values:
        if isinstance(value, Options):
            made = Options(value.dtype or made.dtype, value.device or made.device)
        elif isinstance(value, torch.dtype):
            made = Options(value, made.device)
        elif value in ("cuda", "cpu"):
            made = Options(made.dtype, value)
        else:
            raise Untraceable(f"`{value}` as an option of a tensor in a host function")
    return made


def _shape(value: Any) -> list[int]:
    return [int(value)] if isinstance(value, int) else [int(extent) for extent in value]


def _made(make: Callable[..., Any], values: Sequence[Any]) -> Any:
    chosen = _options(values[1:])
    return make(_shape(values[0]), dtype=chosen.dtype or torch.get_default_dtype(), device=chosen.device or "cpu")


def _full(values: Sequence[Any]) -> Any:
    chosen = _options(values[2:])
    # Without a type it is that of the number.
    return torch.full(_shape(values[0]), values[1], dtype=chosen.dtype, device=chosen.device or "cpu")


def _like(make: Callable[..., Any], values: Sequence[Any]) -> Any:
    if len(values) == 1:
        return make(values[0])
    chosen = _options(values[1:])
    return make(values[0], dtype=chosen.dtype or values[0].dtype, device=chosen.device or values[0].device)


def _device(values: Sequence[Any]) -> Any:
    if len(values) != 1:
        raise Untraceable("`Device` with a number in a host function")
    return values[0]


_FUNCTIONS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "empty": lambda v: _made(torch.empty, v), "zeros": lambda v: _made(torch.zeros, v), "ones": lambda v: _made(torch.ones, v), "full": _full,
    "empty_like": lambda v: _like(torch.empty_like, v), "zeros_like": lambda v: _like(torch.zeros_like, v),
    "ones_like": lambda v: _like(torch.ones_like, v), "TensorOptions": lambda v: _options(v), "Device": _device, "dtype": lambda v: Options(v[0]),
    "device": lambda v: Options(device=v[0]),
}  # fmt: skip
#: Functions with the same arguments in C++ and Python, in the same order.
_SAME = frozenset("matmul mm bmm addmm relu sigmoid tanh exp log sqrt add sub mul div cat stack sum mean softmax".split())
_SAME_METHODS = frozenset("""view reshape transpose t permute contiguous unsqueeze squeeze expand flatten clone zero_ fill_ select narrow
matmul mm bmm relu sigmoid tanh exp add sub mul div sum mean detach""".split())

_NUMBERS: dict[str, Callable[..., Any]] = {
    "ceil": lambda x: float(math.ceil(x)), "ceilf": lambda x: float(math.ceil(x)), "floor": lambda x: float(math.floor(x)),
    "sqrt": lambda x: math.sqrt(x), "sqrtf": lambda x: math.sqrt(x), "pow": lambda x, y: float(x) ** y,
    "exp": lambda x: math.exp(x), "log": lambda x: math.log(x), "log2": lambda x: math.log2(x),
}  # fmt: skip
#: Functions that are exact where rounding before them does not matter.
_SETTLED = frozenset(["ceil", "ceilf", "floor"])
#: Functions whose type is that of their arguments.
_TYPED: dict[str, tuple[int, Callable[..., Any]]] = {"min": (2, min), "max": (2, max), "abs": (1, abs)}
BUILTIN = frozenset([*_NUMBERS, *_TYPED, "dim3", "float", "double", *INTEGERS])


def call_function(name: str, template: str, values: Sequence[Any]) -> Any:
    """Calls a function of torch or of the standard library."""
    space, _, bare = name.rpartition("::")
    if space in ("torch", "at", "c10") and bare in _FUNCTIONS and not template:
        return _FUNCTIONS[bare](plain(list(values)))
    if space in ("torch", "at") and bare in _SAME and not template:
        return getattr(torch, bare)(*plain(list(values)))
    if space in ("", "std") and all(isinstance(value, (int, float)) for value in values):
        if bare in _TYPED:
            return _typed(bare, template, values)
        if not template and bare == "dim3":
            return _dim3(*values)
        if not template and len(values) == 1 and (bare in INTEGERS or bare in ("float", "double")):
            return converted(bare, values[0])
        if not template and bare in _NUMBERS:
            return _of_floats(bare, values)
    raise Untraceable(f"`{name}` in a host function is not read", "give the kernel and its launch to warpproof.verify")


def _of_floats(name: str, values: Sequence[Any]) -> Any:
    if TYPING.get():
        return 1.0
    if name in _SETTLED and len(values) == 1:
        _settled(computed(float(values[0]), error_of(values[0])))
    try:
        result = _NUMBERS[name](*(float(value) for value in values))
    except (ArithmeticError, ValueError, TypeError):
        result = None
    if not isinstance(result, float) or not math.isfinite(result):
        raise Untraceable(f"`{name}` of {', '.join(str(value) for value in values)} in a host function")
    return computed(result, 0.0 if name in _SETTLED else _carried(name, values, result))


def _carried(name: str, values: Sequence[Any], result: float) -> float:
    """Returns the error of a function from the errors of its operands, and that of the library: it is monotone."""
    ends = [(float(value) - error_of(value), float(value) + error_of(value)) for value in values]
    try:
        found = [_NUMBERS[name](*point) for point in itertools.product(*ends)] if any(map(error_of, values)) else []
        error = max((abs(one - result) for one in found), default=0.0)
    except (ArithmeticError, ValueError, TypeError):
        error = math.inf
    if not math.isfinite(error):
        raise Untraceable(f"`{name}` of {', '.join(str(value) for value in values)} in a host function depends on rounding")
    return error * 1.01 + (0.0 if result == round(result) and not found else abs(result) * 2.0**-20)


def _typed(name: str, template: str, values: Sequence[Any]) -> Any:
    """Computes a smallest, a largest or an absolute value in the type of the arguments."""
    count, compute = _TYPED[name]
    if template:
        values = [converted(template, value) for value in values]
    if len(values) != count or len({isinstance(value, float) for value in values}) != 1:
        raise Untraceable(f"`{name}` of these arguments in a host function")
    if isinstance(values[0], float):
        return computed(float(compute(*values)), max(map(error_of, values)))
    kind = common(*values)
    return integer(compute(*(int(integer(int(value), kind)) for value in values)), kind)


def call_method(value: Any, name: str, kind: Any, values: Sequence[Any]) -> Any:
    """Calls a method of a tensor, of options or of a list."""
    if name.endswith("_") and TYPING.get():
        raise Untraceable(f"`.{name}()` in a condition of a host function")
    if isinstance(value, torch.Tensor):
        return _tensor_method(value, name, kind, values)
    if isinstance(value, Options) and name in ("dtype", "device") and len(values) == 1:
        return _options([value, values[0]])
    if isinstance(value, Options) and name in ("layout", "requires_grad", "memory_format"):
        return value
    if isinstance(value, (list, tuple)) and name in ("size", "vec"):
        return integer(len(value), "size_t") if name == "size" else value
    if isinstance(value, str) and name == "is_cuda":
        return value == "cuda"
    raise Untraceable(f"`.{name}()` in a host function is not read", "give the kernel and its launch to warpproof.verify")


def _tensor_method(tensor: Any, name: str, kind: Any, values: Sequence[Any]) -> Any:
    told: dict[str, Callable[[], Any]] = {
        "numel": tensor.numel, "dim": tensor.dim, "ndimension": tensor.dim, "sizes": lambda: [int(n) for n in tensor.shape],
        "strides": lambda: [int(n) for n in tensor.stride()], "element_size": tensor.element_size, "is_contiguous": tensor.is_contiguous,
        "is_cuda": lambda: tensor.is_cuda, "device": lambda: tensor.device.type, "dtype": lambda: tensor.dtype, "scalar_type": lambda: tensor.dtype,
        "type": lambda: tensor.dtype, "options": lambda: Options(tensor.dtype, tensor.device.type), "defined": lambda: True,
        "get_device": lambda: 0,
    }  # fmt: skip
    if name in told and not values:
        return told[name]()
    if name in ("size", "stride"):
        if TYPING.get():
            return 1
        if len(values) != 1 or not isinstance(values[0], int) or not -tensor.dim() <= values[0] < tensor.dim():
            raise Untraceable(f"`.{name}()` of a tensor of {tensor.dim()} dimensions in a host function")
        return int(getattr(tensor, name)(int(values[0])))
    if name in ("data_ptr", "data", "const_data_ptr", "mutable_data_ptr"):
        if kind is not None and kind != tensor.dtype:
            raise Untraceable(f"the address of elements of type {kind} of a tensor of {tensor.dtype}")
        return Pointer(tensor)
    if name in ("to", "cuda"):
        return _moved(tensor, values or ["cuda"])
    if name in _SAME_METHODS:
        return getattr(tensor, name)(*plain(list(values)))
    raise Untraceable(f"`.{name}()` of a tensor in a host function is not read", "give the kernel and its launch to warpproof.verify")


def _moved(tensor: Any, values: Sequence[Any]) -> Any:
    chosen = Options(tensor.dtype, tensor.device.type)
    for value in values:
        chosen = _options([chosen, value])
    if (chosen.dtype, chosen.device) == (tensor.dtype, tensor.device.type):
        return tensor
    # torch's own method asks the driver, which is absent.
    return torch.ops.aten._to_copy.default(tensor, device=torch.device(chosen.device or tensor.device.type), dtype=chosen.dtype)
