"""Templates of Core ATen against torch in float64: random contents, several shapes, negative axes, odd windows."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

from evaluate import evaluate  # noqa: E402
from warpproof.trace.errors import Untraceable  # noqa: E402
from warpproof.trace.torch import trace  # noqa: E402


def filled(shape, dtype=torch.float64, positive=False):
    if dtype == torch.bool:
        return torch.rand(shape) > 0.5
    if not dtype.is_floating_point:
        return torch.randint(0, 5, shape, dtype=dtype)
    return torch.rand(shape, dtype=dtype) + 0.1 if positive else torch.randn(shape, dtype=dtype)


def values_of(traced, function, arguments):
    tensors = dict(function.state_dict()) if isinstance(function, torch.nn.Module) else {}
    values, given = {}, [a for a in arguments if isinstance(a, torch.Tensor)]
    for name, _, _ in traced.inputs:
        if name in traced.weights:
            path = traced.weights[name]
            values[name] = traced.contents[name] if name in traced.contents else tensors[path].detach().numpy()
        else:
            values[name] = given.pop(0).numpy()
    return values


def agree(function, *arguments, tolerance=1e-10):
    """Traces, evaluates, and compares with torch; returns the formula."""
    copies = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
    traced = trace(function, *arguments)
    values = values_of(traced, function, arguments)
    with torch.no_grad():
        want = function(*copies)
    wants = list(want) if isinstance(want, (list, tuple)) else [want]
    got = evaluate(traced.formula, values, {name: shape for name, _, shape in traced.outputs})
    assert len(got) == len(wants)
    for (name, _, _), expected in zip(traced.outputs, wants):
        np.testing.assert_allclose(got[name], expected.detach().numpy(), rtol=tolerance, atol=tolerance, err_msg=traced.formula)
    return traced.formula


@pytest.fixture(autouse=True)
def seed(request):
    torch.manual_seed(sum(map(ord, request.node.name)))
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


UNARY = "abs exp exp2 expm1 tanh erf sin cos sigmoid relu floor ceil trunc neg sign reciprocal tan sinh cosh square".split()
POSITIVE = "log log2 log1p log10 sqrt rsqrt".split()


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    agree(getattr(torch, name), filled((3, 4)))
    agree(getattr(torch, name), filled(()))


@pytest.mark.parametrize("name", POSITIVE)
def test_unary_positive(name):
    agree(getattr(torch, name), filled((3, 4), positive=True))


ACTIVATIONS = [
    F.gelu, lambda x: F.gelu(x, approximate="tanh"), F.silu, F.mish, F.softplus, lambda x: F.softplus(x, 2.0, 1.0), F.hardswish,
    F.hardsigmoid, F.hardtanh, lambda x: F.hardtanh(x, -0.3, 0.7), F.leaky_relu, lambda x: F.leaky_relu(x, 0.3), F.elu,
    lambda x: F.elu(x, 0.7), F.selu, F.celu, F.softsign, F.logsigmoid, F.relu6, F.tanhshrink, F.softshrink, F.hardshrink,
    lambda x: F.threshold(x, 0.1, 7.0), lambda x: F.glu(x, -1), lambda x: F.normalize(x, dim=-1), F.silu,
]  # fmt: skip


@pytest.mark.parametrize("function", ACTIVATIONS)
def test_activation(function):
    agree(function, filled((3, 6)) * 2)


BINARY = [
    torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.minimum, torch.eq, torch.ne, torch.lt, torch.le, torch.gt,
    torch.ge, torch.fmod, torch.remainder, lambda a, b: torch.add(a, b, alpha=3), lambda a, b: torch.sub(a, b, alpha=0.5),
    lambda a, b: torch.div(a, b, rounding_mode="floor"), lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    lambda a, b: torch.where(a > b, a, b * 2), lambda a, b: torch.logical_and(a > 0, b > 0), lambda a, b: (a > 0) ^ (b > 0),
    lambda a, b: torch.logical_or(a > 0, b), lambda a, b: torch.rsub(a, b, alpha=2), lambda a, b: torch.lerp(a, b, 0.25),
    lambda a, b: torch.addcmul(a, a, b, value=0.5), lambda a, b: torch.clamp(a, min=b),
]  # fmt: skip


@pytest.mark.parametrize("function", BINARY)
@pytest.mark.parametrize("shapes", [((3, 4), (3, 4)), ((3, 1), (4,)), ((), (2, 3)), ((2, 1, 3), (5, 1))])
def test_binary(function, shapes):
    agree(function, *(filled(s) for s in shapes))


INTEGERS = [
    lambda a, b: a + b, lambda a, b: a * b - 3, lambda a, b: a // (b + 1), lambda a, b: a % (b + 1), lambda a, b: a / (b + 1),
    lambda a, b: torch.maximum(a, b), lambda a, b: a.double() * 0.5 + b, lambda a, b: (a > b).sum(), lambda a, b: -a.abs(),
    lambda a, b: (a * 0.7).long() + b, lambda a, b: a**2, lambda a, b: torch.clamp(a, 1, 3), lambda a, b: a.sum(0), lambda a, b: ~a,
    lambda a, b: a.bool() & b.bool(), lambda a, b: torch.fmod(a, b + 1), lambda a, b: a.sign(), lambda a, b: a.cumsum(0),
    lambda a, b: torch.div(a, b + 1, rounding_mode="trunc"), lambda a, b: a.amax(1), lambda a, b: a.argmax(0), lambda a, b: a.prod(0),
]  # fmt: skip


@pytest.mark.parametrize("function", INTEGERS)
def test_integers(function):
    agree(function, filled((3, 4), torch.int64), filled((3, 4), torch.int64))


SCALARS = [
    lambda x: x + 1, lambda x: 2 - x, lambda x: x * 0.1, lambda x: x / 3, lambda x: 1 / x, lambda x: x**2, lambda x: x**3, lambda x: x**-1,
    lambda x: x.abs() ** 0.5, lambda x: x.abs() ** -0.5, lambda x: x.abs() ** 1.5, lambda x: 2**x, lambda x: 0.3**x, lambda x: x > 0.5,
    lambda x: torch.clamp(x, -0.5), lambda x: torch.clamp(x, max=0.2), lambda x: torch.clamp(x, -0.1, 0.2), lambda x: x.clamp_min(0.0),
    lambda x: x.masked_fill(x > 0, -5.0), lambda x: torch.full_like(x, 2.5) + x, lambda x: torch.zeros_like(x) - x, lambda x: x * 1e-5,
    lambda x: x * (1 / np.sqrt(96)), lambda x: x * np.pi, lambda x: x / np.sqrt(2 / np.pi), lambda x: x * (1 / 3), lambda x: x * 1.2345678901234567,
    lambda x: torch.ones(4, dtype=torch.float64) + x, lambda x: x + torch.tensor(0.1), lambda x: torch.isnan(x), lambda x: x // 0.4, lambda x: x % 0.4,
]  # fmt: skip


@pytest.mark.parametrize("function", SCALARS)
def test_scalar(function):
    agree(function, filled((3, 4)))


VIEWS = [
    lambda x: x.permute(2, 0, 1), lambda x: x.transpose(-1, 0), lambda x: x.mT, lambda x: x.reshape(6, 4), lambda x: x.reshape(-1),
    lambda x: x.reshape(4, 3, 2), lambda x: x.reshape(2, 6, 2).reshape(24).reshape(3, 8), lambda x: x.permute(2, 1, 0).reshape(3, 8),
    lambda x: x.unsqueeze(1), lambda x: x.unsqueeze(-1), lambda x: x[:, :1].squeeze(1), lambda x: x[:1, :1].squeeze(), lambda x: x[:, 1],
    lambda x: x[..., -1], lambda x: x[:, ::2], lambda x: x[1:, -2:, 1:3], lambda x: x.flip(0, -1), lambda x: x[:, :, :1].expand(2, 3, 5),
    lambda x: x[None].expand(3, -1, -1, -1), lambda x: x.repeat(2, 1, 3), lambda x: x.unfold(2, 2, 1), lambda x: x.unfold(1, 2, 1), lambda x: x.roll(1, 2),
    lambda x: x.roll((1, -1), (0, 1)), lambda x: torch.cat([x, x * 2], 1), lambda x: torch.cat([x[:1], x, x[1:]], 0), lambda x: torch.stack([x, -x], -1),
    lambda x: x.split(2, 1), lambda x: x.chunk(2, -1), lambda x: x.unbind(1), lambda x: F.pad(x, (1, 2)), lambda x: F.pad(x, (1, 0, 2, 1), value=3.5),
    lambda x: F.pad(x, (-1, 1)), lambda x: x.clone().contiguous(), lambda x: x.swapaxes(0, 2)[1:], lambda x: torch.tril(x), lambda x: torch.triu(x, 1),
    lambda x: x.tile(2), lambda x: x.repeat_interleave(2, 1), lambda x: x.movedim(0, -1), lambda x: x.diagonal(dim1=1, dim2=2), lambda x: F.pad(x, (1, 1), mode="reflect"),
    lambda x: x.flatten(1), lambda x: x.unflatten(2, (2, 2)), lambda x: x.narrow(1, 1, 2), lambda x: torch.einsum("ijk->kji", x), lambda x: x.squeeze(0),
]  # fmt: skip


@pytest.mark.parametrize("function", VIEWS)
def test_view(function):
    agree(function, filled((2, 3, 4)))


def test_upsampling():
    agree(lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), filled((1, 2, 2, 3)))
    agree(lambda x: F.interpolate(x, size=(6, 3), mode="nearest"), filled((1, 2, 2, 3)))
    agree(lambda x: F.interpolate(x, scale_factor=3), filled((1, 2, 5)))
    with pytest.raises(Untraceable, match="integer"):
        trace(lambda x: F.interpolate(x, size=(3, 3)), filled((1, 2, 2, 3)))


def test_as_strided():
    agree(lambda x: torch.as_strided(x * 1, (3, 2), (1, 6), 2), filled((2, 3, 4)))
    agree(lambda x: torch.as_strided(x * 1, (2, 2, 2), (4, 2, 1)), filled((2, 3, 4)))
    with pytest.raises(Untraceable, match="row-major"):
        trace(lambda x: torch.as_strided((x * 1)[1:], (3,), (2,)), filled((4, 3)))


def assign(x):
    y = x.clone()
    y[:, 1] = 0.5
    y[0, :, ::2] = x[1, :, 1::2]
    return y


def fill_rows(x):
    out = torch.zeros(2, 3, 4, dtype=torch.float64)
    for i in range(3):
        out[:, i] = x[:, 2 - i] * i
    return out


REDUCTIONS = [
    lambda x: x.sum(), lambda x: x.sum(-1), lambda x: x.sum((0, 2)), lambda x: x.sum((0, -1), keepdim=True), lambda x: x.mean(), lambda x: x.mean(1),
    lambda x: x.mean((1, 2), keepdim=True), lambda x: x.amax(-1), lambda x: x.amax((0, 1)), lambda x: x.amin(1, keepdim=True), lambda x: x.max(), lambda x: x.min(),
    lambda x: x.max(1), lambda x: x.min(-1, keepdim=True), lambda x: x.argmax(), lambda x: x.argmax(-1), lambda x: x.argmin(1, keepdim=True), lambda x: x.prod(1),
    lambda x: (x > 0).any(), lambda x: (x > 0).all(1), lambda x: (x > 0).any(-1, keepdim=True), lambda x: x.var(), lambda x: x.var(1), lambda x: x.var(-1, unbiased=False, keepdim=True),
    lambda x: x.std(1), lambda x: torch.var_mean(x, 1), lambda x: x.cumsum(1), lambda x: x.cumsum(-1), lambda x: x.cumprod(1), lambda x: x.flip(1).cumsum(1).flip(1),
    lambda x: x.softmax(-1), lambda x: x.softmax(0), lambda x: x.log_softmax(1), lambda x: x.logsumexp(-1), lambda x: x.logsumexp((1, 2)), lambda x: x.norm(), lambda x: x.norm(dim=1),
    lambda x: torch.linalg.vector_norm(x, 1, dim=-1), lambda x: torch.norm(x, p=1, dim=1, keepdim=True), lambda x: x.sum(1) / x.sum(), lambda x: (x * x).sum(-1).sqrt(), lambda x: x.count_nonzero(),
    lambda x: (x > 0).sum(1), lambda x: (x > 0).double().mean(), lambda x: x.sum(()), lambda x: x.sum(1, dtype=torch.int32), lambda x: x.prod(1, dtype=torch.int8), lambda x: (x - x).sum(dtype=torch.bool), lambda x: x.trunc().sum(0, dtype=torch.bool), lambda x: (x > 0).sum(1, dtype=torch.bool), lambda x: x[0, 0, 0].sum(), lambda x: x[0, 0, 0].softmax(0), assign, fill_rows,
]  # fmt: skip


@pytest.mark.parametrize("function", REDUCTIONS)
def test_reduction(function):
    agree(function, filled((2, 3, 4)))


def test_empty_axes():
    agree(lambda x: x.sum(1), filled((2, 0)))
    agree(lambda x: x.prod(1), filled((2, 0)))
    agree(lambda x: torch.cat([x[:0], x]), filled((2, 3)))
    agree(lambda a, b: a @ b, filled((2, 0)), filled((0, 3)))


PRODUCTS = [
    (lambda a, b: a @ b, (3, 4), (4, 5)), (lambda a, b: a @ b, (2, 3, 4), (2, 4, 5)), (lambda a, b: a @ b, (2, 1, 3, 4), (5, 4, 2)), (lambda a, b: a @ b, (4,), (4, 5)),
    (lambda a, b: a @ b, (3, 4), (4,)), (lambda a, b: a @ b, (4,), (4,)), (lambda a, b: a.T @ b, (4, 3), (4, 5)), (lambda a, b: torch.einsum("bijl,lk->bijk", a, b), (2, 3, 2, 4), (4, 5)),
    (lambda a, b: torch.einsum("ij,ij->i", a, b), (3, 4), (3, 4)), (lambda a, b: F.linear(a, b), (2, 3, 4), (5, 4)), (lambda a, b: torch.outer(a, b), (3,), (4,)), (lambda a, b: torch.diag(a) @ b, (3,), (3, 4)),
    (lambda a, b: torch.addmm(a[0], a.T, b, beta=0.5, alpha=2.0), (3, 4), (3, 4)), (lambda a, b: torch.baddbmm(a @ b, a, b, alpha=3), (2, 3, 4), (2, 4, 5)), (lambda a, b: (a * 2 + 1) @ torch.exp(b), (3, 4), (4, 5)),
    (lambda a, b: F.cosine_similarity(a, b, dim=1), (3, 4), (3, 4)), (lambda a, b: torch.cdist(a, b, 1) if False else (a - b).abs().sum(), (3, 4), (3, 4)), (lambda a, b: torch.bmm(a, b), (2, 3, 0), (2, 0, 5)),
    (lambda a, b: torch.tril(a) @ torch.tril(b), (4, 4), (4, 4)), (lambda a, b: torch.kron(a, b), (2, 3), (2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("function, one, two", PRODUCTS)
def test_product(function, one, two):
    agree(function, filled(one), filled(two))


LOSSES = [
    F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, lambda a, b: F.kl_div(a.log_softmax(1), b.softmax(1), reduction="batchmean"),
    lambda a, b: torch.mean(torch.clamp(1 - a * b, min=0)), lambda a, b: F.binary_cross_entropy_with_logits(a, b.sigmoid()), lambda a, b: F.triplet_margin_loss(a, b, a * b),
]  # fmt: skip


@pytest.mark.parametrize("function", LOSSES)
def test_loss(function):
    agree(function, filled((3, 4)), filled((3, 4)))


def test_cross_entropy_and_gather():
    agree(F.cross_entropy, filled((3, 5)), filled((3,), torch.int64))
    agree(lambda x, t: x.gather(1, t), filled((3, 5)), filled((3, 2), torch.int64))
    agree(lambda x, t: x[:, t], filled((3, 5)), filled((4,), torch.int64))
    agree(lambda x, t: x[t, :, t], filled((5, 2, 5)), filled((4,), torch.int64))
    agree(lambda x, t: x.index_select(1, t), filled((3, 5)), filled((4,), torch.int64))
    agree(lambda x, t: F.embedding(t, x), filled((5, 3)), filled((2, 4), torch.int64))


CONVOLUTIONS = [
    ("Conv1d", (3, 4, 3), {}, (2, 3, 7)), ("Conv1d", (4, 6, 3), dict(stride=2, padding=1, dilation=2, groups=2), (2, 4, 9)),
    ("Conv1d", (4, 4, 3), dict(groups=4, bias=False), (2, 4, 5)), ("Conv2d", (3, 4, 3), dict(padding=1), (2, 3, 5, 6)),
    ("Conv2d", (4, 6, (3, 2)), dict(stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2), (2, 4, 7, 6)), ("Conv2d", (3, 5, 1), {}, (2, 3, 4, 4)),
    ("Conv2d", (4, 8, 3), dict(groups=4, padding="same"), (1, 4, 4, 4)), ("Conv3d", (2, 3, (1, 2, 3)), dict(padding=(0, 1, 1), stride=(1, 2, 1)), (1, 2, 3, 4, 5)),
    ("ConvTranspose1d", (3, 4, 3), {}, (2, 3, 5)), ("ConvTranspose1d", (4, 6, 3), dict(stride=3, padding=1, output_padding=1, dilation=2, groups=2), (2, 4, 5)),
    ("ConvTranspose2d", (3, 4, 3), dict(stride=2, padding=1, output_padding=1), (1, 3, 3, 4)), ("ConvTranspose2d", (4, 4, (3, 5)), dict(stride=(1, 2), groups=4, bias=False), (1, 4, 3, 3)),
    ("ConvTranspose2d", (2, 3, 1), dict(stride=2), (1, 2, 3, 3)), ("ConvTranspose3d", (2, 3, 2), dict(stride=2, padding=1), (1, 2, 3, 2, 3)),
    ("ConvTranspose3d", (4, 4, (1, 2, 3)), dict(stride=(1, 2, 1), output_padding=(0, 1, 0), groups=2), (1, 4, 2, 2, 3)),
]  # fmt: skip


@pytest.mark.parametrize("name, sizes, options, shape", CONVOLUTIONS)
def test_convolution(name, sizes, options, shape):
    agree(getattr(torch.nn, name)(*sizes, **options).double(), filled(shape))


POOLS = [
    ("MaxPool1d", dict(kernel_size=3, stride=2, padding=1), (2, 3, 8)), ("MaxPool2d", dict(kernel_size=2), (2, 3, 5, 4)), ("MaxPool2d", dict(kernel_size=3, stride=2, padding=1, dilation=2), (1, 2, 9, 8)),
    ("MaxPool2d", dict(kernel_size=3, stride=2, ceil_mode=True), (1, 2, 6, 7)), ("MaxPool2d", dict(kernel_size=(1, 3), stride=(2, 1)), (1, 2, 6, 7)), ("MaxPool3d", dict(kernel_size=2, stride=1), (1, 2, 3, 4, 3)),
    ("AvgPool1d", dict(kernel_size=3, stride=2, padding=1), (2, 3, 8)), ("AvgPool2d", dict(kernel_size=2), (2, 3, 5, 4)), ("AvgPool2d", dict(kernel_size=3, stride=2, padding=1), (1, 2, 6, 7)),
    ("AvgPool2d", dict(kernel_size=3, stride=2, padding=1, count_include_pad=False), (1, 2, 6, 7)), ("AvgPool2d", dict(kernel_size=3, stride=2, padding=1, ceil_mode=True), (1, 2, 6, 7)),
    ("AvgPool2d", dict(kernel_size=3, stride=2, padding=1, ceil_mode=True, count_include_pad=False), (1, 2, 6, 8)), ("AvgPool2d", dict(kernel_size=2, divisor_override=3), (1, 2, 4, 4)), ("AvgPool3d", dict(kernel_size=2, padding=1), (1, 2, 3, 4, 3)),
    ("AdaptiveAvgPool1d", dict(output_size=3), (1, 2, 7)), ("AdaptiveAvgPool2d", dict(output_size=(1, 1)), (2, 3, 4, 5)), ("AdaptiveAvgPool2d", dict(output_size=(2, 3)), (1, 2, 5, 7)), ("AdaptiveAvgPool3d", dict(output_size=2), (1, 2, 4, 4, 6)),
]  # fmt: skip


@pytest.mark.parametrize("name, options, shape", POOLS)
def test_pool(name, options, shape):
    agree(getattr(torch.nn, name)(**options), filled(shape))


NORMS = [
    ("LayerNorm", (5,), {}, (3, 5)), ("LayerNorm", ((3, 5),), {}, (2, 3, 5)), ("LayerNorm", (5,), dict(elementwise_affine=False), (3, 5)), ("GroupNorm", (2, 6), {}, (2, 6, 3)),
    ("GroupNorm", (3, 6), dict(affine=False), (2, 6, 3, 2)), ("BatchNorm1d", (4,), {}, (3, 4)), ("BatchNorm1d", (4,), {}, (3, 4, 5)), ("BatchNorm2d", (4,), {}, (3, 4, 2, 3)), ("BatchNorm2d", (4,), dict(affine=False, track_running_stats=False), (3, 4, 2, 3)),
    ("BatchNorm3d", (2,), {}, (2, 2, 2, 2, 3)), ("InstanceNorm2d", (3,), {}, (2, 3, 4, 4)), ("InstanceNorm2d", (3,), dict(affine=True), (2, 3, 4, 4)), ("InstanceNorm3d", (2,), {}, (2, 2, 2, 2, 3)), ("RMSNorm", (5,), {}, (3, 5)),
]  # fmt: skip


@pytest.mark.parametrize("name, sizes, options, shape", NORMS)
@pytest.mark.parametrize("training", [True, False])
def test_norm(name, sizes, options, shape, training):
    module = getattr(torch.nn, name)(*sizes, **options).double().train(training)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    for path, buffer in module.named_buffers():
        if "running" in path:
            buffer.copy_(filled(buffer.shape, positive=True))
    agree(module, filled(shape))


ATTENTION = [
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v), lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    lambda q, k, v: (q @ k.mT / 3).masked_fill(torch.tril(torch.ones(5, 5)) == 0, float("-inf")).softmax(-1) @ v,
]  # fmt: skip


@pytest.mark.parametrize("function", ATTENTION)
def test_attention(function):
    agree(function, *(filled((2, 5, 6)) for _ in range(3)))


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_recurrence(kind):
    module = getattr(torch.nn, kind)(3, 4, 2).double()
    traced = trace(module, filled((3, 2, 3)))
    x = filled((3, 2, 3))
    values = values_of(traced, module, [x])
    got = evaluate(traced.formula, values, {n: s for n, _, s in traced.outputs})
    name, _, _ = traced.outputs[0]
    np.testing.assert_allclose(got[name], module(x)[0].detach().numpy(), atol=1e-10)


REFUSED = [
    (lambda x: F.dropout(x, 0.5, True), "random"), (lambda x: x.sort()[0], "sort"), (lambda x: x[x > 0], None), (lambda x: x.add_(1), "changes"), (lambda x: x**x, "power"),
    (lambda x: x.round(), "ties"), (lambda x: torch.randn(3, dtype=torch.float64) + x.sum(), "random"), (lambda x: x.sum().item() * x, None), (lambda x: torch.linalg.inv(x @ x.T), "no template"),
    (lambda x: F.max_pool2d(x[None], 2, return_indices=True), "indices"), (lambda x: torch.empty_like(x) + x, "written"), (lambda x: torch.fft.fft(x), None), (lambda x: x[:, :0].amax(1), None),
]  # fmt: skip


@pytest.mark.parametrize("function, words", REFUSED)
def test_refused(function, words):
    with pytest.raises(Untraceable, match=words):
        trace(function, filled((3, 4)))


def test_lines_and_names():
    def f(a, b):
        s = a + b
        return (s @ s).sum(1)

    traced = trace(f, filled((3, 3)), filled((3, 3)))
    assert [n for n, _, _ in traced.inputs] == ["a", "b"]
    line = f.__code__.co_firstlineno + 2
    assert traced.lines["product"] == f"{__file__}:{line}"


def test_weights_are_named_and_float32_constants_are_decimals():
    torch.set_default_dtype(torch.float32)
    traced = trace(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh()), torch.empty(4, 3))
    assert set(traced.weights.values()) == {"0.weight", "0.bias"}
    assert "0.1" in trace(lambda x: x * torch.tensor([0.1]), torch.empty(3)).formula
    assert trace(lambda x: x * 1e-5, torch.empty(3)).formula == "y[i] = x[i]*1e-5"
