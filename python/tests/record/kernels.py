"""Triton kernels and host functions of our own for the problems verified by `table.py`.

`BROKEN` in a call makes the twin with one mistake: a wrong operator, bound or index.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _activation(x, OP: tl.constexpr, A: tl.constexpr, C: tl.constexpr):
    if OP == "relu":
        r = tl.maximum(x, 0.0)
    elif OP == "leaky":
        r = tl.where(x > 0, x, x * A)
    elif OP == "sigmoid":
        r = 1.0 / (1.0 + tl.exp(-x))
    elif OP == "tanh":
        e = tl.exp(2.0 * x)
        r = (e - 1.0) / (e + 1.0)
    elif OP == "swish":
        r = x / (1.0 + tl.exp(-x))
    elif OP == "gelu":
        r = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    elif OP == "gelu_tanh":
        u = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        e = tl.exp(2.0 * u)
        r = 0.5 * x * (1.0 + (e - 1.0) / (e + 1.0))
    elif OP == "selu":
        r = 1.0507009873554805 * tl.where(x > 0, x, 1.6732632423543772 * (tl.exp(x) - 1.0))
    elif OP == "elu":
        r = tl.where(x > 0, x, A * (tl.exp(x) - 1.0))
    elif OP == "hardsigmoid":
        r = tl.minimum(tl.maximum(x + 3.0, 0.0), 6.0) / 6.0
    elif OP == "softplus":
        r = tl.where(x > 20.0, x, tl.log(1.0 + tl.exp(x)))
    elif OP == "softsign":
        r = x / (1.0 + tl.abs(x))
    elif OP == "hardtanh":
        r = tl.minimum(tl.maximum(x, A), C)
    elif OP == "scale":
        r = x * A
    elif OP == "sub_mul_relu":
        r = tl.maximum((x - A) * C, 0.0)
    elif OP == "mul_leaky":
        r = tl.where(x * A > 0, x * A, x * A * C)
    elif OP == "scale_residual":
        r = x * A + x
    elif OP == "swish_scale":
        r = x / (1.0 + tl.exp(-x)) * A
    elif OP == "relu_div":
        r = tl.maximum(x, 0.0) / A
    elif OP == "div_gelu":
        u = x / A
        r = 0.5 * u * (1.0 + tl.erf(u * 0.7071067811865476))
    elif OP == "sigmoid_residual":
        r = A / (1.0 + tl.exp(-x)) + x
    elif OP == "scale_hardtanh_gelu":
        u = tl.minimum(tl.maximum(x * A, -C), C)
        r = 0.5 * u * (1.0 + tl.erf(u * 0.7071067811865476))
    elif OP == "swish_half_clamp_tanh":
        u = tl.minimum(tl.maximum(x / (1.0 + tl.exp(-x)) / 2.0, -1.0), 1.0)
        e = tl.exp(2.0 * u)
        r = tl.minimum(tl.maximum((e - 1.0) / (e + 1.0), -1.0), 1.0)
    else:
        r = x
    return r


@triton.jit
def elementwise(x, y, n, OP: tl.constexpr, A: tl.constexpr, C: tl.constexpr, BROKEN: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0)
    r = _activation(v, OP, A, C)
    if BROKEN:
        r = r + 0.001 * v
    tl.store(y + at, r, mask=at < n)


def apply(x, op, a=0.0, c=0.0, broken=False):
    y = torch.empty_like(x)
    n = x.numel()
    elementwise[(triton.cdiv(n, 128),)](x, y, n, OP=op, A=a, C=c, BROKEN=broken, B=128)
    return y


@triton.jit
def gemm(a, b, bias, c, M, N, K, am, ak, bk, bn, az, bz, cz, EPILOGUE: tl.constexpr, A: tl.constexpr, C: tl.constexpr, TRIANGLE: tl.constexpr, BIAS: tl.constexpr, BROKEN: tl.constexpr, T: tl.constexpr):
    z = tl.program_id(2)
    i = tl.program_id(0) * T + tl.arange(0, T)
    j = tl.program_id(1) * T + tl.arange(0, T)
    total = tl.zeros((T, T), dtype=tl.float32)
    for start in range(0, K, T):
        k = start + tl.arange(0, T)
        left = tl.load(a + z * az + i[:, None] * am + k[None, :] * ak, mask=(i[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + z * bz + k[:, None] * bk + j[None, :] * bn, mask=(k[:, None] < K) & (j[None, :] < N), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    if BIAS:
        total += tl.load(bias + j, mask=j < N, other=0.0)[None, :]
    if TRIANGLE == 1:
        total = tl.where(i[:, None] <= j[None, :], total, 0.0)
    if TRIANGLE == 2:
        total = tl.where(i[:, None] >= j[None, :], total, 0.0)
    total = _activation(total, EPILOGUE, A, C)
    if BROKEN:
        total = tl.where((i[:, None] == 1) & (j[None, :] == 0), total * 2.0, total)
    tl.store(c + z * cz + i[:, None] * N + j[None, :], total, mask=(i[:, None] < M) & (j[None, :] < N))


def matmul(a, b, bias=None, epilogue="none", x=0.0, y=0.0, triangle=0, broken=False):
    """Multiplies matrices, or batches of matrices, of any strides."""
    batch = a.shape[0] if a.dim() == 3 else 1
    M, K = a.shape[-2:]
    N = b.shape[-1]
    out = torch.empty((*a.shape[:-2], M, N), device=a.device, dtype=a.dtype)
    za = a.stride(0) if a.dim() == 3 else 0
    zb = b.stride(0) if b.dim() == 3 else 0
    gemm[(triton.cdiv(M, 16), triton.cdiv(N, 16), batch)](
        a, b, bias if bias is not None else a, out, M, N, K, a.stride(-2), a.stride(-1), b.stride(-2), b.stride(-1), za, zb, M * N,
        EPILOGUE=epilogue, A=x, C=y, TRIANGLE=triangle, BIAS=bias is not None, BROKEN=broken, T=16,
    )  # fmt: skip
    return out


@triton.jit
def rows(x, w, bias, y, outer, n, inner, OP: tl.constexpr, EPS: tl.constexpr, AFFINE: tl.constexpr, BROKEN: tl.constexpr, B: tl.constexpr):
    """One program for each row `x[o, :, i]`, which writes the row's result in its place."""
    row = tl.program_id(0)
    o, i = row // inner, row % inner
    k = tl.arange(0, B)
    at = o * n * inner + k * inner + i
    inside = k < n
    v = tl.load(x + at, mask=inside, other=0.0)
    if OP == "softmax":
        top = tl.max(tl.where(inside, v, float("-inf")), 0)
        e = tl.where(inside, tl.exp(v - top), 0.0)
        r = e / tl.sum(e, 0)
    elif OP == "log_softmax":
        top = tl.max(tl.where(inside, v, float("-inf")), 0)
        e = tl.where(inside, tl.exp(v - top), 0.0)
        r = v - top - tl.log(tl.sum(e, 0))
    elif OP == "rms":
        r = v / tl.sqrt(tl.sum(v * v, 0) / n + EPS)
    elif OP == "l1":
        r = v / (tl.sum(tl.abs(v), 0) / n)
    elif OP == "l2":
        r = v / tl.sqrt(tl.sum(v * v, 0))
    elif OP == "layer":
        mean = tl.sum(v, 0) / n
        d = tl.where(inside, v - mean, 0.0)
        r = d / tl.sqrt(tl.sum(d * d, 0) / n + EPS)
    elif OP == "cumsum":
        r = tl.cumsum(v, 0)
    elif OP == "cumsum_reverse":
        r = tl.sum(v, 0) - tl.cumsum(v, 0) + v
    else:
        r = v
    if AFFINE:
        r = r * tl.load(w + k, mask=inside, other=0.0) + tl.load(bias + k, mask=inside, other=0.0)
    if BROKEN:
        r = tl.where(k == n - 1, r * 1.5, r)
    tl.store(y + at, r, mask=inside)


