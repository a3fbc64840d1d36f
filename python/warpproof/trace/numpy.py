"""NumPy functions as formulas: a symbolic array that follows NumPy's protocols.

The function runs once on `SymbolicArray`s. Operators and ufuncs come in through `__array_ufunc__`, the rest of NumPy
through `__array_function__` (see `numpy_functions`). Element types are those that NumPy gives to arrays of ones.
Assignment replaces the array by a formula with a condition; views see later assignments, as in NumPy.

Uses that need contents (`if x[0] > 0`, `float(x)`, `np.asarray(x)`, masks as indices) raise a `TypeError` with a way
to write them instead. A function that assigns into its own arguments is refused.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import constants, tensor as ops
from .errors import Untraceable
from .formula import Builder, Tensor
from .traced import Traced
from .ufuncs import UFUNCS

DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "s64": np.int64, "s32": np.int32, "s16": np.int16,
    "s8": np.int8, "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8, "bool": np.bool_,
    "b1": np.bool_,
}  # fmt: skip
NAMES = {np.dtype(d): name for name, d in DTYPES.items() if name != "b1"}

_CONTENTS = "its contents are not known while it is traced"


def dtype_name(dtype: Any) -> str:
    """Returns the name of an element type, such as "f32"."""
    if np.dtype(dtype) not in NAMES:
        raise Untraceable(f"elements of type {np.dtype(dtype)}")
    return NAMES[np.dtype(dtype)]


def here() -> Optional[str]:
    """Returns `file:line` of the innermost frame of the user's code."""
    frame = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.split(".")[0] != "numpy" and not module.startswith("warpproof.trace"):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return None


def refuse(reason: str, help: str = "", operation: Optional[str] = None) -> Untraceable:
    """Returns the error to raise, with the user's line."""
    return Untraceable(reason, help, operation=operation, line=here())


class SymbolicArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array whose elements are expressions."""

    __array_priority__ = 1000

    def __init__(self, b: Builder, tensor: Tensor, dtype: Any):
        self._b, self._own, self.dtype = b, tensor, np.dtype(dtype)
        self._base: Optional[SymbolicArray] = None
        self._derive: Optional[Callable[[Tensor], Tensor]] = None
        self._key: Any = None
        self._snapshot: Optional[Tensor] = None
        self.changed = False

    # -- views and assignment

    @property
    def tensor(self) -> Tensor:
        """The current elements."""
        if self._base is None:
            return self._own
        current = self._base.tensor
        if self._derive is None:
            if current is not self._snapshot:
                raise refuse(
                    "the array changed after it was reshaped: NumPy may or may not have copied it", "use .copy()"
                )
        elif current is not self._snapshot:
            self._own, self._snapshot = self._derive(current), current
        return self._own

    def view_of(self, derive: Callable[[Tensor], Tensor], key: Any = None) -> "SymbolicArray":
        """Returns a view: later assignments to this array are seen through it."""
        made = SymbolicArray(self._b, derive(self.tensor), self.dtype)
        made._base, made._derive, made._key, made._snapshot = self, derive, key, self.tensor
        return made

    def reshaped(self, shape: Sequence[int]) -> "SymbolicArray":
        """Returns the array in another shape, which NumPy may or may not copy."""
        made = SymbolicArray(self._b, ops.reshape(self.tensor, shape), self.dtype)
        made._base, made._snapshot = self, self.tensor
        return made

    def replace(self, tensor: Tensor) -> None:
        """Assigns all elements. Through a view, assigns those of its base."""
        if self._base is None:
            self._own, self.changed = tensor, True
        elif self._key is not None:
            self._base[self._key] = SymbolicArray(self._b, tensor, self.dtype)
        else:
            raise refuse("assignment through a reshaped or transposed view", "assign to the array itself")

    # -- known attributes

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.tensor.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=int))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"SymbolicArray(shape={self.shape}, dtype={self.dtype})"

    # -- contents, which are unknown

    def __bool__(self) -> bool:
        raise refuse("a condition on contents: " + _CONTENTS, "write np.where(condition, a, b)")

    def __float__(self) -> float:
        raise refuse(
            "a Python number of an element: " + _CONTENTS,
            "use functions of NumPy, not of math, and np.zeros_like(x) for results",
        )

    __int__ = __index__ = __complex__ = __float__

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise refuse(
            "a plain array of a symbolic one: " + _CONTENTS,
            "leave np.asarray out; for an array to assign into write np.zeros_like(x)",
        )

    def tolist(self) -> Any:
        """Refused: contents are unknown."""
        raise refuse("a list of elements: " + _CONTENTS)

    item = tolist
    __hash__ = None  # type: ignore[assignment]

    # -- indexing

    def __getitem__(self, key: Any) -> "SymbolicArray":
        from .numpy_index import getitem

        return getitem(self, key)

    def __setitem__(self, key: Any, new: Any) -> None:
        from .numpy_index import setitem

        setitem(self, key, new)

    # -- NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        self._b.line = here()
        out = options.pop("out", None)
        try:
            result = _ufunc(self._b, ufunc, method, inputs, options)
        except Untraceable as error:
            raise error.at(f"np.{ufunc.__name__}", here()) from error
        if out is None:
            return result
        target = out[0]
        if not isinstance(target, SymbolicArray):
            raise refuse("a result into a plain array", "make it with np.zeros_like(x)", f"np.{ufunc.__name__}")
        if target.shape != result.shape:
            raise ValueError(f"shape {result.shape} into {target.shape}")
        if not np.can_cast(result.dtype, target.dtype, "same_kind"):
            raise TypeError(f"cannot cast {result.dtype} to {target.dtype} in place")
        target.replace(ops.cast(self._b, result.tensor, dtype_name(target.dtype)))
        return target

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        from . import numpy_more  # registers its functions
        from .numpy_functions import FUNCTIONS

        assert numpy_more
        self._b.line = here()
        name = f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
        if function not in FUNCTIONS:
            raise refuse("this function of NumPy is not traced", "", name)
        try:
            return FUNCTIONS[function](*arguments, **options)
        except Untraceable as error:
            raise error.at(name, here()) from error

    def __getattr__(self, name: str) -> Any:
        from . import numpy_more  # registers its methods
        from .numpy_functions import METHODS

        assert numpy_more
        if name in METHODS:
            self._b.line = here()
            return lambda *arguments, **options: METHODS[name](self, *arguments, **options)
        raise AttributeError(f"a symbolic array has no `{name}`")

    @property
    def T(self) -> "SymbolicArray":
        """The transposed view."""
        return self.view_of(lambda t: ops.permute(t, list(range(len(t.shape)))[::-1]))

    mT = property(lambda self: self.swapaxes(-1, -2))


def lift(b: Builder, given: Any, like: Optional[Any] = None) -> SymbolicArray:
    """Returns anything array-like as a symbolic array; lists may have symbolic elements."""
    if isinstance(given, SymbolicArray):
        return given
    if isinstance(given, (list, tuple)) and _has_symbols(given):
        from .numpy_more import stack

        return stack(list(given))
    array = np.asarray(given)
    dtype = dtype_name(array.dtype)

    def declare(contents: Any, kind: str) -> Tensor:
        made = b.input("constant", kind, contents.shape)
        b.contents[b.inputs[-1][0]] = contents
        return made

    if isinstance(given, (bool, int, float)):
        return SymbolicArray(b, ops.scalar(given, dtype), array.dtype)
    return SymbolicArray(b, constants.known(b, array, dtype, declare), array.dtype)


def _has_symbols(given: Any) -> bool:
    if isinstance(given, (list, tuple)):
        return any(_has_symbols(g) for g in given)
    return isinstance(given, SymbolicArray)


def _ones(given: Any) -> Any:
    if isinstance(given, SymbolicArray):
        return np.ones((1,) * given.ndim, given.dtype)
    return given if isinstance(given, (bool, int, float)) else np.ones((1,) * np.ndim(given), np.asarray(given).dtype)


def result_type(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Returns the element type that NumPy gives to the result."""
    with np.errstate(all="ignore"):
        return np.asarray(function(*(_ones(i) for i in inputs))).dtype


