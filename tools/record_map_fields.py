#!/usr/bin/env python3
"""Records the effect of `tensormap.replace` on the bytes of a tensor map. Needs Python 3, the NVIDIA driver and a
Hopper GPU, nothing else.

    python3 tools/record_map_fields.py OUTPUT_FOLDER

writes map_fields.json, which belongs in crates/driver/tests/hopper: for each field, value and map, the 32-bit words
that change. Maps are all zeros, all ones, and random bits, so that every bit is seen to change or to stay. Then
follows a map at each multiple of 16 bytes, to learn the alignment the instruction needs.
"""

import ctypes
import json
import os
import random
import struct
import subprocess
import sys

from record_hopper import Driver

HEADER = ".version 8.3\n.target sm_90a\n.address_size 64\n"
KERNEL = """\
.visible .entry k(.param .u64 map, .param .u64 value)
{{
\t.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
\t.shared .align 128 .b8 room[256];
\tld.param.u64 %rd1, [map];
\tcvta.to.global.u64 %rd1, %rd1;
\tld.param.u64 %rd3, [value];
\tcvt.u32.u64 %r3, %rd3;
\tmov.u32 %r2, room + {offset};
\tmov.u32 %r1, %tid.x;
\tshl.b32 %r4, %r1, 2;
\tcvt.u64.u32 %rd4, %r4;
\tadd.s64 %rd5, %rd1, %rd4;
\tadd.u32 %r5, %r2, %r4;
\tld.global.u32 %r6, [%rd5];
\tst.shared.u32 [%r5], %r6;
\tbar.sync 0;
\tsetp.ne.u32 %p1, %r1, 0;
\t@%p1 bra DONE;
\ttensormap.replace.tile.{field}.shared::cta.b1024.{type} [%r2], {operands};
DONE:
\tbar.sync 0;
\tld.shared.u32 %r6, [%r5];
\tst.global.u32 [%rd5], %r6;
\tret;
}}
"""


def forms():
    """Yields field, dimension or `None`, and values. The last four fields have their value in the instruction."""
    yield "global_address", None, [0, 16, 0x123456789AB0, 0xFFFFFFFFFFFFFFF0, 7]
    yield "rank", None, [0, 1, 2, 3, 4]
    for dimension in range(5):
        yield "box_dim", dimension, [1, 2, 64, 100, 256]
        yield "global_dim", dimension, [1, 2, 1000, 0x7FFFFFFF, 0xFFFFFFFF]
        yield "element_stride", dimension, [1, 2, 5, 8]
    for dimension in range(4):
        yield "global_stride", dimension, [16, 24, 32, 1 << 20, (1 << 36) + 16, (1 << 40) - 16]
    yield "elemtype", None, range(13)
    yield "interleave_layout", None, range(3)
    yield "swizzle_mode", None, range(4)
    yield "fill_mode", None, range(2)


def text(field, dimension, value, offset=0):
    wide = field in ("global_address", "global_stride")
    is_constant = field in ("elemtype", "interleave_layout", "swizzle_mode", "fill_mode")
    operand = str(value) if is_constant else "%rd3" if wide else "%r3"
    operands = operand if dimension is None else f"{dimension}, {operand}"
    return HEADER + KERNEL.format(field=field, type="b64" if wide else "b32", operands=operands, offset=offset)


def replaced(driver, before, field, dimension, value, offset=0):
    module = driver.load(text(field, dimension, value, offset))
    buffer = driver.buffer(before)
    driver.launch(module, "k", 32, [buffer, ctypes.c_uint64(value)])
    return driver.read(buffer, 128)


def words(data):
    return struct.unpack("<32I", data)


def alignment():
    """Returns the offsets from an aligned variable, in bytes, at which the instruction works."""
    works = []
    for offset in range(0, 128, 16):
        command = [sys.executable, __file__, "--at", str(offset)]
        if subprocess.run(command, capture_output=True, timeout=60).returncode == 0:
            works.append(offset)
    return works


def main(folder):
    os.makedirs(folder, exist_ok=True)
    driver = Driver("libcuda.so.1")
    draw = random.Random(92)
    maps = [bytes(128), b"\xff" * 128] + [bytes(draw.randrange(256) for _ in range(128)) for _ in range(2)]
    changes = []
    for field, dimension, values in forms():
        for value in values:
            for number, before in enumerate(maps):
                after = replaced(driver, before, field, dimension, value)
                changed = [[at, new] for at, (old, new) in enumerate(zip(words(before), words(after))) if old != new]
                changes.append({"field": field, "dimension": dimension, "value": value, "map": number, "words": changed})
    told = {"device": f"{driver.name}, driver for CUDA {driver.version}", "works_at": alignment(), "maps": [one.hex() for one in maps]}
    with open(os.path.join(folder, "map_fields.json"), "w", encoding="utf-8") as file:
        lines = ",".join("\n  " + json.dumps(one) for one in changes)
        file.write(json.dumps(told)[:-1] + f',\n"changes": [{lines}]}}\n')
    print(f"{told['device']}: {len(changes)} changes, aligned at {told['works_at']}")


if __name__ == "__main__":
    if sys.argv[1] == "--at":
        # Faults if the map is not sufficiently aligned.
        after = replaced(Driver("libcuda.so.1"), bytes(128), "rank", None, 3, int(sys.argv[2]))
        sys.exit(0 if words(after)[2] == 0x30 else 1)
    main(sys.argv[1])
