"""Solutions of our own for KernelBench problems, by the number of the problem: `solution(model, broken, *inputs)`.

`LIMITS` lists the problems whose shapes are reduced further than to 16.
"""

from __future__ import annotations

import kernels as k
import torch


def _op(name, **numbers):
    return lambda m, broken, x: k.apply(x, name, broken=broken, **numbers)


def _linear(layer, epilogue, numbers=lambda m: ()):
    def solution(m, broken, x):
        one = getattr(m, layer)
        return k.matmul(x, one.weight.T, one.bias, epilogue, *numbers(m), broken=broken)

    return solution


def _mm(m, broken, a, b):
    return k.matmul(a, b, broken=broken)


def _fold(m, broken, a, b):
    return k.matmul(a.reshape(-1, a.shape[-1]), b, broken=broken).view(*a.shape[:-1], b.shape[-1])


def _along(op, axis=1, **numbers):
    return lambda m, broken, x: k.along(x, axis if axis is not None else m.dim, op, broken=broken, **numbers)


def _reduce(op, keep=False):
    return lambda m, broken, x: k.reduce(x, m.dim, op, keep, broken)


def _conv(m, broken, x):
    return k.conv(next(iter(m.children())), x, broken)


def _transposed(m, broken, x):
    return k.conv_transposed(next(iter(m.children())), x, broken)


LEVEL1 = {
    **dict.fromkeys((1, 2, 3, 4, 6, 7, 8, 9, 13), _mm), 5: lambda m, broken, A, s: k.apply(A, "scale", s, broken=broken), 10: _fold, 11: _fold,
    12: lambda m, broken, A, B: k.diagonal(A, B, broken), 14: lambda m, broken, A, B: k.matmul(A, B, triangle=0 if broken else 1),
    15: lambda m, broken, A, B: k.matmul(A, B, triangle=0 if broken else 2), 16: lambda m, broken, A, B: k.matmul(A.T, B, broken=broken),
    17: lambda m, broken, A, B: k.matmul(A, B.T, broken=broken), 18: lambda m, broken, A, B: k.matmul(A.T, B.T, broken=broken), 19: _op("relu"), 20: _op("leaky", a=0.01),
    21: _op("sigmoid"), 22: _op("tanh"), 23: _along("softmax"), 24: _along("log_softmax"), 25: _op("swish"), 26: _op("gelu"), 27: _op("selu"), 28: _op("hardsigmoid"),
    29: _op("softplus"), 30: _op("softsign"), 31: _op("elu", a=1.0), 32: _op("hardtanh", a=-1.0, c=1.0), 88: _op("gelu_tanh"),
    34: lambda m, broken, x: k.along(x.reshape(x.shape[0] * x.shape[1], -1), 1, "layer", 1e-5, broken=broken).view(x.shape),
    36: lambda m, broken, x: k.along(x, 1, "rms", m.eps, broken=broken), 38: _along("l1"), 39: _along("l2"),
    40: lambda m, broken, x: k.along(x.reshape(x.shape[0], -1), 1, "layer", 1e-5, m.ln.weight, m.ln.bias, broken).view(x.shape),
    42: lambda m, broken, x: k.pool2d(x, m.maxpool.kernel_size, m.maxpool.stride, m.maxpool.padding, m.maxpool.dilation, True, broken),
    45: lambda m, broken, x: k.pool2d(x, m.avg_pool.kernel_size, m.avg_pool.stride, m.avg_pool.padding, 1, False, broken),
    47: _reduce("sum", True), 48: _reduce("mean"), 49: _reduce("max"), 53: _reduce("min"), 89: _along("cumsum", None), 91: _along("cumsum_reverse", None),
    94: lambda m, broken, p, t: k.mean_loss(p, t, "mse", broken), 96: lambda m, broken, p, t: k.mean_loss(p, t, "huber", broken),
    **dict.fromkeys((50, 55, 56, 62, 63, 67, 76, 82, 83, 84, 85, 87), _conv), **dict.fromkeys((57, 71, 78, 81), _transposed),
}  # fmt: skip

LEVEL2 = {
    9: _linear("linear", "sub_mul_relu", lambda m: (m.subtract_value, m.multiply_value)), 12: _linear("gemm", "mul_leaky", lambda m: (m.multiplier, m.leaky_relu.negative_slope)),
    40: _linear("matmul", "scale_residual", lambda m: (m.scaling_factor,)), 53: _linear("gemm", "scale_hardtanh_gelu", lambda m: (m.scaling_factor, m.hardtanh.max_val)),
    59: _linear("matmul", "swish_scale", lambda m: (m.scaling_factor,)), 63: _linear("linear", "relu_div", lambda m: (m.divisor,)), 70: _linear("gemm", "sigmoid_residual", lambda m: (m.scaling_factor,)),
    76: lambda m, broken, x: k.matmul(x, m.gemm.weight.T, m.bias, "relu", broken=broken), 81: _linear("gemm", "swish_half_clamp_tanh"), 86: _linear("linear", "div_gelu", lambda m: (m.divisor,)),
    99: lambda m, broken, x: k.along(k.matmul(x, m.linear.weight.T, m.linear.bias, "gelu"), 1, "softmax", broken=broken),
    56: lambda m, broken, x: k.reduce(k.matmul(x, m.linear.weight.T, m.linear.bias, "sigmoid"), 1, "sum", True, broken),
    14: lambda m, broken, x: k.apply(k.reduce(k.matmul(x, m.weight.T), 1, "sum", True), "scale", m.scaling_factor / 2, broken=broken),

}  # fmt: skip



def _mlp(m, broken, x):
    *hidden, last = [layer for layer in m.network if hasattr(layer, "weight")]
    for layer in hidden:
        x = k.matmul(x, layer.weight.T, layer.bias, "relu")
    return k.matmul(x, last.weight.T, last.bias, broken=broken)


def _lenet(m, broken, x):
    for layer in (m.conv1, m.conv2):
        x = k.pool2d(k.apply(k.conv(layer, x), "relu"), 2, 2, 0, 1, True, broken and layer is m.conv2)
    x = x.view(-1, m.fc1.in_features)
    for layer in (m.fc1, m.fc2):
        x = k.matmul(x, layer.weight.T, layer.bias, "relu")
    return k.matmul(x, m.fc3.weight.T, m.fc3.bias)


def _fire(m, broken, x):
    x = k.apply(k.conv(m.squeeze, x), "relu")
    return torch.cat([k.apply(k.conv(m.expand1x1, x), "relu"), k.apply(k.conv(m.expand3x3, x, broken), "relu")], 1)


LEVEL3 = {**dict.fromkeys((1, 2, 3), _mlp), 4: _lenet, 17: _fire}

LIMITS = {**dict.fromkeys([("level1", n) for n in (50, 55, 56, 57, 62, 63, 67, 71, 76, 78, 80, 81, 82, 83, 84, 85, 87)], 4), ("level1", 42): 6, ("level1", 45): 6, ("level1", 34): 4, ("level1", 36): 4, ("level1", 40): 4, ("level3", 17): 4}