def _ufunc(b: Builder, ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    from . import numpy_functions as functions, numpy_more

    if options.pop("where", True) is not True:
        raise Untraceable("`where=`", "use np.where")
    if method == "reduce" and ufunc in functions.REDUCERS:
        axis = options.pop("axis", 0)
        return functions.REDUCERS[ufunc](inputs[0], axis=axis, **options)
    if method == "accumulate" and ufunc in functions.SCANS:
        return functions.SCANS[ufunc](inputs[0], axis=options.pop("axis", 0))
    if method == "outer" and len(inputs) == 2:
        one, two = (lift(b, i) for i in inputs)
        wide = one.reshaped([*one.shape, *[1] * two.ndim])
        return _ufunc(b, ufunc, "__call__", [wide, two], options)
    if method != "__call__":
        raise Untraceable(f"`{ufunc.__name__}.{method}`")
    dtype = options.pop("dtype", None) or result_type(ufunc, inputs) if ufunc.signature is None else None
    for harmless in ("casting", "order", "subok"):
        options.pop(harmless, None)
    if options:
        raise Untraceable(f"`{next(iter(options))}=`")
    arrays = [lift(b, i) for i in inputs]
    if ufunc.__name__ in ("matmul", "vecdot", "matvec", "vecmat"):
        return numpy_more.product(ufunc.__name__, *arrays)
    if ufunc.__name__ not in UFUNCS:
        raise Untraceable("this function of NumPy is not traced")
    function, name = UFUNCS[ufunc.__name__], ufunc.__name__
    made = ops.elementwise(b, dtype_name(dtype), function, *(a.tensor for a in arrays), name=name)
    return SymbolicArray(b, made, dtype)


def trace(
    function: Callable[..., Any],
    *specs: Any,
    names: Optional[Sequence[str]] = None,
    outputs: Optional[Sequence[str]] = None,
    avoid: Sequence[str] = (),
) -> Traced:
    """Traces a function of NumPy arrays of given shapes and types."""
    b = Builder()
    for name in outputs or []:
        b.reserve(name)
    given = list(names or _argument_names(function, len(specs)))
    b.avoid(name for name in avoid if name not in {*given, *(outputs or [])})
    arguments = [_argument(b, spec, name) for spec, name in zip(specs, given)]
    result = _run(function, arguments)
    for name, argument in zip(given, arguments):
        if isinstance(argument, SymbolicArray) and argument.changed:
            raise Untraceable(f"the function assigns into its argument `{name}`", "copy it first")
    _outputs(b, result, outputs)
    return b.traced({})


def _run(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Calls the function. An error of ours that NumPy wrapped is unwrapped."""
    try:
        return function(*arguments)
    except Exception as error:
        cause = error.__cause__
        while cause is not None and not isinstance(cause, Untraceable):
            cause = cause.__cause__
        if cause is not None and not isinstance(error, Untraceable):
            raise cause from None
        raise


def _argument_names(function: Callable[..., Any], count: int) -> list[str]:
    try:
        known = [
            p.name
            for p in inspect.signature(function).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        known = []
    return known[:count] + ["x" if count == 1 else f"x{n}" for n in range(len(known[:count]), count)]


def _argument(b: Builder, spec: Any, name: str) -> Any:
    if not hasattr(spec, "shape") or not hasattr(spec, "dtype"):
        return spec
    dtype = (
        str(spec.dtype)
        if str(spec.dtype) in DTYPES
        else dtype_name(spec.dtype)
        if not str(spec.dtype) in ("bf16", "tf32")
        else str(spec.dtype)
    )
    return SymbolicArray(b, b.input(name, dtype, tuple(spec.shape)), DTYPES.get(dtype, np.float32))


def _outputs(b: Builder, result: Any, names: Optional[Sequence[str]]) -> None:
    if isinstance(result, dict):
        names, result = names or list(result), list(result.values())
    many = list(result) if isinstance(result, (list, tuple)) else [result]
    chosen = list(names or (["y"] if len(many) == 1 else [f"y{n}" for n in range(len(many))]))
    if len(chosen) != len(many):
        raise Untraceable(f"the function returns {len(many)} arrays, {len(chosen)} names are given")
    b.line = None
    for name, one in zip(chosen, many):
        if one is None:
            raise Untraceable("the function returns nothing", "return the result")
        array = lift(b, one)
        b.output(name, array.tensor)
