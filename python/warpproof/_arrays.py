"""Arrays of element types that NumPy lacks (bf16, fp8): to and from the encoding of Warpproof's ``.npy`` files.

Imported only where arrays are needed, because it imports NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpproof.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Element types that NumPy has (tf32 as float32), with NumPy's codes.
NUMPY = {
    "f64": "f8", "f32": "f4", "tf32": "f4", "f16": "f2", "s64": "i8", "s32": "i4", "s16": "i2", "s8": "i1",
    "u64": "u8", "u32": "u4", "u16": "u2", "u8": "u1", "b1": "?",
}  # fmt: skip


def encoded(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Returns an array in the encoding of ``.npy`` files for this element type. Numbers are rounded to nearest."""
    if dtype in NUMPY:
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(array).astype(NUMPY[dtype])
    if array.dtype.kind == "V" and array.dtype.itemsize <= 2:
        return array
    if dtype == "bf16":
        bits = np.ascontiguousarray(array).astype("f4").view("u4")
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        quiet = (bits >> 16) | 0x40
        return np.where(np.isnan(bits.view("f4")), quiet, rounded).astype("u2").view("V2")
    raise UsageError(f"an array of {array.dtype} cannot be converted to {dtype}; give raw bytes (dtype V1)")


def decoded(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Returns the numbers of an array from an ``.npy`` file: bf16 becomes float32, fp8 stays raw bytes."""
    if dtype == "bf16" and array.dtype.kind in "Vu":
        return (array.view("u2").astype("u4") << 16).view("f4")
    return array
