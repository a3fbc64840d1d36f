"""Random functions of torch, traced and compared with torch itself; run by hand.

`python programs.py FIRST LAST` draws the functions FIRST to LAST - 1. Every function mixes element types, negative
axes, broadcasting, and parameters that are easy to get wrong. One that does not trace counts as `unknown`. A formula
that differs from torch is printed, and is an error of a template. Needs torch, no GPU.
"""

from __future__ import annotations

import random
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import conftest  # noqa: E402, F401
import numpy as np  # noqa: E402
import torch  # noqa: E402
from evaluate import evaluate  # noqa: E402

from warpproof.trace.errors import Untraceable  # noqa: E402
from warpproof.trace.torch import trace  # noqa: E402

F = torch.nn.functional
TYPES = [torch.float64, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]


def axis(d, x):
    return d.randrange(-x.dim(), x.dim()) if x.dim() else 0


def some_axes(d, x):
    return tuple(n - d.choice((0, x.dim())) for n in sorted(d.sample(range(x.dim()), d.randint(1, x.dim()))))


UNARY = [
    torch.neg, torch.abs, torch.sign, torch.square, torch.relu, torch.floor, torch.ceil, torch.trunc, torch.logical_not, torch.bitwise_not, torch.sigmoid,
    torch.tanh, torch.exp, lambda x: x.bool(), lambda x: x.to(torch.int8), lambda x: x.to(torch.uint8), lambda x: x.int(), lambda x: x.long(), lambda x: x.double(),
    lambda x: x.T if x.dim() == 2 else x, lambda x: x.flatten(), lambda x: torch.ones_like(x), lambda x: torch.full_like(x, 3), torch.isnan, F.hardswish, F.relu6,
    lambda x: x.sqrt() if x.is_floating_point() else x, torch.sgn, torch.positive, F.silu, lambda x: torch.nan_to_num(x), torch.erf, torch.rsqrt, torch.log1p, F.softplus, torch.frac,
    lambda x: x.reciprocal(), torch.deg2rad, torch.heaviside and (lambda x: torch.heaviside(x, torch.ones((), dtype=x.dtype))), torch.signbit, F.mish, F.hardsigmoid, torch.logit, torch.expm1,
]  # fmt: skip
BINARY = [
    torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.minimum, torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge, torch.fmod, torch.remainder, torch.floor_divide,
    lambda a, b: torch.add(a, b, alpha=-2), lambda a, b: torch.sub(a, b, alpha=3), lambda a, b: torch.div(a, b, rounding_mode="floor"), lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    torch.logical_and, torch.logical_or, torch.logical_xor, torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor, lambda a, b: torch.where(a > b, a, b), lambda a, b: torch.where(a.bool(), b, 2), torch.fmax,
    lambda a, b: torch.clamp(a, min=b), lambda a, b: torch.clamp(a, b, b - 1), lambda a, b: a.masked_fill(b > 0, 2), torch.true_divide, lambda a, b: torch.rsub(a, b), torch.atan2, torch.hypot, torch.copysign, torch.xlogy,
    lambda a, b: a**2 + b, lambda a, b: torch.addcmul(a, a, b, value=2), lambda a, b: torch.addcdiv(a, a, b, value=2), lambda a, b: torch.lerp(a, b, 0.75), lambda a, b: torch.isclose(a, b), torch.logaddexp, lambda a, b: torch.floor_divide(a, 3) + b, lambda a, b: torch.remainder(a, -3) - b,
    lambda a, b: torch.fmod(a, -3) - b, lambda a, b: a // -2 + b, lambda a, b: a * True + b, lambda a, b: a + 1.5 - b, lambda a, b: 7 // (b * b + 1) + a, lambda a, b: 7 % (b * b + 1) - a, lambda a, b: a << 1, lambda a, b: torch.clamp(a, -1, 1) + b, lambda a, b: torch.clamp(a, max=2) * b, lambda a, b: torch.bucketize(a, b.flatten()), torch.dist,
]  # fmt: skip


