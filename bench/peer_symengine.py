"""SymEngine on the condition of a row of the papers' tables: `bench papers --peers` asks it.

    python bench/peer_symengine.py sums OUTPUTS TERMS CAP
    python bench/peer_symengine.py products ROWS COLUMNS DEPTH CAP
    python bench/peer_symengine.py convolution HEIGHT WIDTH CHANNELS FILTERS CAP
    python bench/peer_symengine.py attention QUERIES WIDTH KEYS CAP

Builds each output as both kernels compute it and compares; prints the seconds and the share of the outputs that was done
when CAP seconds were over. All summands of a sum are added at once, SymEngine's best case; for attention, numerators and
denominators are compared after multiplying by e^m, so that no quotient has to be decided, and maxima are symbols.
"""

import sys
import time

from symengine import Add, Symbol, exp, expand


def matrix(name, rows, columns):
    return [[Symbol(f"{name}{i}_{j}") for j in range(columns)] for i in range(rows)]


def sums(outputs, terms):
    x = matrix("x", outputs, terms)
    yield None
    for row in x:
        yield Add(*row) == Add(*(row[k] + row[k + terms // 2] for k in range(terms // 2)))


def products(rows, columns, depth):
    a, b = matrix("a", rows, depth), matrix("b", depth, columns)
    yield None
    for i in range(rows):
        for j in range(columns):
            forward = Add(*(a[i][k] * b[k][j] for k in range(depth)))
            yield forward == Add(*(b[k][j] * a[i][k] for k in reversed(range(depth))))


def convolution(height, width, channels, filters):
    x = [matrix(f"x{row}_", width, channels) for row in range(height)]
    w = [matrix(f"w{tap}_", channels, filters) for tap in range(9)]
    yield None
    for pixel in range(height * width):
        near = []
        for tap in range(9):
            row, column = pixel // width + tap // 3 - 1, pixel % width + tap % 3 - 1
            if 0 <= row < height and 0 <= column < width:
                near.append((tap, x[row][column]))
        for f in range(filters):
            forward = Add(*(p[c] * w[tap][c][f] for tap, p in near for c in range(channels)))
            yield forward == Add(*(w[tap][c][f] * p[c] for tap, p in reversed(near) for c in range(channels)))


def attention(queries, width, keys, block=64):
    q, k, v = matrix("q", queries, width), matrix("k", keys, width), matrix("v", keys, width)
    yield None
    for i in range(queries):
        scores = [Add(*(q[i][e] * k[j][e] / 8 for e in range(width))) for j in range(keys)]
        largest = Symbol(f"m{i}")
        weights = [exp(score - largest) for score in scores]
        for e in range(width):
            naive = expand(exp(largest) * Add(*(weights[j] * v[j][e] for j in range(keys))))
            online, maximum = 0, Symbol(f"m{i}_0")
            for first in range(0, keys, block):
                after = Symbol(f"m{i}_{first + block}")
                tile = range(first, min(first + block, keys))
                part = Add(*(exp(scores[j] - after) * v[j][e] for j in tile))
                online, maximum = expand(online * exp(maximum - after)) + part, after
            yield naive == expand(exp(maximum) * online)


OUTPUTS = {
    "sums": lambda n, _: n,
    "products": lambda rows, columns, _: rows * columns,
    "convolution": lambda height, width, _, filters: height * width * filters,
    "attention": lambda queries, width, _: queries * width,
}


def main():
    name, *sizes, cap = sys.argv[1:]
    sizes, cap = [int(size) for size in sizes], float(cap)
    total, done = OUTPUTS[name](*sizes), 0
    comparisons = globals()[name](*sizes)
    next(comparisons)  # Symbols are not counted.
    started = time.perf_counter()
    for equal in comparisons:
        if not equal:
            sys.exit(f"{name}: output {done} is not found equal")
        done += 1
        if time.perf_counter() - started > cap:
            break
    print(time.perf_counter() - started, done / total)


if __name__ == "__main__":
    main()
