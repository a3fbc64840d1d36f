"""Kernels of Triton 3.9 that load and store through tensor descriptors, compiled for sm_90 without a GPU.

    pip install triton==3.9.0; TRITON_DISABLE_LINE_INFO=1 python3 kernels.py

writes triton_NAME.ptx beside itself. Each kernel has 128 threads and 4104 bytes of dynamic shared memory.
"""

import pathlib

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale(x, out, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    out.store([row, column], x.load([row, column]) * 2.0)


@triton.jit
def softmax(x, out, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M
    tile = x.load([row, 0])
    powers = tl.exp(tile - tl.max(tile, 1)[:, None])
    out.store([row, 0], powers / tl.sum(powers, 1)[:, None])


@triton.jit
def row_sums(x, out, n, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M
    total = tl.zeros([M], tl.float32)
    for column in range(0, n, N):
        total += tl.sum(x.load([row, column]), 1)
    tl.store(out + row + tl.arange(0, M), total)


@triton.jit
def device_scale(x, out, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    target = tl.make_tensor_descriptor(out, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    target.store([row, column], source.load([row, column]) * 2.0)


TILE = "tensordesc<fp32[32, 32]>"
KERNELS = [
    (scale, {"x": TILE, "out": TILE}),
    (softmax, {"x": TILE, "out": TILE}),
    (row_sums, {"x": TILE, "out": "*fp32", "n": "i32"}),
    (device_scale, {"x": "*fp32", "out": "*fp32", "m": "i32", "n": "i32"}),
]
# Pointers and rows of device_scale are aligned.
ALIGNED = {(position,): [["tt.divisibility", 16]] for position in (0, 1, 3)}

texts = []
for function, signature in KERNELS:
    source = ASTSource(
        fn=function,
        signature=signature | {"M": "constexpr", "N": "constexpr"},
        constexprs={"M": 32, "N": 32},
        attrs=ALIGNED if function is device_scale else {},
    )
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
    assert compiled.metadata.shared == 4104
    texts.append(compiled.asm["ptx"])
for (function, _), text in zip(KERNELS, texts):
    pathlib.Path(__file__).with_name(f"triton_{function.__name__}.ptx").write_text(text)
