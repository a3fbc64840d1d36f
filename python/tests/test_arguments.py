"""Arguments: Python values in the command line's notation."""

from __future__ import annotations

import numpy as np
import pytest
import warpproof as wp
from warpproof.arguments import Files, text

CASES = [
    (wp.f32(4, 256), "a=f32[4,256]"),
    (wp.f32(4, 256, strides=(512, 1)), "a=f32[4,256]@[512,1]"),
    (wp.f32(), "a=f32"),
    (wp.scalar("f16", 0.5), "a=f16=0.5"),
    (wp.out(4), "a=f32[4]:out"),
    (wp.out(4, dtype="float16", initial=0), "a=f16[4]:out=0"),
    (wp.out(4, initial=float("-inf")), "a=f32[4]:out=-inf"),
    (wp.inout(2, 2, dtype=np.float64), "a=f64[2,2]:inout"),
    (wp.scratch(8, dtype="bf16"), "a=bf16[8]:scratch"),
    (wp.s32(8).within(0, 100).distinct(), "a=s32[8]:0..100:distinct"),
    (wp.f32(8, 8).lower(), "a=f32[8,8]:lower"),
    (wp.f32(8, 8).upper(), "a=f32[8,8]:upper"),
    (wp.f32(8, 8).symmetric(), "a=f32[8,8]:symmetric"),
    (wp.tensor(np.int64, 3), "a=s64[3]"),
    (np.zeros((4, 6), "f2"), "a=f16[4,6]"),
    (np.zeros((4, 6), "u1")[:, ::2], "a=u8[4,3]@[6,2]"),
    (np.zeros((4, 6)).T, "a=f64[6,4]@[1,6]"),
    (wp.out(np.zeros((4, 6), "i4")), "a=s32[4,6]:out"),
    (np.float32(0.5), "a=0.5"),
    (np.int64(7), "a=7"),
    (np.array(7), "a=7"),
    (512, "a=512"),
    (True, "a=1"),
    (-0.125, "a=-0.125"),
    ("f32[4]:out", "a=f32[4]:out"),
    ("a=f32[4]:out", "a=f32[4]:out"),
    ("?", "a=?"),
]


@pytest.mark.parametrize(("value", "written"), CASES, ids=[written for _, written in CASES])
def test_values_are_written_as_the_command_line_takes_them(value, written):
    assert text("a", value, Files()) == written


def test_contents_are_given_only_if_asked_for(tmp_path):
    array = np.arange(4, dtype="f4")
    with Files() as files:
        written = text("a", wp.known(array), files)
        path = written.partition("@")[2]
        assert written.startswith("a=f32[4]=@") and np.array_equal(np.load(path), array)
        assert files.without_paths(f"`{path}` is there") == "`a.npy` is there"
    with pytest.raises(FileNotFoundError):
        np.load(path)


def test_rounding_to_bf16_is_to_nearest_even():
    from warpproof import _arrays

    bits = np.array([0x3F800000, 0x3F808000, 0x3F818000, 0x3F808001, 0x7F800000, 0x7FC00000, 0x80000000], "u4")
    raw = _arrays.encoded(bits.view("f4"), "bf16")
    assert raw.view("u2").tolist() == [0x3F80, 0x3F80, 0x3F82, 0x3F81, 0x7F80, 0x7FC0, 0x8000]
    back = _arrays.decoded(raw, "bf16")
    assert back.dtype == np.float32 and back[0] == 1 and np.isinf(back[4]) and np.isnan(back[5])


def test_element_types_have_other_names():
    from warpproof.arguments import dtype_name

    for name in ("f32", "float32", "torch.float32", np.float32, np.dtype("f4")):
        assert dtype_name(name) == "f32"
    with pytest.raises(wp.UsageError, match="complex64"):
        dtype_name(np.dtype("complex64"))


def test_negative_strides_are_refused():
    with pytest.raises(wp.UsageError, match="negative strides"):
        text("a", np.zeros(4)[::-1], Files())
