"""Compares the program's reading of formulas with that of the tests' evaluator, exactly; run by hand.

`python against_program.py --program warpproof`. Formulas of traced functions are evaluated on small integers, where
doubles are exact. A kernel that copies the result of the Python evaluator must be proved equal to the formula on the
same contents, and refuted with one element changed. Needs torch, no GPU.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import conftest  # noqa: E402, F401
import numpy as np  # noqa: E402
import torch  # noqa: E402
from evaluate import evaluate  # noqa: E402

from warpproof.trace.torch import trace  # noqa: E402

F, nn = torch.nn.functional, torch.nn

COPY = """.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 e, .param .u64 y, .param .u32 n)
{
 .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<6>; .reg .f64 %f<2>;
 ld.param.u64 %d1, [e]; ld.param.u64 %d2, [y]; ld.param.u32 %r1, [n];
 mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
 setp.ge.s32 %p, %r5, %r1;
 @%p bra $done;
 cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2;
 mul.wide.s32 %d3, %r5, 8; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
 ld.global.f64 %f1, [%d4]; st.global.f64 [%d5], %f1;
$done:
 ret;
}
"""


def r(*shape):
    return torch.randint(-4, 5, shape).double()


def whole(layer):
    """Gives a layer integer parameters."""
    for parameter in layer.double().parameters():
        parameter.data = torch.randint(-3, 4, parameter.shape).double()
    return layer


def cases():
    x, sq, im = r(3, 4), r(4, 4), r(1, 2, 4, 6)
    yield from ((f, (x,)) for f in (
        lambda x: x.sum(1), lambda x: x.cumsum(1), lambda x: torch.cat([x, x * 2, -x], 1), lambda x: F.pad(x, (1, 2, 0, 1), value=3.0), lambda x: x.reshape(6, 2).T.reshape(-1),
        lambda x: torch.where(x > 0, x * x, -x), lambda x: x.roll(1, 1) - x.roll(-1, 0), lambda x: x.amax(1) - x.amin(1), lambda x: x.prod(1), lambda x: (x > 0).sum(1).double(),
        lambda x: x.argmax(1).double(), lambda x: x.argmin(0).double(), lambda x: ((x > 0).any(1) | (x < -2).all(1)).double(), lambda x: x.clamp(-1, 2).abs() + x.sign(),
        lambda x: x.unfold(1, 2, 1).sum(2), lambda x: F.relu(x) + F.hardtanh(x) + F.leaky_relu(x, 0.5), lambda x: x.repeat(2, 2)[1:5, ::3], lambda x: x[:, torch.tensor([2, 0, 1])],
        lambda x: torch.arange(4) * x + torch.arange(3)[:, None] // 2, lambda x: x**3 - x**2, lambda x: torch.einsum("ij,kj->ik", x, x), lambda x: x.flip(1).cumsum(1).flip(1),
        lambda x: x.cumprod(1), lambda x: x.max(1)[0] + x.min(0)[0].sum(),
    ))  # fmt: skip
    yield lambda a, b: a @ b, (x, r(4, 5))
    yield lambda x: torch.tril(x) + torch.triu(x, 1) * 2, (sq,)
    yield lambda x: x.diagonal(1), (sq,)
    yield lambda x: x.permute(2, 0, 1).reshape(4, 6).flip(1), (r(2, 3, 4),)
    yield lambda x: F.interpolate(x, scale_factor=2), (im,)
    for layer in (
        nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(2), nn.AvgPool2d(2, 2, 1), nn.AvgPool2d(2, 2, 1, count_include_pad=False), nn.AdaptiveAvgPool2d((2, 2)),
        whole(nn.Conv2d(2, 4, 3, padding=1, stride=2, groups=2)), whole(nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1)),
    ):  # fmt: skip
        yield layer, (im,)


def answer(program, traced, values, expected):
    """Returns the exit status of the comparison with a kernel that copies `expected`."""
    ((name, _, shape),) = traced.outputs
    size = ",".join(map(str, shape)) or "1"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "copy.ptx").write_text(COPY)
        (root / "formula.wp").write_text(traced.formula)
        np.save(root / "expected.npy", expected)
        words = [program, "equiv", "--ref", f"@{root}/formula.wp", f"{root}/copy.ptx::copy", "--timeout", "60"]
        for one, dtype, extents in traced.inputs:
            np.save(root / f"{one}.npy", values[one])
            words += ["--ref-arg", f"{one}={dtype}[{','.join(map(str, extents)) or 1}]=@{root}/{one}.npy"]
        words += ["--ref-arg", f"{name}=f64[{size}]:out", "--opt-arg", f"expected=f64[{size}]=@{root}/expected.npy"]
        words += ["--opt-arg", f"{name}=f64[{size}]:out", "--opt-arg", f"arg_n={expected.size}"]
        words += ["--opt-grid", str((expected.size + 63) // 64), "--opt-block", "64"]
        return subprocess.run(words, capture_output=True).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="warpproof")
    program = parser.parse_args().program
    torch.manual_seed(3)
    wrong = count = 0
    for function, arguments in cases():
        traced = trace(function, *arguments)
        held = dict(function.state_dict()) if isinstance(function, nn.Module) else {}
        given = [a.numpy() for a in arguments]
        values = {}
        for name, _, _ in traced.inputs:
            own = traced.contents[name] if name in traced.contents else held[traced.weights[name]].numpy() if name in traced.weights else given.pop(0)
            values[name] = np.asarray(own)
        ((output, _, shape),) = traced.outputs
        expected = np.asarray(evaluate(traced.formula, values, {output: shape})[output], dtype=np.float64)
        changed = expected.copy()
        changed.flat[count % changed.size] += 1
        found = answer(program, traced, values, expected), answer(program, traced, values, changed)
        count += 1
        if found != (0, 1):
            wrong += 1
            print(found, traced.formula)
    print(f"{count} formulas, {wrong} with another answer than proved and refuted")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
