"""Times SymEngine on the two headline comparisons, beside our own times in the same run.

    pip install symengine
    cargo build --release -p decide --example headline
    python bench/symengine_compare.py [--cap SECONDS] [--scale N]

Two ways to build a sum: *n-ary* (all summands at once, SymEngine's best case) and *binary* (one
addition at a time, which is what a program builds). N-ary runs to the end; binary stops at the cap
and is printed as a lower bound. `--scale 4` divides the sizes by 4 for a quick look.

For attention SymEngine is helped as far as it can be: numerator and denominator are compared
separately after multiplying by e^m, so that no quotient has to be decided, and scores are shared.
"""

import argparse
import re
import subprocess
import sys
import time

from symengine import Add, Symbol, exp, expand

SIDE, DEPTH = 64, 4096
ROWS, WIDTH, KEYS, BLOCK = 16, 64, 512, 64



def products(side, depth, binary, cap):
    """Seconds for side*side outputs of depth products in two orders, and the share done."""
    a = [[Symbol(f"a{i}_{k}") for k in range(depth)] for i in range(side)]
    b = [[Symbol(f"b{k}_{j}") for j in range(side)] for k in range(depth)]
    started = time.perf_counter()
    done = 0
    for i in range(side):
        for j in range(side):
            forward = [a[i][k] * b[k][j] for k in range(depth)]
            backward = [b[k][j] * a[i][k] for k in reversed(range(depth))]
            if binary:
                left, right = 0, 0
                for term in forward:
                    left = left + term
                for term in backward:
                    right = right + term
            else:
                left, right = Add(*forward), Add(*backward)
            assert left == right
            done += 1
            if time.perf_counter() - started > cap:
                return time.perf_counter() - started, done / (side * side)
    return time.perf_counter() - started, 1.0


def attention(rows, width, keys, block, binary, cap):
    """Seconds for naive against online attention, and the share done."""
    q = [[Symbol(f"q{i}_{e}") for e in range(width)] for i in range(rows)]
    k = [[Symbol(f"k{j}_{e}") for e in range(width)] for j in range(keys)]
    v = [[Symbol(f"v{j}_{e}") for e in range(width)] for j in range(keys)]
    started = time.perf_counter()
    done = 0
    for i in range(rows):
        scores = []
        for j in range(keys):
            terms = [q[i][e] * k[j][e] / 8 for e in range(width)]
            scores.append(Add(*terms))
        largest = Symbol(f"m{i}")
        naive = [exp(s - largest) for s in scores]
        for e in range(width):
            numerator = total(naive, [v[j][e] for j in range(keys)], binary)
            numerator = expand(exp(largest) * numerator)
            online = 0
            maximum = Symbol(f"m{i}_0")
            for first in range(0, keys, block):
                after = Symbol(f"m{i}_{first + block}")
                weights = [exp(s - after) for s in scores[first : first + block]]
                values = [v[j][e] for j in range(first, first + block)]
                part = total(weights, values, binary)
                online = expand(online * exp(maximum - after)) + part
                maximum = after
            online = expand(exp(maximum) * online)
            assert numerator == online
            done += 1
            if time.perf_counter() - started > cap:
                return time.perf_counter() - started, done / (rows * width)
    return time.perf_counter() - started, 1.0


def total(weights, values, binary):
    terms = [w * x for w, x in zip(weights, values)]
    if not binary:
        return Add(*terms)
    result = 0
    for term in terms:
        result = result + term
    return result


def ours(name):
    """Our seconds for the largest size of a case of the headline benchmark."""
    command = ["target/release/examples/headline", name]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(re.findall(r"decide ([0-9.]+) s", text)[-1])


def show(title, seconds, share, own):
    estimate = seconds / share
    bound = "" if share == 1.0 else f" ({100 * share:.1f} % done in {seconds:.0f} s, extrapolated)"
    ratio = f", {estimate / own:.0f} times our {own:.3f} s" if own else ""
    print(f"{title}: {estimate:.1f} s{bound}{ratio}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cap", type=float, default=120.0)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--n-ary-cap", type=float, default=float("inf"))
    options = parser.parse_args()
    scale = options.scale
    own = {}
    if scale == 1:
        own = {name: ours(name) for name in ("products", "attention")}
    for binary in (False, True):
        kind = "binary" if binary else "n-ary"
        cap = options.cap if binary else options.n_ary_cap
        timing = products(SIDE // scale, DEPTH // scale, binary, cap)
        show(f"products, {kind}", *timing, own.get("products"))
        timing = attention(ROWS // min(scale, ROWS), WIDTH // scale, KEYS // scale, BLOCK // scale, binary, cap)
        show(f"attention, {kind}", *timing, own.get("attention"))


if __name__ == "__main__":
    sys.exit(main())