def reduction(d, x):
    where, keep = axis(d, x), d.random() < 0.5
    return d.choice([
        lambda x: x.sum(where, keepdim=keep), lambda x: x.sum(), lambda x: x.prod(where, keepdim=keep), lambda x: x.amax(where, keepdim=keep), lambda x: x.amin(where, keepdim=keep), lambda x: x.max(where, keepdim=keep)[0],
        lambda x: x.max(where, keepdim=keep)[1], lambda x: x.min(where)[0], lambda x: x.argmax(where, keepdim=keep), lambda x: x.argmin(where), lambda x: x.argmax(), lambda x: x.any(where, keepdim=keep), lambda x: x.all(where),
        lambda x: x.mean(where, keepdim=keep), lambda x: x.double().mean(), lambda x: x.var(where, unbiased=keep), lambda x: x.double().std(where, keepdim=keep), lambda x: x.cumsum(where), lambda x: x.cumprod(where), lambda x: x.count_nonzero(where),
        lambda x: x.softmax(where), lambda x: x.log_softmax(where), lambda x: x.logsumexp(where, keepdim=keep), lambda x: x.norm(dim=where), lambda x: x.aminmax(dim=where)[1], lambda x: x.sum(where, dtype=torch.float64), lambda x: x.sum(where, dtype=torch.int32), lambda x: x.cumsum(where, dtype=torch.int8),
        lambda x: x.cummax(where)[0], lambda x: x.median(), lambda x: x.nansum(where), lambda x: torch.linalg.vector_norm(x.double(), d.choice((0, 1, 2, 3, float("inf"))), where), lambda x: x.logcumsumexp(where), lambda x: x.diff(dim=where), lambda x: x.var(correction=2, dim=where), lambda x: x.std(),
        lambda x: x.sum(some_axes(d, x), keepdim=keep), lambda x: x.amax(some_axes(d, x)), lambda x: x.double().mean(some_axes(d, x)), lambda x: x.double().var(some_axes(d, x), correction=0), lambda x: x.mean(dtype=torch.float64), lambda x: x.prod(), lambda x: x.trapezoid(dim=where) if hasattr(x, "trapezoid") else x,
    ])(x)  # fmt: skip


def view(d, x):
    where, other = axis(d, x), axis(d, x)
    extent = x.shape[where] if x.dim() else 1
    shift = d.randint(-4, 4)
    return d.choice([
        lambda x: x.transpose(where, other), lambda x: x.roll(shift, where), lambda x: x.roll(shift), lambda x: x.flip(where), lambda x: x.unsqueeze(where), lambda x: x.squeeze(), lambda x: x.squeeze(where), lambda x: x.narrow(where, 0, max(extent - 1, 1)),
        lambda x: x.select(where, d.randrange(-extent, extent)), lambda x: x[..., -1], lambda x: x[1:], lambda x: x[-2:, ...], lambda x: x[..., ::2], lambda x: x[None], lambda x: x.repeat_interleave(2, where), lambda x: x.repeat((2,) * x.dim()), lambda x: x.tile(3), lambda x: torch.cat([x, x.flip(where)], where), lambda x: torch.stack([x, x], where),
        lambda x: F.pad(x, (1, 2), value=3), lambda x: F.pad(x, (-1, 1)), lambda x: F.pad(x, (2, -1, 0, 1), value=-1), lambda x: F.pad(x[None], (1, 1), mode="reflect"), lambda x: F.pad(x[None], (1, 2), mode="replicate"), lambda x: F.pad(x[None], (1, 1), mode="circular"), lambda x: x.unfold(where, 2, 1), lambda x: x.tril(shift), lambda x: x.triu(shift),
        lambda x: x.diagonal(offset=d.randint(-1, 1)), lambda x: torch.diag(x), lambda x: x.reshape(-1, 2), lambda x: x.movedim(where, other), lambda x: x.chunk(2, where)[-1], lambda x: x.split(2, where)[0], lambda x: x.expand(2, *x.shape), lambda x: x.unflatten(where, (-1, 1)), lambda x: torch.rot90(x), lambda x: x.swapaxes(where, other), lambda x: torch.broadcast_to(x, (3, *x.shape)),
        lambda x: torch.trace(x), lambda x: x.unbind(where)[-1], lambda x: x.diag_embed(), lambda x: x.index_select(where, torch.tensor([extent - 1, 0])), lambda x: x[torch.tensor([0, -1])], lambda x: x.index_fill(where, torch.tensor([0]), 2), lambda x: torch.take(x, torch.tensor([0, 3])), lambda x: x[:, None, torch.tensor([1, 0])], lambda x: x[torch.tensor([0, 1]), torch.tensor([[1], [0]])],
        lambda x: x.gather(where, torch.zeros_like(x, dtype=torch.int64)), lambda x: x.scatter(where, torch.zeros_like(x, dtype=torch.int64), 1), lambda x: x.scatter_add(where, torch.zeros_like(x, dtype=torch.int64), x), lambda x: x.index_add(where, torch.tensor([0]), x.narrow(where, 0, 1)), lambda x: x.argsort(where), lambda x: F.one_hot(x.long().abs().clamp(max=2), 3), lambda x: torch.block_diag(x, x), lambda x: x.cross(x) if x.shape[-1] == 3 else x,
        lambda x: assigned(x, where), lambda x: x.as_strided((2, 2), (1, 2)), lambda x: torch.vander(x) if x.dim() == 1 else x, lambda x: torch.meshgrid(x.flatten(), x.flatten(), indexing="ij")[1], lambda x: torch.tensor_split(x, 2, where)[0], lambda x: torch.hstack([x, x]), lambda x: torch.column_stack([x, x]), lambda x: torch.cartesian_prod(x.flatten(), x.flatten()), lambda x: x.masked_scatter(x > 0, x),
    ])(x)  # fmt: skip


