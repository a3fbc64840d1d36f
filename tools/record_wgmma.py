#!/usr/bin/env python3
"""Records warpgroup products (wgmma) of a Hopper GPU. Needs Python 3 and the NVIDIA driver, nothing else.

    python3 tools/record_wgmma.py OUTPUT_FOLDER [SEED]

writes wgmma.ptx, wgmma.json and wgmma.bin, which belong in crates/driver/tests/hopper. A case fills shared memory
and registers with numbers determined by its seed, executes one instruction, and keeps the accumulators. Elements are
small integers, so that every sum is exact in every type, whatever the order of additions. Cases are drawn from a
seed; the committed ones have seed 91.
"""

import ctypes
import json
import os
import random
import struct
import sys

import record
from record_hopper import Driver

SEED = 91
HEADER = ".version 8.4\n.target sm_90a\n.address_size 64\n"
ROOM_A, ROOM_B = 16384, 32768  # bytes of shared memory for A, and after it for B
THREADS = 128
CHUNK = 64  # kernels compiled together
MAX_PLAIN_BYTES = 2048  # bytes of accumulators kept as they are; more are kept as a digest
SPANS = [16, 128, 64, 32]  # bytes of a row by the swizzle number in a descriptor


# Contents. The test has the same functions.

def mix(index, seed):
    """Returns a 32-bit number determined by two."""
    word = (index * 2654435761 + seed * 40503) & 0xFFFFFFFF
    word = ((word ^ word >> 15) * 0x85EBCA6B) & 0xFFFFFFFF
    return word ^ word >> 13


