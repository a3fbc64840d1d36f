"""TileLang programs: lowered without a GPU, compiled with NVRTC, proved. Needs TileLang and NVRTC, and is run by hand."""

import sys
from pathlib import Path

import pytest

tilelang = pytest.importorskip("tilelang")
T = pytest.importorskip("tilelang.language")

sys.path.insert(0, str(Path(__file__).parents[1]))
import warpproof as wp  # noqa: E402
from documentation import blocks  # noqa: E402


def add(rows, columns, tile_rows=16, tile_columns=32, dtype="float32"):
    @T.prim_func
    def add_program(A: T.Tensor((rows, columns), dtype), B: T.Tensor((rows, columns), dtype), C: T.Tensor((rows, columns), dtype)):
        with T.Kernel(T.ceildiv(columns, tile_columns), T.ceildiv(rows, tile_rows), threads=128) as (bx, by):
            for i, j in T.Parallel(tile_rows, tile_columns):
                C[by * tile_rows + i, bx * tile_columns + j] = A[by * tile_rows + i, bx * tile_columns + j] + B[by * tile_rows + i, bx * tile_columns + j]

    return add_program


def product(rows, columns, depth, tile=32):
    @T.prim_func
    def product_program(A: T.Tensor((rows, depth), "float16"), B: T.Tensor((depth, columns), "float16"), C: T.Tensor((rows, columns), "float32")):
        with T.Kernel(T.ceildiv(columns, tile), T.ceildiv(rows, tile), threads=128) as (bx, by):
            left = T.alloc_shared((tile, tile), "float16")
            right = T.alloc_shared((tile, tile), "float16")
            sums = T.alloc_fragment((tile, tile), "float32")
            T.clear(sums)
            for step in T.Pipelined(depth // tile, num_stages=2):
                T.copy(A[by * tile, step * tile], left)
                T.copy(B[step * tile, bx * tile], right)
                T.gemm(left, right, sums)
            T.copy(sums, C[by * tile, bx * tile])

    return product_program


def test_a_program_tells_its_launch():
    launch = wp.tilelang(add(64, 96))
    assert (launch.grid, launch.block, launch.shared) == ((3, 4, 1), (128, 1, 1), None)
    assert {name: (one.dtype, one.shape, one.direction) for name, one in launch.arguments.items()} == {
        "A": ("f32", (64, 96), "in"), "B": ("f32", (64, 96), "in"), "C": ("f32", (64, 96), "out")
    }  # fmt: skip
    assert wp.tilelang(product(64, 64, 64)).shared == 8192


def test_a_program_is_proved_and_refuted():
    program = add(64, 64)
    assert wp.verify("C[i,j] = A[i,j] + B[i,j]", wp.tilelang(program)).proved
    assert wp.verify(lambda A, B: A + B, program).proved
    report = wp.verify(lambda A, B: A - B, program)
    assert report.refuted and report.counterexample.element[0] == "C"
    assert report.counterexample.replay().finished
    assert "optimised stored it at add_program_kernel.cu:" in report.text()


def test_tensor_cores_and_copies_that_run_ahead():
    program = product(64, 64, 64)
    assert wp.check(program).proved
    assert wp.verify(lambda A, B: A @ B, program).proved
    assert wp.verify(lambda A, B: A @ B.T, program).refuted


def test_a_factory_needs_sizes():
    factory = tilelang.jit(product)
    with pytest.raises(wp.UsageError, match="get_tir"):
        wp.tilelang(factory)
    assert wp.verify(lambda A, B: A @ B, wp.tilelang(factory.get_tir(32, 32, 32))).proved


def test_the_text_of_a_kernel():
    target = tilelang.tvm.target.Target({"kind": "cuda", "arch": "sm_80"})
    with target:
        text = tilelang.lower(add(64, 64), target=target, enable_device_compile=False).kernel_source
    launch = wp.tilelang(text)[(2, 4), 128](A=wp.f32(64, 64), B=wp.f32(64, 64), C=wp.out(64, 64))
    assert wp.verify("C[i,j] = A[i,j] + B[i,j]", launch).proved


def test_the_code_of_the_chapter_runs(tmp_path, monkeypatch):
    """TileLang reads the source of its functions, so it must be a file."""
    ((_, text),) = blocks("tilelang")
    (tmp_path / "tilelang_chapter.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    import tilelang_chapter  # type: ignore[import-not-found]

    assert tilelang_chapter.add is not None