def assigned(x, where):
    y = x.clone()
    y.select(where, -1).fill_(1)
    y[..., ::2] += 1
    y[0] = y[-1] * 2
    return y


def layer(d, x):
    """Applies a layer to a picture made of the values."""
    picture = x.double().flatten()[:48]
    picture = F.pad(picture, (0, 48 - picture.numel())).reshape(1, 2, 4, 6)
    k, s, p, w = (d.randint(1, 3) for _ in range(4))
    p = min(p, k // 2)
    kernel = torch.arange(2 * 2 * k * k, dtype=torch.float64).reshape(2, 2, k, k) % 5 - 2
    return d.choice([
        lambda t: F.max_pool2d(t, k, s, p, d.randint(1, 2), ceil_mode=d.random() < 0.5), lambda t: F.avg_pool2d(t, k, s, p, d.random() < 0.5, d.random() < 0.5, d.choice((None, 2))), lambda t: F.conv2d(t, kernel, None, s, d.randint(0, 2), d.randint(1, 2)), lambda t: F.conv2d(t, kernel[:, :1], None, s, p, groups=2),
        lambda t: F.conv_transpose2d(t, kernel, None, s, p, d.randint(0, s - 1)), lambda t: F.conv_transpose2d(t, kernel[:, :1], None, s, d.randint(0, 2), 0, 2, w), lambda t: F.adaptive_avg_pool2d(t, (k, s)), lambda t: F.adaptive_max_pool2d(t, (k, s)), lambda t: F.interpolate(t, scale_factor=w, mode="nearest"), lambda t: F.interpolate(t, size=(3, 4)), lambda t: F.interpolate(t, scale_factor=1.5),
        lambda t: F.interpolate(t, scale_factor=2, mode="bilinear"), lambda t: F.interpolate(t, size=(8, 9), mode="bilinear", align_corners=True), lambda t: F.interpolate(t, scale_factor=2, mode="nearest-exact"), lambda t: F.pixel_shuffle(t.reshape(1, 4, 2, 6), 2), lambda t: F.pixel_unshuffle(t, 2), lambda t: F.unfold(t, k, 1, p, s), lambda t: F.fold(F.unfold(t, 2, 1, 0, 2), (4, 6), 2, 1, 0, 2), lambda t: F.layer_norm(t, (6,)), lambda t: F.layer_norm(t, (4, 6), kernel.flatten()[:24].reshape(4, 6) if k == 3 else None),
        lambda t: F.group_norm(t, d.randint(1, 2)), lambda t: F.instance_norm(t), lambda t: F.batch_norm(t, None, None, training=True), lambda t: F.local_response_norm(t, 2), lambda t: F.normalize(t, d.choice((1.0, 2.0)), dim=d.randrange(-4, 4)), lambda t: F.lp_pool2d(t.abs(), 2, k), lambda t: F.softmin(t, 1), lambda t: F.channel_shuffle(t, 2), lambda t: F.cosine_similarity(t[:, :1], t[:, 1:], 2), lambda t: F.pairwise_distance(t[0, 0], t[0, 1]),
        lambda t: F.embedding(t[0, 0].abs().long().clamp(max=3), kernel.flatten()[:8].reshape(4, 2)[:4] if k > 1 else torch.arange(8.0, dtype=torch.float64).reshape(4, 2)), lambda t: F.glu(t, d.randrange(-4, 4)), lambda t: F.cross_entropy(t[0, 0], t[0, 1, :, 0].abs().long().clamp(max=5), label_smoothing=d.choice((0.0, 0.1)), reduction=d.choice(("mean", "sum", "none"))), lambda t: F.nll_loss(t[0, 0], t[0, 1, :, 0].abs().long().clamp(max=5), ignore_index=d.choice((-100, 1))), lambda t: torch.einsum("abcd,abde->ace", t, t.mT), lambda t: torch.cov(t[0, 0]) + 0, lambda t: F.kl_div(t, t.abs() + 1, reduction="sum", log_target=d.random() < 0.5), lambda t: F.hinge_embedding_loss(t, t.sign()),
        lambda t: F.scaled_dot_product_attention(t, t, t, is_causal=d.random() < 0.5), lambda t: F.scaled_dot_product_attention(t, t, t, attn_mask=t[0, 0, :, :4] > 0), lambda t: torch.cumulative_trapezoid(t), lambda t: F.poisson_nll_loss(t, t.abs()), lambda t: F.smooth_l1_loss(t, t * 0.5, beta=0.7), lambda t: F.huber_loss(t, -t, delta=0.3), lambda t: F.gaussian_nll_loss(t, t * 2, t.abs() + 1),
    ])(picture)  # fmt: skip


def program(seed):
    """Returns a random function and its arguments."""
    d = random.Random(seed)
    shape = [d.randint(1, 4) for _ in range(d.randint(1, 3))]
    other = [n if d.random() < 0.7 else 1 for n in shape][d.randrange(len(shape)) :]
    kinds = [d.choice(TYPES) for _ in range(2)]
    plan = [d.choice("uuubbbrrvvvl") for _ in range(d.randint(1, 3))]
    numbers = d.randrange(1 << 60)

    def function(x, y):
        d = random.Random(numbers)
        for step in plan:
            if step == "u":
                x = d.choice(UNARY)(x)
            elif step == "b":
                x = d.choice(BINARY)(*((x, y) if d.random() < 0.7 else (y, x)))
            else:
                x = {"r": reduction, "v": view, "l": layer}[step](d, x)
        return x

    return function, (drawn(d, shape, kinds[0]), drawn(d, other, kinds[1]))


def drawn(d, shape, dtype):
    """Returns a tensor with ties, zeros, and the ends of the range."""
    count = int(np.prod(shape))
    if dtype == torch.bool:
        return torch.tensor([d.random() < 0.5 for _ in range(count)]).reshape(shape)
    if dtype.is_floating_point:
        return torch.tensor([d.choice((0.0, 0.5, 1.0, -1.5, 2.0, -2.0, d.uniform(-3, 3))) for _ in range(count)], dtype=dtype).reshape(shape)
    ends = torch.iinfo(dtype)
    low = 0 if ends.min == 0 else -5
    values = [d.choice((d.randint(low, 5), d.randint(low, 5), 0, ends.max, ends.min if d.random() < 0.5 else 1)) for _ in range(count)]
    if dtype in (torch.int64,):  # the evaluator has no wider integers
        values = [n if abs(n) < 100 else 100 for n in values]
    return torch.tensor(values, dtype=dtype).reshape(shape)


def judged(seed):
    """Returns "right", "unknown", "invalid" or the difference."""
    function, arguments = program(seed)
    try:
        with torch.no_grad():
            want = function(*(one.clone() for one in arguments))
    except Exception:
        return "invalid"
    if not isinstance(want, torch.Tensor) or want.dtype.is_complex:
        return "invalid"
    try:
        traced = trace(function, *arguments, names=["x", "y"])
    except Untraceable as error:
        return "unknown", error
    values = {name: traced.contents[name] for name in traced.contents}
    values.update(zip(("x", "y"), (one.numpy() for one in arguments)))
    try:
        with np.errstate(all="ignore"):
            got = evaluate(traced.formula, {name: values[name] for name, _, _ in traced.inputs}, {name: shape for name, _, shape in traced.outputs})["y" if "y" in dict((n, 0) for n, _, _ in traced.outputs) else traced.outputs[0][0]]
    except Exception as error:  # a formula that has no value here
        return "undefined", f"{error}\n{traced.formula}\n{want}"
    # A stored integer keeps its low bits.
    got = got if want.dtype.is_floating_point or want.dtype == torch.bool else got.astype(np.int64).astype(want.numpy().dtype)
    expected = want.to(torch.int64).numpy() if want.dtype == torch.bool else want.numpy()
    finite = np.isfinite(expected.astype(float))
    # Over the reals, infinities and NaN are outside of what a formula says.
    if np.allclose(np.where(finite, got, 0), np.where(finite, expected, 0), rtol=1e-9, atol=1e-9, equal_nan=True):
        return "right"
    return "wrong", f"{traced.formula}\n{arguments}\ntorch {want}\nformula {got}"


def main():
    """Prints the score, and what differs."""
    warnings.simplefilter("ignore")
    torch.set_default_dtype(torch.float64)
    score: dict[str, int] = {}
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        answer = judged(seed)
        name = answer if isinstance(answer, str) else answer[0]
        score[name] = score.get(name, 0) + 1
        if name in ("wrong", "undefined") or "-v" in sys.argv and name == "unknown":
            print(f"{seed}: {name}: {answer[1]}", flush=True)
    print(score)
    return 1 if score.get("wrong") else 0


if __name__ == "__main__":
    sys.exit(main())
