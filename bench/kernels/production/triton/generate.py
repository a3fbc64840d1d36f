"""Makes the kernels of the Triton table: clean.ptx, and racy.ptx, the same with one barrier as a comment.

    pip install triton==3.9.0
    python generate.py [NAME...]

No GPU is needed. Writes NAME/clean.ptx and NAME/racy.ptx beside this file.
"""

import os
import re
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = os.path.dirname(os.path.abspath(__file__))


@triton.jit
def softmax(x, o, stride, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    inside = c < n
    v = tl.load(x + row * stride + c, mask=inside, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * stride + c, e / tl.sum(e, 0), mask=inside)


@triton.jit
def cross_entropy(logits, target, loss, stride, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(logits + row * stride + c, mask=c < n, other=-float("inf"))
    m = tl.max(v, 0)
    s = tl.sum(tl.exp(v - m), 0)
    t = tl.load(target + row)
    tl.store(loss + row, m + tl.log(s) - tl.load(logits + row * stride + t))


@triton.jit
def layernorm(x, w, b, o, stride, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    inside = c < n
    v = tl.load(x + row * stride + c, mask=inside, other=0.0)
    mean = tl.sum(v, 0) / n
    d = tl.where(inside, v - mean, 0.0)
    var = tl.sum(d * d, 0) / n
    y = d * tl.rsqrt(var + eps) * tl.load(w + c, mask=inside) + tl.load(b + c, mask=inside)
    tl.store(o + row * stride + c, y, mask=inside)


@triton.jit
def flash(Q, K, V, O, scale, sh, sr, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    pm = tl.program_id(0)
    h = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    q = tl.load(Q + h * sh + rm[:, None] * sr + rd[None, :])
    kp = K + h * sh + rn[None, :] * sr + rd[:, None]
    vp = V + h * sh + rn[:, None] * sr + rd[None, :]
    m = tl.full((BM,), -float("inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    qs = scale * 1.44269504
    hi = (pm + 1) * BM if CAUSAL else N
    for n0 in range(0, hi, BN):
        s = tl.dot(q, tl.load(kp + n0 * sr)) * qs
        if CAUSAL:
            s = tl.where(rm[:, None] >= n0 + rn[None, :], s, -float("inf"))
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - mn[:, None])
        al = tl.math.exp2(m - mn)
        l = l * al + tl.sum(p, 1)
        acc = acc * al[:, None]
        acc = tl.dot(p.to(tl.float16), tl.load(vp + n0 * sr), acc)
        m = mn
    tl.store(O + h * sh + rm[:, None] * sr + rd[None, :], (acc / l[:, None]).to(tl.float16))


@triton.jit
def matmul(a, b, c, K, sam, sbk, scm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    ap = a + rm[:, None] * sam + rk[None, :]
    bp = b + rk[:, None] * sbk + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(ap), tl.load(bp), acc)
        ap += BK
        bp += BK * sbk
    tl.store(c + rm[:, None] * scm + rn[None, :], acc.to(tl.float16))


@triton.jit
def rmsnorm_residual(x, r, w, o, n, eps, B: tl.constexpr):
    # Normalises x + r by its root mean square, then the result by its largest absolute value (as quantisation does).
    row = tl.program_id(0)
    c = tl.arange(0, B)
    inside = c < n
    v = tl.load(x + row * n + c, mask=inside, other=0.0) + tl.load(r + row * n + c, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    y = v * scale * tl.load(w + c, mask=inside, other=0.0)
    top = tl.max(tl.abs(y), 0)
    tl.store(o + row * n + c, y / top, mask=inside)


@triton.jit
def groupnorm(x, w, b, o, HW, eps, CG: tl.constexpr, B: tl.constexpr):
    # One program for each (image, group): CG channels of HW pixels.
    g = tl.program_id(0)
    c = tl.arange(0, CG)
    p = tl.arange(0, B)
    inside = (p < HW)[None, :] & (c >= 0)[:, None]
    at = g * CG * HW + c[:, None] * HW + p[None, :]
    v = tl.load(x + at, mask=inside, other=0.0)
    n = CG * HW
    mean = tl.sum(tl.sum(v, 1), 0) / n
    d = tl.where(inside, v - mean, 0.0)
    var = tl.sum(tl.sum(d * d, 1), 0) / n
    scale = tl.rsqrt(var + eps)
    y = d * scale * tl.load(w + c)[:, None] + tl.load(b + c)[:, None]
    tl.store(o + at, y, mask=inside)


C = "constexpr"
f, h, i = "*fp32", "*fp16", "i32"
FL = dict(Q=h, K=h, V=h, O=h, scale="fp32", sh=i, sr=i, N=i, BM=C, BN=C, D=C, CAUSAL=C)
jobs = {
    "softmax": (softmax, dict(x=f, o=f, stride=i, n=i, B=C), dict(B=4096), dict(num_warps=8)),
    "cross_entropy": (cross_entropy, dict(logits=f, target="*i32", loss=f, stride=i, n=i, B=C), dict(B=32768), dict(num_warps=16)),
    "layernorm": (layernorm, dict(x=f, w=f, b=f, o=f, stride=i, n=i, eps="fp32", B=C), dict(B=8192), dict(num_warps=8)),
    "flash32": (flash, FL, dict(BM=32, BN=32, D=32, CAUSAL=False), dict(num_warps=4, num_stages=2)),
    "flash32_causal": (flash, FL, dict(BM=32, BN=32, D=32, CAUSAL=True), dict(num_warps=4, num_stages=2)),
    "flash64": (flash, FL, dict(BM=32, BN=32, D=64, CAUSAL=False), dict(num_warps=4, num_stages=2)),
    "gemm128": (matmul, dict(a=h, b=h, c=h, K=i, sam=i, sbk=i, scm=i, BM=C, BN=C, BK=C), dict(BM=128, BN=128, BK=32), dict(num_warps=8, num_stages=2)),
    "rmsnorm": (rmsnorm_residual, dict(x=f, r=f, w=f, o=f, n=i, eps="fp32", B=C), dict(B=4096), dict(num_warps=8)),
    "groupnorm": (groupnorm, dict(x=f, w=f, b=f, o=f, HW=i, eps="fp32", CG=C, B=C), dict(CG=8, B=256), dict(num_warps=8)),
}
# Which barrier, counted from 1, the racy twin lacks: one between two reductions or two tiles, of the matrix product the first.
removed = {"softmax": 2, "cross_entropy": 2, "layernorm": 2, "flash32": 2, "flash32_causal": 2, "flash64": 3, "gemm128": 1, "rmsnorm": 2, "groupnorm": 4}


def strip(ptx):
    # No debug sections, and names of files without folders; .loc and .file are kept.
    ptx = re.split(r"\n\s*\.section", ptx)[0] + "\n"
    return re.sub(r"(\.file\s+\d+ \")[^\"]*/", r"\1", ptx)


def without(ptx, number):
    # The PTX with a barrier commented out.
    parts = re.split(r"^(\s*bar\.sync\s+0;)", ptx, flags=re.M)
    parts[2 * number - 1] = "\t// removed: bar.sync 0;"
    return "".join(parts)


def write(name, variant, ptx):
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, variant + ".ptx"), "w") as file:
        file.write(ptx)


for name in sys.argv[1:] or jobs:
    fn, signature, constants, options = jobs[name]
    attributes = {(n,): [["tt.divisibility", 16]] for n, t in enumerate(signature.values()) if t.startswith("*") or t == "i32"}
    source = ASTSource(fn=fn, signature=signature, constexprs=constants, attrs=attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32), options=options)
    clean = strip(compiled.asm["ptx"])
    write(name, "clean", clean)
    write(name, "racy", without(clean, removed[name]))
    print(name, "--smem", compiled.metadata.shared)
