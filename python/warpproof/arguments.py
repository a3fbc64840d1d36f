"""Arguments of kernels: tensors and numbers, in the command line's notation (``x=f32[4,512]:out``)."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Mapping, Sequence, overload

from warpproof.errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

#: Element types by their names in PTX.
DTYPES = (
    "f64", "f32", "tf32", "f16", "bf16", "f8e4m3", "f8e5m2",
    "s64", "s32", "s16", "s8", "u64", "u32", "u16", "u8", "b1",
)  # fmt: skip

#: Their names in NumPy, torch, jax and Triton.
_SPELLINGS = {
    "float64": "f64", "double": "f64", "float32": "f32", "float": "f32", "float16": "f16", "half": "f16",
    "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
    "int64": "s64", "int32": "s32", "int16": "s16", "int8": "s8", "i64": "s64", "i32": "s32", "i16": "s16", "i8": "s8",
    "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "b1", "bool_": "b1",
}  # fmt: skip

#: Anything that may be given for a parameter of a kernel.
Argument: TypeAlias = Any


def dtype_name(dtype: Any) -> str:
    """Returns the name of an element type: ``torch.float32``, ``np.dtype('f4')`` and ``"float32"`` are ``f32``."""
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    bare = str(name).rsplit(".", 1)[-1]
    known = _SPELLINGS.get(bare, bare)
    if known not in DTYPES:
        raise UsageError(f"`{dtype}` is not an element type; there are {', '.join(DTYPES)}")
    return known


@dataclass(frozen=True)
class Tensor:
    """A tensor: element type, shape, and other facts. Its contents may be anything unless they are given."""

    dtype: str
    shape: tuple[int, ...]
    direction: str = "in"
    #: In elements. Row-major if there are none.
    strides: tuple[int, ...] | None = None
    #: An array, or a number that all elements equal.
    contents: Any = None
    #: Options after the direction on the command line: ``0..100``, ``distinct``, ``lower``.
    facts: tuple[str, ...] = ()

    def within(self, low: int, high: int) -> Tensor:
        """Returns the same tensor of integers from ``low`` up to, but not including, ``high``."""
        return replace(self, facts=(*self.facts, f"{low}..{high}"))

    def distinct(self) -> Tensor:
        """Returns the same tensor with no two equal elements."""
        return replace(self, facts=(*self.facts, "distinct"))

    def lower(self) -> Tensor:
        """Returns the same matrix with zeros above the diagonal."""
        return replace(self, facts=(*self.facts, "lower"))

    def upper(self) -> Tensor:
        """Returns the same matrix with zeros below the diagonal."""
        return replace(self, facts=(*self.facts, "upper"))

    def symmetric(self) -> Tensor:
        """Returns the same matrix with equal elements on both sides of the diagonal."""
        return replace(self, facts=(*self.facts, "symmetric"))

    def text(self, name: str, files: Files) -> str:
        """Returns the value of ``--arg``, after the name."""
        text = f"{self.dtype}[{','.join(map(str, self.shape))}]"
        if self.strides is not None:
            text += f"@[{','.join(map(str, self.strides))}]"
        if self.direction != "in":
            text += f":{self.direction}"
        text += "".join(f":{fact}" for fact in self.facts)
        if self.contents is None:
            return text
        if isinstance(self.contents, numbers.Real):
            return f"{text}={_number(self.contents)}"
        return f"{text}=@{files.add(name, self.dtype, self.contents)}"


@dataclass(frozen=True)
class Scalar:
    """A number of a stated type. Any finite one if no value is given."""

    dtype: str
    value: float | int | None = None

    def text(self, name: str, files: Files) -> str:
        """Returns the value of ``--arg``, after the name."""
        return self.dtype if self.value is None else f"{self.dtype}={_number(self.value)}"


class Files:
    """Arrays passed to the command line as files, in a temporary folder that is deleted with this object."""

    def __init__(self) -> None:
        self._folder: Any = None

    def add(self, name: str, dtype: str, array: Any) -> str:
        """Writes an array and returns the path of its file."""
        import tempfile
        from pathlib import Path

        import numpy as np

        from warpproof import _arrays

        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="warpproof-")
        path = Path(self._folder.name) / f"{name}.npy"
        np.save(path, _arrays.encoded(np.asarray(array), dtype))
        return str(path)

    def has_any(self) -> bool:
        """Returns `True` if there is such a file."""
        return self._folder is not None

    def without_paths(self, text: str) -> str:
        """Returns a text with the names of files in place of their paths."""
        return text if self._folder is None else text.replace(f"{self._folder.name}/", "")

    def __enter__(self) -> Files:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def _number(value: Any) -> str:
    if isinstance(value, numbers.Integral):
        return str(int(value))
    return repr(float(value))


def _of(dtype: str, shape: tuple[int, ...], strides: Sequence[int] | None) -> Tensor:
    return Tensor(dtype, tuple(map(int, shape)), strides=None if strides is None else tuple(map(int, strides)))


def tensor(dtype: Any, *shape: int, strides: Sequence[int] | None = None) -> Tensor:
    """Returns a tensor of an element type, possibly one of NumPy or torch."""
    return _of(dtype_name(dtype), shape, strides)


def scalar(dtype: Any, value: float | int | None = None) -> Scalar:
    """Returns a number of a stated type: any finite one if no value is given."""
    return Scalar(dtype_name(dtype), value)


def _like(first: tuple[Any, ...], dtype: Any) -> tuple[str, tuple[int, ...], tuple[int, ...] | None]:
    """Returns element type, shape and strides, of an array or of sizes."""
    if len(first) == 1 and hasattr(first[0], "shape"):
        one = as_tensor(first[0])
        return (one.dtype if dtype is None else dtype_name(dtype)), one.shape, one.strides
    return dtype_name("f32" if dtype is None else dtype), tuple(map(int, first)), None


def out(*shape: Any, dtype: Any = None, initial: Any = None) -> Tensor:
    """Returns an output: undefined at first, or with the contents of ``initial``.

    An array instead of sizes gives its shape.
    """
    name, sizes, strides = _like(shape, dtype)
    return Tensor(name, sizes, "out", strides, initial)


def inout(*shape: Any, dtype: Any = None, initial: Any = None) -> Tensor:
    """Returns a tensor that the kernel reads and writes."""
    name, sizes, strides = _like(shape, dtype)
    return Tensor(name, sizes, "inout", strides, initial)


def scratch(*shape: Any, dtype: Any = None) -> Tensor:
    """Returns a workspace: undefined at first, read and written, not a result."""
    name, sizes, strides = _like(shape, dtype)
    return Tensor(name, sizes, "scratch", strides)


def known(array: Any, dtype: Any = None) -> Tensor:
    """Returns a tensor with the contents of an array. Without this, only its shape and element type count."""
    import numpy as np

    if hasattr(array, "detach"):
        array = array.detach().cpu().numpy()
    array = np.asarray(array)
    name = dtype_name(array.dtype if dtype is None else dtype)
    return Tensor(name, tuple(map(int, array.shape)), contents=array)


def as_tensor(array: Any) -> Tensor:
    """Returns a tensor with the shape, element type and strides of an array of NumPy, torch or jax."""
    shape = tuple(map(int, array.shape))
    strides = _strides(array)
    usual = _row_major(shape)
    same = strides is None or all(a == b or n == 1 for a, b, n in zip(strides, usual, shape))
    return Tensor(dtype_name(array.dtype), shape, strides=None if same else strides)


def _strides(array: Any) -> tuple[int, ...] | None:
    if callable(getattr(array, "stride", None)):
        return tuple(map(int, array.stride()))
    strides = getattr(array, "strides", None)
    if strides is None:
        return None
    if any(step < 0 or step % array.itemsize for step in strides):
        raise UsageError("an array with negative strides, or strides that are not whole elements, cannot be a kernel's tensor; copy it first")
    return tuple(int(step) // int(array.itemsize) for step in strides)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= size
    return tuple(reversed(steps))


def text(name: str, value: Argument, files: Files) -> str:
    """Returns an argument in the command line's notation: ``x=f32[4,512]``."""
    if isinstance(value, str):
        # The command line's notation, with or without the name.
        return value if value.startswith(f"{name}=") else f"{name}={value}"
    if isinstance(value, (Tensor, Scalar)):
        return f"{name}={value.text(name, files)}"
    if isinstance(value, numbers.Real):
        return f"{name}={_number(value)}"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        if tuple(value.shape) == () and hasattr(value, "item"):
            return f"{name}={_number(value.item())}"
        return f"{name}={as_tensor(value).text(name, files)}"
    raise UsageError(
        f"`{name}` is {type(value).__name__}; an argument is a tensor (`wp.f32(4, 256)`, `wp.out(4, 256)`, an array), "
        "a number, or a text as on the command line (`'f32[4,256]:out'`)"
    )


def texts(arguments: Mapping[str, Argument], files: Files) -> list[str]:
    """Returns all arguments in the command line's notation, in their order."""
    return [text(name, value, files) for name, value in arguments.items()]


class ElementType:
    """An element type. With sizes it makes a tensor with any contents, without sizes any finite number."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name

    @overload
    def __call__(self) -> Scalar: ...
    @overload
    def __call__(self, size: int, /, *sizes: int, strides: Sequence[int] | None = None) -> Tensor: ...

    def __call__(self, *shape: int, strides: Sequence[int] | None = None) -> Tensor | Scalar:
        return _of(self.__name__, shape, strides) if shape else Scalar(self.__name__)

    def __repr__(self) -> str:
        return f"warpproof.{self.__name__}"


f64, f32, tf32, f16, bf16 = map(ElementType, ("f64", "f32", "tf32", "f16", "bf16"))
f8e4m3, f8e5m2 = map(ElementType, ("f8e4m3", "f8e5m2"))
s64, s32, s16, s8 = map(ElementType, ("s64", "s32", "s16", "s8"))
u64, u32, u16, u8 = map(ElementType, ("u64", "u32", "u16", "u8"))
b1 = ElementType("b1")
