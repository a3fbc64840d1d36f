"""Makes the kernels of VOLTA's Table 5: matrix products by TileLang, for each tile size one with plain arithmetic and one
on tensor cores.

    pip install tilelang==0.1.15 nvidia-cuda-nvcc nvidia-cuda-cccl
    CUDA_HOME=.../nvidia/cu13 python generate.py

No GPU is needed. TileLang imports torch; corpus/ptx/tilelang/stub is enough of it (PYTHONPATH). Writes simt_*.ptx and
mma_*.ptx beside this file; the CUDA C++ that TileLang wrote on the way is not kept.
"""

import os
import re
import subprocess
import tempfile

import tilelang
import tilelang.language as T
from tilelang import tvm

FOLDER = os.path.dirname(os.path.abspath(__file__))
ARCHITECTURE = "sm_80"
# Rows and columns of a tile, the summands between two barriers, and all summands: with these the numbers of barriers and
# of warp instructions are those of the paper.
TILES = [(32, 32, 32, 1024), (64, 32, 32, 2048), (64, 64, 32, 4096)]


def plain(rows, columns, inner, depth):
    """A tile of C by multiplications and additions of single elements."""

    @T.prim_func
    def simt(A: T.Tensor((rows, depth), "float16"), B: T.Tensor((depth, columns), "float16"), C: T.Tensor((rows, columns), "float32")):
        with T.Kernel(1, threads=128) as _:
            left = T.alloc_shared((rows, inner), "float16")
            right = T.alloc_shared((inner, columns), "float16")
            sums = T.alloc_fragment((rows, columns), "float32")
            T.clear(sums)
            for step in T.serial(depth // inner):
                T.copy(A[0, step * inner], left)
                T.copy(B[step * inner, 0], right)
                for k in T.serial(inner):
                    for i, j in T.Parallel(rows, columns):
                        sums[i, j] += T.Cast("float32", left[i, k]) * T.Cast("float32", right[k, j])
            T.copy(sums, C[0, 0])

    return simt


def tensor_cores(rows, columns, inner, depth):
    """The same tile by T.gemm, with copies that run ahead."""

    @T.prim_func
    def mma(A: T.Tensor((rows, depth), "float16"), B: T.Tensor((depth, columns), "float16"), C: T.Tensor((rows, columns), "float32")):
        with T.Kernel(1, threads=128) as _:
            left = T.alloc_shared((rows, inner), "float16")
            right = T.alloc_shared((inner, columns), "float16")
            sums = T.alloc_fragment((rows, columns), "float32")
            T.clear(sums)
            for step in T.Pipelined(depth // inner, num_stages=2):
                T.copy(A[0, step * inner], left)
                T.copy(B[step * inner, 0], right)
                T.gemm(left, right, sums)
            T.copy(sums, C[0, 0])

    return mma


def compile_to(path, function):
    target = tvm.target.Target({"kind": "cuda", "arch": ARCHITECTURE})
    with target:
        source = tilelang.lower(function, target=target, enable_device_compile=False).kernel_source
    package = os.path.dirname(tilelang.__file__)
    includes = [f"-I{package}/src", f"-I{package}/3rdparty/cutlass/include"]
    with tempfile.TemporaryDirectory() as folder:
        kernel = os.path.join(folder, "kernel.cu")
        with open(kernel, "w") as file:
            file.write(source)
        nvcc = os.path.join(os.environ["CUDA_HOME"], "bin", "nvcc")
        subprocess.run([nvcc, "-std=c++17", "-ptx", f"-arch={ARCHITECTURE}", *includes, kernel, "-o", path], check=True)
    shared = re.findall(r"buf_dyn_shmem \+ (\d+)", source)
    print(os.path.basename(path), len(source.splitlines()), "lines of CUDA C++, shared memory at", shared)


def main():
    for tile in TILES:
        name = "x".join(map(str, tile[:3]))
        compile_to(os.path.join(FOLDER, f"simt_{name}.ptx"), plain(*tile))
        compile_to(os.path.join(FOLDER, f"mma_{name}.ptx"), tensor_cores(*tile))


if __name__ == "__main__":
    main()
