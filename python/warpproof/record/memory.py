"""Memory of a recorded run: the storage of each tensor, its contents, and formulas for them.

Every storage has a name, and the shape and strides of the tensor it was made for. Tensors that are views of it become
index maps. Operations between launches are kept as formulas. They are settled before a launch, so that a later launch
that overwrites an operand does not change earlier results.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Optional, Sequence

from ..trace import tensor as ops
from ..trace.errors import Untraceable
from ..trace.formula import Builder, Tensor
from ..trace.index import Ix, number
from ..trace.torch import dtype_name

UNDEFINED, FILLED, DEFINED, INPUT = "undefined", "filled", "defined", "input"


@dataclass(eq=False)
class Storage:
    """An allocation. `state` describes its contents before the next step."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    state: str
    fill: Any = None
    keep: Any = field(
        default=None, repr=False
    )  # keeps the allocation alive, so that no other gets its address
    path: Optional[str] = None  # of a parameter or buffer in its module

    def is_whole(self, tensor: Any) -> bool:
        """Returns `True` if a tensor has exactly the layout and the element type of this storage."""
        same = tuple(tensor.shape) == self.shape and tensor.storage_offset() == self.offset
        same = same and dtype_name(tensor.dtype) == self.dtype
        return same and (tuple(tensor.stride()) == self.strides or tensor.numel() <= 1)

    def view(self, whole: Tensor, tensor: Any) -> Tensor:
        """Returns the elements of a tensor in this storage."""
        if dtype_name(tensor.dtype) != self.dtype:
            raise Untraceable("a view of memory as another type")
        if self.is_whole(tensor):
            return whole
        order = sorted(range(len(self.shape)), key=lambda a: (-self.strides[a], -self.shape[a]))
        expected = 1
        for axis in reversed(order):
            if self.shape[axis] != 1 and self.strides[axis] != expected:
                raise Untraceable("a view of a tensor with gaps")
            expected *= self.shape[axis]
        dense = ops.reshape(ops.permute(whole, order), [expected])
        start, strides = tensor.storage_offset() - self.offset, tuple(tensor.stride())
        last = start + sum(stride * (extent - 1) for stride, extent in zip(strides, tensor.shape))
        if tensor.numel() and not 0 <= start <= last < expected:
            raise Untraceable("a view that reaches beyond its memory")

        def back(at: Sequence[Ix]) -> list[Ix]:
            flat = number(start)
            for ix, stride in zip(at, strides):
                flat = flat + ix * stride
            return [flat]

        return ops.view(dense, tuple(tensor.shape), back)


class Segment:
    """Operations between two launches: one formula."""

    def __init__(self, reserved: Sequence[str]) -> None:
        self.b = Builder()
        for name in reserved:
            self.b.reserve(name)
        self.values: dict[Storage, Tensor] = {}
        self.inputs: dict[str, Storage] = {}
        self.outputs: dict[str, tuple[Storage, Tensor]] = {}

    def whole(self, storage: Storage) -> Tensor:
        """Returns the contents of a storage at this point."""
        if storage in self.values:
            return self.values[storage]
        if storage.state == UNDEFINED:
            raise Untraceable(f"`{storage.name}` is read before anything is written to it")
        if storage.state == FILLED:
            self.values[storage] = ops.full(storage.shape, storage.fill, storage.dtype)
        else:
            self.values[storage] = self.b.input(storage.name, storage.dtype, storage.shape, named=True)
            self.inputs[storage.name] = storage
        return self.values[storage]

    def define(self, storage: Storage, tensor: Tensor) -> None:
        """Gives a storage new contents."""
        self.values[storage] = tensor
        self.outputs[storage.name] = (storage, tensor)
        storage.state = DEFINED

    def text(self, needed: set[str]) -> tuple[str, list[str], list[Storage]]:
        """Writes the formula of the needed outputs, and returns it with its inputs and outputs."""
        made = []
        for name, (storage, tensor) in self.outputs.items():
            if name in needed:
                self.b.output(name, tensor)
                made.append(storage)
        traced = self.b.traced({})
        used = [name for name in self.inputs if re.search(rf"\b{name}\b", traced.formula)]
        return traced.formula, used, made