def code(kind, word):
    """Returns the bytes of an element of a type: an integer from -4 to 4 for floats, otherwise bits."""
    bits = {"s8": 8, "u8": 8, "b1": 32, "s32": 32}.get(kind)
    if bits:
        # Accumulators leave room for a sum.
        return (word % 2001 - 1000 if kind == "s32" else word & (1 << bits) - 1).to_bytes(bits // 8, "little", signed=kind == "s32")
    value = word % 9 - 4
    if kind == "f16":
        return struct.pack("<e", value)
    if kind in ("f32", "tf32"):
        return struct.pack("<f", value)
    if kind == "bf16":
        return struct.pack("<f", value)[2:]
    small = {"e4m3": [0, 0x38, 0x40, 0x44, 0x48], "e5m2": [0, 0x3C, 0x40, 0x42, 0x44]}[kind]
    return bytes([small[abs(value)] | (0x80 if value < 0 else 0)])


def elements(kind, length, seed):
    """Returns bytes filled with elements."""
    size = len(code(kind, 0))
    return b"".join(code(kind, mix(index, seed)) for index in range(length // size))


def metadata(kind, seed):
    """Returns the metadata of one lane: eight entries allowed by the manual."""
    entries = [0b1110, 0b0100] if kind == "tf32" else [0x4, 0x8, 0xC, 0x9, 0xD, 0xE]
    return sum(entries[mix(i, seed) % len(entries)] << 4 * i for i in range(8))


def digest(data):
    """Returns the 64 bits of FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


# Instructions.

class Form:
    """One instruction, without the numbers in its registers."""

    def __init__(self, draw, types, columns, sparse, registers):
        self.d, self.a, self.b = types
        self.columns, self.sparse, self.registers = columns, sparse, registers
        self.bits = {"f16": 16, "bf16": 16, "tf32": 32, "b1": 1}.get(self.a, 8)
        self.depth = 256 // self.bits * (2 if sparse else 1)
        self.is_float = self.d != "s32"
        self.signs = (draw.choice([1, -1]), draw.choice([1, -1])) if self.is_float else None
        both = self.bits == 16
        self.transposed = (both and not registers and draw.random() < 0.5, both and draw.random() < 0.5)
        self.saturates = self.a in ("s8", "u8") and draw.random() < 0.3
        self.selector = draw.randint(0, 1) if sparse and self.bits != 8 else 0

    def words(self):
        """The 32-bit registers of a thread's accumulators."""
        return self.columns // (4 if self.d == "f16" else 2)

    def text(self):
        accumulators = "{" + ", ".join(f"%d{i}" for i in range(self.words())) + "}"
        left = "{%a0, %a1, %a2, %a3}" if self.registers else "%rd6"
        name = "wgmma.mma_async" + (".sp" if self.sparse else "") + f".sync.aligned.m64n{self.columns}k{self.depth}"
        name += (".satfinite" if self.saturates else "") + f".{self.d}.{self.a}.{self.b}" + (".and.popc" if self.a == "b1" else "")
        operands = [accumulators, left, "%rd7"] + (["%a4", str(self.selector)] if self.sparse else []) + ["%p2"]
        if self.signs:
            operands += [str(sign) for sign in self.signs]
        if self.bits == 16:
            operands += [str(int(one)) for one in self.transposed[self.registers:]]
        return f"{name} {', '.join(operands)};"

    def kernel(self, name):
        words = self.words()
        step = 2 if words % 4 else 4
        inner = lambda i: ", ".join(f"%d{j}" for j in range(i, i + step))
        load = "".join(f"\tld.global.v{step}.b32 {{{inner(i)}}}, [%rd4+{4 * i}];\n" for i in range(0, words, step))
        store = "".join(f"\tst.global.v{step}.b32 [%rd5+{4 * i}], {{{inner(i)}}};\n" for i in range(0, words, step))
        return KERNEL.format(name=name, words=words, room=ROOM_A + ROOM_B, behind=ROOM_A, load=load, store=store,
                             stride=4 * words, operands=4 * (words + 8), a=4 * words, instruction=self.text())


KERNEL = """\
.visible .entry {name}(.param .u64 room_in, .param .u64 registers, .param .u64 out, .param .u64 da, .param .u64 db, .param .u32 add)
{{
\t.reg .pred %p<3>; .reg .b32 %r<8>; .reg .b32 %d<{words}>; .reg .b32 %a<5>; .reg .b64 %rd<10>;
\t.shared .align 1024 .b8 room[{room}];
\tld.param.u64 %rd1, [room_in];
\tcvta.to.global.u64 %rd1, %rd1;
\tmov.u32 %r1, %tid.x;
\tmov.u32 %r2, room;
\tmov.u32 %r3, %r1;
FILL:
\tmul.wide.u32 %rd2, %r3, 4;
\tadd.s64 %rd2, %rd1, %rd2;
\tld.global.u32 %r4, [%rd2];
\tmad.lo.u32 %r5, %r3, 4, %r2;
\tst.shared.u32 [%r5], %r4;
\tadd.u32 %r3, %r3, 128;
\tsetp.lt.u32 %p1, %r3, {room} / 4;
\t@%p1 bra FILL;
\tfence.proxy.async.shared::cta;
\tbar.sync 0;
\tld.param.u64 %rd4, [registers];
\tcvta.to.global.u64 %rd4, %rd4;
\tmul.wide.u32 %rd3, %r1, {operands};
\tadd.s64 %rd4, %rd4, %rd3;
{load}\
\tld.global.b32 %a0, [%rd4+{a}];
\tld.global.b32 %a1, [%rd4+{a}+4];
\tld.global.b32 %a2, [%rd4+{a}+8];
\tld.global.b32 %a3, [%rd4+{a}+12];
\tld.global.b32 %a4, [%rd4+{a}+16];
\tld.param.u64 %rd6, [da];
\tshr.u32 %r6, %r2, 4;
\tand.b32 %r6, %r6, 16383;
\tcvt.u64.u32 %rd8, %r6;
\tadd.s64 %rd6, %rd6, %rd8;
\tld.param.u64 %rd7, [db];
\tadd.u32 %r7, %r2, {behind};
\tshr.u32 %r7, %r7, 4;
\tand.b32 %r7, %r7, 16383;
\tcvt.u64.u32 %rd8, %r7;
\tadd.s64 %rd7, %rd7, %rd8;
\tld.param.u32 %r3, [add];
\tsetp.ne.u32 %p2, %r3, 0;
\twgmma.fence.sync.aligned;
\t{instruction}
\twgmma.commit_group.sync.aligned;
\twgmma.wait_group.sync.aligned 0;
\tld.param.u64 %rd5, [out];
\tcvta.to.global.u64 %rd5, %rd5;
\tmul.wide.u32 %rd3, %r1, {stride};
\tadd.s64 %rd5, %rd5, %rd3;
{store}\
\tret;
}}
"""


# Operands in shared memory.

def place(operand, row, depth):
    """Returns the byte of an element of an operand before swizzling, from the start of its descriptor.

    An element has `operand["bits"]` bits.
    """
    span, lead, stride, bits = operand["span"], operand["lead"], operand["stride"], operand["bits"]
    if not operand["transposed"]:
        inner = depth * bits // 8
        if span == 16:
            return row % 8 * 16 + row // 8 * stride + inner % 16 + inner // 16 * lead
        return row % 8 * span + row // 8 * stride + inner % span + inner // span * lead
    size = bits // 8
    if span == 16:
        return row % 8 * size + row // 8 * stride + depth % 8 * 16 + depth // 8 * lead
    wide = span // size
    return row % wide * size + row // wide * lead + depth % 8 * span + depth // 8 * stride


def draw_operand(draw, bits, rows, depth, transposed, room):
    """Draws a layout that stays inside its room, as the fields of a descriptor."""
    while True:
        swizzle = draw.randrange(4)
        span = SPANS[swizzle]
        start = 0 if draw.random() < 0.4 else 1024 * draw.randint(0, 3)
        base = 0
        if swizzle and draw.random() < 0.3:
            start, base = start + 128 * draw.randint(0, 7), draw.randint(0, 7)
        elif swizzle == 1 and not transposed and draw.random() < 0.5:
            start += 32 * draw.randint(0, 3)
        elif not swizzle and draw.random() < 0.5:
            start += 16 * draw.randint(0, 20)
        natural = 8 * span
        lead = draw.choice([16, 128, natural, 2 * natural, 16 * draw.randint(1, 120)])
        stride = draw.choice([natural, natural, 2 * natural, 16 * draw.randint(1, 120)])
        operand = {"span": span, "lead": lead, "stride": stride, "bits": bits, "transposed": transposed}
        corners = [place(operand, row, one) for row in range(rows) for one in range(0, depth, max(8 // bits, 1))]
        if start + max(corners) + 256 > room:
            continue
        fields = start >> 4 | lead >> 4 << 16 | stride >> 4 << 32 | base << 49 | swizzle << 62
        return {"descriptor": fields, "bytes": len({start + corner for corner in corners})}


TYPES = [("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32")]
TYPES += [(d, a, b) for d in ("f32", "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
TYPES += [("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")]
ONE_BIT = ("s32", "b1", "b1")


def columns_of(types):
    """Returns the widths listed in the manual for a type."""
    if types[0] != "s32":
        return list(range(8, 257, 8))
    return [8, 16, 24, 32] + list(range(48, 257, 16))


def draw_forms(draw):
    forms = []
    for types in TYPES + [ONE_BIT]:
        widths = columns_of(types)
        for sparse in (False, True):
            if sparse and types == ONE_BIT:
                continue
            for registers in (False, True):
                # 16-bit types also have transpositions to try.
                for _ in range(8 if types[1] in ("f16", "bf16") else 3):
                    forms.append(Form(draw, types, draw.choice(widths[:4]), sparse, registers))
                forms.append(Form(draw, types, draw.choice(widths[4:]), sparse, registers))
    for types in TYPES[:1] + [ONE_BIT]:
        forms += [Form(draw, types, columns, False, False) for columns in columns_of(types)]
    return forms


def draw_cases(seed):
    draw = random.Random(seed)
    cases = []
    for number, form in enumerate(draw_forms(draw)):
        for _ in range(1 if form.columns > 32 else 3):
            left = draw_operand(draw, form.bits, 64, form.depth // (2 if form.sparse else 1), form.transposed[0], ROOM_A)
            right = draw_operand(draw, form.bits, form.columns, form.depth, form.transposed[1], ROOM_B)
            case = {"kernel": f"product_{number}", "types": [form.d, form.a, form.b], "columns": form.columns, "depth": form.depth,
                    "sparse": form.sparse, "registers": form.registers, "da": left["descriptor"], "db": right["descriptor"],
                    "add": draw.randint(0, 1), "words": form.words()}
            cases.append((form, case))
    return cases


# The device.

def registers_of(form, seed):
    """Returns the contents of each thread's registers: accumulators, A, metadata, then 12 unused bytes."""
    data = b""
    for thread in range(THREADS):
        data += elements(form.d, 4 * form.words(), seed + 3 * thread + 1000)
        data += elements(form.a, 16, seed + 3 * thread + 1001)
        data += struct.pack("<IIII", metadata(form.a, seed + 3 * thread + 1002), 0, 0, 0)
    return data


def run_case(driver, module, form, case, seed):
    room = driver.buffer(elements(form.a, ROOM_A, seed) + elements(form.b, ROOM_B, seed + 1))
    registers = driver.buffer(registers_of(form, seed))
    length = THREADS * 4 * form.words()
    out = driver.buffer(bytes(length))
    arguments = [room, registers, out, ctypes.c_uint64(case["da"]), ctypes.c_uint64(case["db"]), ctypes.c_uint32(case["add"])]
    driver.launch(module, case["kernel"], THREADS, arguments)
    result = driver.read(out, length)
    for buffer in (room, registers, out):
        driver.call("cuMemFree_v2", buffer)
    return result


def main(folder, seed):
    os.makedirs(folder, exist_ok=True)
    cases = draw_cases(seed)
    texts = {case["kernel"]: form.kernel(case["kernel"]) for form, case in cases}
    driver = Driver("libcuda.so.1")
    data, told, names = bytearray(), [], list(texts)
    modules = {}
    for first in range(0, len(names), CHUNK):
        module = driver.load(HEADER + "".join(texts[name] for name in names[first:first + CHUNK]))
        modules.update({name: module for name in names[first:first + CHUNK]})
    for number, (form, case) in enumerate(cases):
        result = run_case(driver, modules[case["kernel"]], form, case, number * 7919)
        entry = case | {"seed": number * 7919, "digest": f"{digest(result):016x}"}
        if len(result) <= MAX_PLAIN_BYTES:
            entry["result"] = [len(data), len(result)]
            data.extend(result)
        told.append(entry)
    with open(os.path.join(folder, "wgmma.ptx"), "w", encoding="utf-8") as file:
        file.write(HEADER + "".join(texts.values()))
    with open(os.path.join(folder, "wgmma.json"), "w", encoding="utf-8") as file:
        lines = ",".join("\n  " + json.dumps(entry) for entry in told)
        device = json.dumps(f"{driver.name}, driver for CUDA {driver.version}")
        file.write(f'{{"device": {device},\n"products": [{lines}]}}\n')
    with open(os.path.join(folder, "wgmma.bin"), "wb") as file:
        file.write(data)
    print(f"{driver.name}: {len(told)} products by {len(texts)} instructions, {len(data)} bytes")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else SEED)