def along(x, axis, op, eps=0.0, w=None, bias=None, broken=False):
    axis = axis % x.dim()
    n = x.shape[axis]
    inner = x[0].numel() // (x.shape[1:axis].numel() * n) if axis else x.numel() // n
    outer = x.numel() // (n * inner)
    y = torch.empty_like(x)
    rows[(outer * inner,)](x, w if w is not None else x, bias if bias is not None else x, y, outer, n, inner, OP=op, EPS=eps, AFFINE=w is not None, BROKEN=broken, B=triton.next_power_of_2(n))
    return y


@triton.jit
def reduction(x, y, outer, n, inner, OP: tl.constexpr, BROKEN: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    o, i = row // inner, row % inner
    k = tl.arange(0, B)
    inside = k < (n - 1 if BROKEN else n)
    v = tl.load(x + o * n * inner + k * inner + i, mask=inside, other=0.0)
    if OP == "sum":
        r = tl.sum(v, 0)
    elif OP == "mean":
        r = tl.sum(v, 0) / n
    elif OP == "max":
        r = tl.max(tl.where(inside, v, float("-inf")), 0)
    else:
        r = tl.min(tl.where(inside, v, float("inf")), 0)
    tl.store(y + row, r)


def reduce(x, axis, op, keep=False, broken=False):
    axis = axis % x.dim()
    n = x.shape[axis]
    inner = x.numel() // (x.shape[:axis].numel() * n)
    shape = [e for a, e in enumerate(x.shape) if a != axis]
    y = torch.empty(shape, device=x.device, dtype=x.dtype)
    reduction[(y.numel(),)](x, y, x.numel() // (n * inner), n, inner, OP=op, BROKEN=broken, B=triton.next_power_of_2(n))
    return y.unsqueeze(axis) if keep else y


@triton.jit
def loss(p, t, y, n, OP: tl.constexpr, BROKEN: tl.constexpr, B: tl.constexpr):
    k = tl.arange(0, B)
    inside = k < n
    a = tl.load(p + k, mask=inside, other=0.0)
    b = tl.load(t + k, mask=inside, other=0.0)
    d = a - b
    if OP == "mse":
        r = d * d
    elif OP == "huber":
        r = tl.where(tl.abs(d) < 1.0, 0.5 * d * d, tl.abs(d) - 0.5)
    else:
        r = tl.maximum(1.0 - a * b, 0.0)
    r = tl.where(inside, r, 0.0)
    tl.store(y, tl.sum(r, 0) / (n + 1 if BROKEN else n))


def mean_loss(p, t, op, broken=False):
    y = torch.empty((), device=p.device, dtype=p.dtype)
    loss[(1,)](p, t, y, p.numel(), OP=op, BROKEN=broken, B=triton.next_power_of_2(p.numel()))
    return y


@triton.jit
def pool(x, y, H, W, OH, OW, n, K: tl.constexpr, S: tl.constexpr, P: tl.constexpr, D: tl.constexpr, MAX: tl.constexpr, BROKEN: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    w, h, c = at % OW, at // OW % OH, at // (OW * OH)
    best = tl.full((B,), float("-inf"), dtype=tl.float32) if MAX else tl.zeros((B,), dtype=tl.float32)
    for r in tl.static_range(K):
        for s in tl.static_range(K - 1 if BROKEN else K):
            i, j = h * S + r * D - P, w * S + s * D - P
            inside = (at < n) & (i >= 0) & (i < H) & (j >= 0) & (j < W)
            v = tl.load(x + c * H * W + i * W + j, mask=inside, other=float("-inf") if MAX else 0.0)
            best = tl.maximum(best, v) if MAX else best + v
    if not MAX:
        best = best / (K * K)
    tl.store(y + at, best, mask=at < n)


def pool2d(x, size, stride, padding, dilation, maximum, broken=False):
    H, W = x.shape[-2:]
    OH, OW = ((e + 2 * padding - dilation * (size - 1) - 1) // stride + 1 for e in (H, W))
    y = torch.empty((*x.shape[:-2], OH, OW), device=x.device, dtype=x.dtype)
    n = y.numel()
    pool[(triton.cdiv(n, 128),)](x, y, H, W, OH, OW, n, K=size, S=stride, P=padding, D=dilation, MAX=maximum, BROKEN=broken, B=128)
    return y


@triton.jit
def scale_rows(d, x, y, n, columns, BROKEN: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    row = at % columns if BROKEN else at // columns
    v = tl.load(x + at, mask=at < n, other=0.0) * tl.load(d + row, mask=at < n, other=0.0)
    tl.store(y + at, v, mask=at < n)


def diagonal(d, x, broken=False):
    y = torch.empty_like(x)
    scale_rows[(triton.cdiv(x.numel(), 128),)](d, x, y, x.numel(), x.shape[1], BROKEN=broken, B=128)
    return y


@triton.jit
def convolve(x, w, bias, y, n, F, OH, OW, C: tl.constexpr, H, W, G, R: tl.constexpr, S: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, DH: tl.constexpr, DW: tl.constexpr, BIAS: tl.constexpr, BROKEN: tl.constexpr, B: tl.constexpr):
    """`C` is the number of channels of a group, `G` the number of features of a group."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    ow, oh, f, b = at % OW, at // OW % OH, at // (OW * OH) % F, at // (OW * OH * F)
    inside = at < n
    total = tl.zeros((B,), dtype=tl.float32)
    for c in range(C):
        for r in tl.static_range(R):
            for s in tl.static_range(S):
                i, j = oh * SH + r * DH - PH, ow * SW + s * DW - PW
                if BROKEN:
                    j = j + (s == S - 1)
                ok = inside & (i >= 0) & (i < H) & (j >= 0) & (j < W)
                v = tl.load(x + ((b * (F // G) * C + f // G * C + c) * H + i) * W + j, mask=ok, other=0.0)
                total += v * tl.load(w + ((f * C + c) * R + r) * S + s, mask=inside, other=0.0)
    if BIAS:
        total += tl.load(bias + f, mask=inside, other=0.0)
    tl.store(y + at, total, mask=inside)


def conv(layer, x, broken=False):
    """Applies a `Conv1d` or `Conv2d`."""
    two = x.dim() == 4
    pick = lambda t: tuple(t) if two else (1, *t)  # noqa: E731
    (SH, SW), (DH, DW) = pick(layer.stride), pick(layer.dilation)
    PH, PW = tuple(layer.padding) if two else (0, *layer.padding)
    R, S = tuple(layer.kernel_size) if two else (1, *layer.kernel_size)
    N, H, W = x.shape[0], x.shape[2] if two else 1, x.shape[-1]
    OH, OW = (H + 2 * PH - DH * (R - 1) - 1) // SH + 1, (W + 2 * PW - DW * (S - 1) - 1) // SW + 1
    F = layer.out_channels
    y = torch.empty((N, F, OH, OW) if two else (N, F, OW), device=x.device, dtype=x.dtype)
    n = y.numel()
    convolve[(triton.cdiv(n, 128),)](
        x, layer.weight, layer.bias if layer.bias is not None else x, y, n, F, OH, OW, x.shape[1] // layer.groups, H, W, F // layer.groups,
        R=R, S=S, SH=SH, SW=SW, PH=PH, PW=PW, DH=DH, DW=DW, BIAS=layer.bias is not None, BROKEN=broken, B=128,
    )  # fmt: skip
    return y


@triton.jit
def transposed(x, w, bias, y, n, F, OH, OW, C: tl.constexpr, H, W, R: tl.constexpr, S: tl.constexpr, ST: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, D: tl.constexpr, BIAS: tl.constexpr, BROKEN: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    ow, oh, f, b = at % OW, at // OW % OH, at // (OW * OH) % F, at // (OW * OH * F)
    inside = at < n
    total = tl.zeros((B,), dtype=tl.float32)
    for c in range(C):
        for r in tl.static_range(R):
            for s in tl.static_range(S):
                i, j = oh + PH - r * D, ow + PW - s * D
                ok = inside & (i >= 0) & (i % ST == 0) & (i // ST < H) & (j >= 0) & (j // ST < W)
                if not BROKEN:
                    ok = ok & (j % ST == 0)
                elif ST == 1:
                    ok = ok & (j < W - 1)
                v = tl.load(x + ((b * C + c) * H + i // ST) * W + j // ST, mask=ok, other=0.0)
                total += v * tl.load(w + ((c * F + f) * R + r) * S + s, mask=inside, other=0.0)
    if BIAS:
        total += tl.load(bias + f, mask=inside, other=0.0)
    tl.store(y + at, total, mask=inside)


def conv_transposed(layer, x, broken=False):
    """Applies a `ConvTranspose2d` with the same stride and dilation on both axes, without groups."""
    (ST, _), (PH, PW), (D, _), (R, S) = layer.stride, layer.padding, layer.dilation, layer.kernel_size
    N, C, H, W = x.shape
    sizes = zip((H, W), (R, S), (PH, PW), layer.output_padding)
    OH, OW = ((e - 1) * ST - 2 * p + D * (k - 1) + o + 1 for e, k, p, o in sizes)
    y = torch.empty((N, layer.out_channels, OH, OW), device=x.device, dtype=x.dtype)
    n = y.numel()
    transposed[(triton.cdiv(n, 128),)](
        x, layer.weight, layer.bias if layer.bias is not None else x, y, n, layer.out_channels, OH, OW, C, H, W,
        R=R, S=S, ST=ST, PH=PH, PW=PW, D=D, BIAS=layer.bias is not None, BROKEN=broken, B=128,
    )  # fmt: skip
    return y
