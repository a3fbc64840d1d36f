#!/usr/bin/env python3
"""Records tensor copies and mbarriers of a Hopper GPU. Needs Python 3 and the NVIDIA driver, nothing else.

    python3 tools/record_hopper.py OUTPUT_FOLDER [SEED]

writes kernels.ptx, cases.json and data.bin, which belong in crates/driver/tests/hopper. Tensor maps are encoded by
the driver, so the recording shows both the meaning of a map's bytes and the effect of a copy through it. Cases are
drawn from a seed; the committed ones have seed 90.

Every case runs in a child process, which continues until one of its kernels poisons the context. Sequences of
mbarrier operations are expected to do so now and then, and their fault is then the recorded result.
"""

import ctypes
import json
import os
import random
import struct
import subprocess
import sys

import record

SEED = 90
HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
ROOM = 8192  # bytes of shared memory used by tensor copies
# Name, number in the driver's enumeration, bytes.
TYPES = [
    ("u8", 0, 1), ("u16", 1, 2), ("u32", 2, 4), ("s32", 3, 4), ("u64", 4, 8), ("s64", 5, 8),
    ("f16", 6, 2), ("f32", 7, 4), ("f64", 8, 8), ("bf16", 9, 2),
]
FLOATS = ("f16", "f32", "f64", "bf16")
SPANS = [None, 32, 64, 128]


def pattern(length, seed):
    """Returns the bytes of a buffer before a kernel runs."""
    return bytes((i * 167 + 13 + (i >> 8) * 59 + seed * 101) & 0xFF for i in range(length))


# Kernels.

PROLOGUE = """\
\t.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
\t.shared .align 1024 .b8 room[{room}];
\t.shared .align 8 .b8 bar[8];
\tld.param.u32 %r12, [at];
\tld.param.u32 %r13, [bytes];
\tmov.u32 %r10, room;
\tadd.u32 %r14, %r10, %r12;
\tmov.u32 %r1, %tid.x;
"""
COPY_IN = """\
\tld.param.u64 %rd1, [{buffer}];
\tcvta.to.global.u64 %rd1, %rd1;
\tmov.u32 %r2, %r1;
FILL:
\tmul.wide.u32 %rd2, %r2, 4;
\tadd.s64 %rd2, %rd1, %rd2;
\tld.global.u32 %r3, [%rd2];
\tmad.lo.u32 %r4, %r2, 4, %r10;
\tst.shared.u32 [%r4], %r3;
\tadd.u32 %r2, %r2, 32;
\tsetp.lt.u32 %p1, %r2, {words};
\t@%p1 bra FILL;
\tfence.proxy.async;
\tsetp.ne.u32 %p2, %r1, 0;
\t@%p2 bra READY;
\tmbarrier.init.shared.b64 [bar], 1;
READY:
\tbar.sync 0;
"""
COPY_OUT = """\
\tld.param.u64 %rd1, [out];
\tcvta.to.global.u64 %rd1, %rd1;
\tmov.u32 %r2, %r1;
DUMP:
\tmul.wide.u32 %rd2, %r2, 4;
\tadd.s64 %rd2, %rd1, %rd2;
\tmad.lo.u32 %r4, %r2, 4, %r10;
\tld.shared.u32 %r3, [%r4];
\tst.global.u32 [%rd2], %r3;
\tadd.u32 %r2, %r2, 32;
\tsetp.lt.u32 %p1, %r2, {words};
\t@%p1 bra DUMP;
\tret;
}}
"""


def coordinates(rank):
    names = [f"%r{5 + i}" for i in range(rank)]
    loads = "".join(f"\tld.param.u32 {name}, [c{i}];\n" for i, name in enumerate(names))
    return loads, "{" + ", ".join(names) + "}"


def parameters(rank, offsets=0):
    text = "\t.param .align 64 .b8 map[128],\n\t.param .u64 before,\n\t.param .u64 out,\n\t.param .u32 at,\n\t.param .u32 bytes"
    text += "".join(f",\n\t.param .u32 c{i}" for i in range(rank))
    return text + "".join(f",\n\t.param .u16 o{i}" for i in range(offsets))


def load_kernel(name, rank, mode, offsets):
    loads, coords = coordinates(rank)
    loads += "".join(f"\tld.param.u16 %h{i}, [o{i}];\n" for i in range(offsets))
    more = ", {" + ", ".join(f"%h{i}" for i in range(offsets)) + "}" if offsets else ""
    return (
        f".visible .entry {name}(\n{parameters(rank, offsets)}\n)\n{{\n"
        + PROLOGUE.format(room=ROOM) + loads + COPY_IN.format(buffer="before", words=ROOM // 4)
        + "\tmov.b64 %rd4, map;\n\tcvta.param.u64 %rd4, %rd4;\n"
        + "\tsetp.ne.u32 %p2, %r1, 0;\n\t@%p2 bra WAIT;\n"
        + "\tmbarrier.arrive.expect_tx.shared.b64 _, [bar], %r13;\n"
        + f"\tcp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes "
        + f"[%r14], [%rd4, {coords}], [bar]{more};\n"
        + "WAIT:\n\tmbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n\t@!%p3 bra WAIT;\n"
        + COPY_OUT.format(words=ROOM // 4)
    )


def store_kernel(name, rank, mode, reduction=None):
    loads, coords = coordinates(rank)
    what = f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{reduction}" if reduction else f"cp.async.bulk.tensor.{rank}d.global.shared::cta"
    return (
        f".visible .entry {name}(\n{parameters(rank)}\n)\n{{\n"
        + PROLOGUE.format(room=ROOM) + loads + COPY_IN.format(buffer="before", words=ROOM // 4)
        + "\tmov.b64 %rd4, map;\n\tcvta.param.u64 %rd4, %rd4;\n"
        + "\tsetp.ne.u32 %p2, %r1, 0;\n\t@%p2 ret;\n"
        + f"\t{what}.{mode}.bulk_group [%rd4, {coords}], [%r14];\n"
        + "\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;\n\tret;\n}\n"
    )


def bulk_kernel(name, reduction):
    text = "\t.param .u64 before,\n\t.param .u64 out,\n\t.param .u32 at,\n\t.param .u32 bytes"
    return (
        f".visible .entry {name}(\n{text}\n)\n{{\n"
        + PROLOGUE.format(room=ROOM) + COPY_IN.format(buffer="before", words=ROOM // 4)
        + "\tld.param.u64 %rd4, [out];\n\tcvta.to.global.u64 %rd4, %rd4;\n"
        + "\tsetp.ne.u32 %p2, %r1, 0;\n\t@%p2 ret;\n"
        + f"\tcp.reduce.async.bulk.global.shared::cta.bulk_group.{reduction} [%rd4], [%r14], %r13;\n"
        + "\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;\n\tret;\n}\n"
    )


REDUCTIONS = ["add", "min", "max", "and", "or", "xor"]
BULK_REDUCTIONS = [
    "add.u32", "add.s32", "add.u64", "min.u32", "min.s32", "max.u64", "max.s64", "inc.u32", "dec.u32",
    "and.b32", "or.b32", "xor.b64", "add.f32", "add.f64", "add.noftz.f16", "min.f16", "max.bf16",
]


def kernels():
    text = HEADER
    for rank in range(1, 6):
        text += load_kernel(f"load_{rank}d", rank, "tile", 0) + store_kernel(f"store_{rank}d", rank, "tile")
    for rank in range(3, 6):
        text += load_kernel(f"im2col_{rank}d", rank, "im2col", rank - 2)
        text += store_kernel(f"im2col_store_{rank}d", rank, "im2col_no_offs")
    for reduction in REDUCTIONS:
        text += store_kernel(f"reduce_{reduction}_2d", 2, "tile", reduction)
    for reduction in BULK_REDUCTIONS:
        text += bulk_kernel("bulk_" + reduction.replace(".", "_"), reduction)
    return text


# Cases.

def draw_map(draw, rank, types=TYPES):
    name, number, size = draw.choice(types)
    span = draw.choice(SPANS)
    unit = 16 // size
    most = (span or 256) // 16
    inner = unit * draw.randint(1, max(1, most))
    if inner > 256:
        inner = 256 // unit * unit
    box, rows = [inner], 1
    for _ in range(rank - 1):
        box.append(draw.randint(1, max(1, 12 // rows)))
        rows *= box[-1]
    steps = [1] + [draw.choice([1, 1, 1, 2, 3]) for _ in range(rank - 1)]
    dims = [max(1, inner + draw.randint(-inner + 1, unit * 2))]
    dims += [draw.randint(1, 6) for _ in range(rank - 1)]
    strides, row = [], -(-dims[0] * size // 16) * 16 + 16 * draw.randint(0, 2)
    for index in range(1, rank):
        strides.append(row)
        row = row * dims[index] + 16 * draw.randint(0, 1)
    fill = name in FLOATS and draw.random() < 0.15
    return {
        "type": name, "number": number, "size": size, "dims": dims, "strides": strides, "box": box,
        "steps": steps, "swizzle": span, "fill": fill, "length": row + 64,
    }


def draw_load(draw, rank):
    tile = draw_map(draw, rank)
    unit = 16 // tile["size"]
    coords = [unit * draw.randint(-2, max(1, tile["dims"][0] // unit))]
    coords += [draw.randint(-2, tile["dims"][i]) for i in range(1, rank)]
    counts = [tile["box"][0]] + [-(-b // s) for b, s in zip(tile["box"][1:], tile["steps"][1:])]
    moved = tile["size"]
    for count in counts:
        moved *= count
    return {"kernel": f"load_{rank}d", "map": tile, "coords": coords, "at": 128 * draw.randint(0, 12), "bytes": moved}


def draw_store(draw, rank, kernel, types=TYPES, steps=False):
    tile = draw_map(draw, rank, types)
    tile["fill"] = False
    if not steps:
        tile["steps"] = [1] * rank
    unit = 16 // tile["size"]
    coords = [unit * draw.randint(0, max(1, tile["dims"][0] // unit))]
    coords += [draw.randint(0, tile["dims"][i]) for i in range(1, rank)]
    return {"kernel": kernel, "map": tile, "coords": coords, "at": 128 * draw.randint(0, 12), "bytes": 0}


def draw_im2col(draw, rank, stores, stepped=False):
    types = [t for t in TYPES if t[2] <= 4]
    name, number, size = draw.choice(types)
    unit = 16 // size
    channels = unit * draw.randint(1, 3)
    span = draw.choice([None, 64, 128])
    spatial = rank - 2
    dims = [channels + unit * draw.randint(0, 2)] + [draw.randint(3, 6) for _ in range(spatial)] + [draw.randint(1, 3)]
    lower = [draw.randint(-2, 1) for _ in range(spatial)]
    upper = [draw.randint(-2, 1) for _ in range(spatial)]
    pixels = draw.randint(1, 12)
    strides, row = [], dims[0] * size
    for index in range(1, rank):
        strides.append(row)
        row *= dims[index]
    first = [draw.randint(max(0, low), max(0, low, size_ - 1 + up)) for low, up, size_ in zip(lower, upper, dims[1:-1])]
    coords = [unit * draw.randint(0, 1)] + first + [draw.randint(0, dims[-1] - 1)]
    steps = [1] + [draw.choice([1, 2, 3]) if stepped else 1 for _ in range(rank - 1)]
    if stores:
        # Stores with other bounding boxes than the tensor itself, or across its end, are illegal instructions.
        lower, upper = [0] * spatial, [0] * spatial
        left, weight = 1, 1
        coords = [coords[0]] + [draw.randint(0, size_ - 1) for size_ in dims[1:]]
        for size_ in dims[1:]:
            left *= size_
        for index, size_ in zip(coords[1:], dims[1:]):
            left -= index * weight
            weight *= size_
        pixels = min(pixels, left)
    tile = {
        "type": name, "number": number, "size": size, "dims": dims, "strides": strides, "steps": steps,
        "lower": lower, "upper": upper, "channels": channels, "pixels": pixels, "swizzle": span,
        "fill": False, "length": row + 64,
    }
    case = {"map": tile, "coords": coords, "at": 128 * draw.randint(0, 8), "bytes": pixels * channels * size}
    if stores:
        return case | {"kernel": f"im2col_store_{rank}d"}
    return case | {"kernel": f"im2col_{rank}d", "offsets": [draw.randint(0, 2) for _ in range(spatial)]}


def draw_cases(seed):
    draw = random.Random(seed)
    cases = []
    for number in range(160):
        cases.append(draw_load(draw, 1 + number % 5))
    for number in range(60):
        rank = 1 + number % 5
        cases.append(draw_store(draw, rank, f"store_{rank}d"))
    for number in range(48):
        cases.append(draw_im2col(draw, 3 + number % 3, False))
    for number in range(24):
        cases.append(draw_im2col(draw, 3 + number % 3, True))
    for number in range(24):
        cases.append(draw_im2col(draw, 3 + number % 3, False, True))
    for number in range(20):
        rank = 2 + number % 4
        cases.append(draw_store(draw, rank, f"store_{rank}d", TYPES, True))
    for number in range(24):
        reduction = REDUCTIONS[number % len(REDUCTIONS)]
        types = [t for t in TYPES if t[0] in ("u32", "s32", "u64")]
        cases.append(draw_store(draw, 2, f"reduce_{reduction}_2d", types))
    for reduction in BULK_REDUCTIONS:
        at, length = 16 * draw.randint(0, 8), 16 * draw.randint(1, 16)
        cases.append({"kernel": "bulk_" + reduction.replace(".", "_"), "at": at, "bytes": length})
    return cases


# Sequences of mbarrier operations, by one thread. After each operation the answers to both parities are recorded.

def draw_sequence(draw):
    """Returns allowed operations, of which the last is now and then not allowed."""
    count = draw.randint(1, 4)
    expected, pending, bytes_ = count, count, 0
    ops = [["init", count]]
    for _ in range(draw.randint(2, 12)):
        kind = draw.choice(["arrive", "arrive", "arrive", "expect", "complete", "arrive_expect", "drop"])
        if pending == 0 and kind != "complete":
            continue
        if kind == "arrive":
            amount = draw.randint(1, pending)
        elif kind == "drop":
            if expected <= 1:
                continue
            amount = 1
        elif kind == "arrive_expect":
            amount = 16 * draw.randint(0, 3)
        else:
            amount = 16 * draw.randint(1, 3)
        left = pending - (amount if kind == "arrive" else 1 if kind in ("arrive_expect", "drop") else 0)
        after = bytes_ + (amount if kind in ("expect", "arrive_expect") else -amount if kind == "complete" else 0)
        if left == 0 and after < 0:
            continue
        ops.append([kind, amount])
        if kind == "drop":
            expected -= 1
        pending, bytes_ = left, after
        if pending == 0 and bytes_ == 0:
            pending = expected
    return ops


TRAPS = [
    [["init", 2], ["arrive", 3]], [["init", 2], ["arrive", 1], ["arrive", 5]], [["init", 1048576], ["arrive", 1]],
    [["init", 1], ["arrive_expect", 16], ["arrive", 1]], [["init", 0], ["arrive", 1]],
]


def sequence_kernel(name, ops):
    forms = {
        "init": "mbarrier.init.shared.b64 [bar], {};", "arrive": "mbarrier.arrive.shared.b64 %rd2, [bar], {};",
        "expect": "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], {};",
        "complete": "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], {};",
        "arrive_expect": "mbarrier.arrive.expect_tx.shared.b64 %rd2, [bar], {};",
        "drop": "mbarrier.arrive_drop.shared.b64 %rd2, [bar], {};",
    }
    text = f".visible .entry {name}(.param .u64 out)\n{{\n\t.reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<3>;\n\t.shared .align 8 .b8 bar[8];\n"
    text += "\tld.param.u64 %rd1, [out];\n\tcvta.to.global.u64 %rd1, %rd1;\n"
    for number, (kind, amount) in enumerate(ops):
        text += "\t" + forms[kind].format(amount) + "\n"
        for parity in range(2):
            text += f"\tmbarrier.test_wait.parity.shared.b64 %p1, [bar], {parity};\n\tselp.b32 %r1, 1, 0, %p1;\n"
            text += f"\tst.global.u32 [%rd1+{8 * number + 4 * parity}], %r1;\n"
    return text + "\tret;\n}\n"


# The device.

class Driver(record.Driver):
    """The additional calls for kernels with several buffers and tensor maps."""

    def buffer(self, data):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", pointer, data, ctypes.c_size_t(len(data)))
        return pointer

    def read(self, pointer, length):
        result = ctypes.create_string_buffer(length)
        self.call("cuMemcpyDtoH_v2", result, pointer, ctypes.c_size_t(length))
        return result.raw

    def launch(self, module, kernel, threads, arguments):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(one) for one in arguments))
        self.call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, pointers, None)
        self.call("cuCtxSynchronize")

    def encode(self, tile, address):
        raw = ctypes.create_string_buffer(256)
        start = -ctypes.addressof(raw) % 64
        rank = len(tile["dims"])
        dims = (ctypes.c_uint64 * rank)(*tile["dims"])
        strides = (ctypes.c_uint64 * max(rank - 1, 1))(*tile["strides"])
        steps = (ctypes.c_uint32 * rank)(*tile["steps"])
        swizzle, fill = SPANS.index(tile["swizzle"]), int(tile["fill"])
        place = ctypes.c_void_p(ctypes.addressof(raw) + start)
        common = (place, tile["number"], rank, address, dims, strides)
        if "box" in tile:
            box = (ctypes.c_uint32 * rank)(*tile["box"])
            self.call("cuTensorMapEncodeTiled", *common, box, steps, 0, swizzle, 0, fill)
        else:
            lower = (ctypes.c_int * (rank - 2))(*tile["lower"])
            upper = (ctypes.c_int * (rank - 2))(*tile["upper"])
            self.call("cuTensorMapEncodeIm2col", *common, lower, upper, tile["channels"], tile["pixels"], steps, 0, swizzle, 0, fill)
        return bytes(raw[start:start + 128])


def run_case(driver, module, number, case):
    """Returns the bytes of the map and the output of the copy."""
    before = driver.buffer(pattern(ROOM, number))
    u32 = lambda value: ctypes.c_uint32(value & 0xFFFFFFFF)
    if "map" not in case:
        out = driver.buffer(pattern(ROOM, number + 1))
        driver.launch(module, case["kernel"], 32, [before, out, u32(case["at"]), u32(case["bytes"])])
        return b"", driver.read(out, case["bytes"] + 32)
    tile = case["map"]
    tensor = driver.buffer(pattern(tile["length"], number + 1))
    encoded = driver.encode(tile, tensor)
    out = driver.buffer(bytes(ROOM))
    arguments = [(ctypes.c_ubyte * 128)(*encoded), before, out, u32(case["at"]), u32(case["bytes"])]
    arguments += [u32(one) for one in case["coords"]] + [ctypes.c_uint16(one) for one in case.get("offsets", [])]
    driver.launch(module, case["kernel"], 32, arguments)
    if case["kernel"].startswith(("load", "im2col_3d", "im2col_4d", "im2col_5d")):
        return encoded, driver.read(out, ROOM)
    return encoded, driver.read(tensor, tile["length"])


def child(folder, first):
    with open(os.path.join(folder, "plan.json"), encoding="utf-8") as file:
        plan = json.load(file)
    driver = Driver("libcuda.so.1")
    module = driver.load(plan["kernels"])
    say = lambda message: print(json.dumps(message), flush=True)
    say({"device": f"{driver.name}, driver for CUDA {driver.version}"})
    for number in range(first, len(plan["cases"]) + len(plan["sequences"])):
        say({"started": number})
        if number < len(plan["cases"]):
            try:
                encoded, result = run_case(driver, module, number, plan["cases"][number])
            except record.Failure as error:
                if not str(error).startswith("cuTensorMap"):
                    raise
                say({"number": number, "refused": str(error)})
                continue
            say({"number": number, "map": encoded.hex(), "result": result.hex()})
        else:
            ops = plan["sequences"][number - len(plan["cases"])]
            one = driver.load(HEADER + sequence_kernel("sequence", ops))
            out = driver.buffer(bytes(8 * len(ops)))
            driver.launch(one, "sequence", 1, [out])
            words = struct.unpack(f"<{2 * len(ops)}I", driver.read(out, 8 * len(ops)))
            say({"number": number, "answers": words})


def main(folder, seed):
    os.makedirs(folder, exist_ok=True)
    draw = random.Random(seed + 1)
    cases = draw_cases(seed)
    sequences = [draw_sequence(draw) for _ in range(150)] + TRAPS
    plan = {"kernels": kernels(), "cases": cases, "sequences": sequences}
    with open(os.path.join(folder, "plan.json"), "w", encoding="utf-8") as file:
        json.dump(plan, file)
    found, device, first = {}, "", 0
    while first < len(cases) + len(sequences):
        command = [sys.executable, __file__, "--child", folder, str(first)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=400)
        current = None
        for line in run.stdout.splitlines():
            message = json.loads(line)
            device = message.get("device", device)
            current = message.get("started", current)
            if "number" in message:
                found[message["number"]] = message
        if run.returncode == 0:
            break
        if current is None:
            sys.exit(run.stderr)
        told = run.stderr.strip().splitlines()
        found[current] = {"number": current, "fault": told[-1] if told else f"status {run.returncode}"}
        first = current + 1
    data = bytearray()

    def keep(blob):
        start = len(data)
        data.extend(blob)
        return [start, len(blob)]

    told = []
    for number, case in enumerate(cases):
        message = found[number]
        entry = {key: value for key, value in case.items() if key != "map"}
        entry["seed"] = number
        if "map" in case:
            entry["length"], entry["nan"] = case["map"]["length"], case["map"]["fill"]
            entry["type"] = case["map"]["type"]
        for key in ("refused", "fault"):
            if key in message:
                entry[key] = message[key]
        if "result" in message:
            result = bytes.fromhex(message["result"])
            # Of shared memory only the changes are kept.
            if case["kernel"].startswith(("load", "im2col_3d", "im2col_4d", "im2col_5d")):
                same = pattern(ROOM, number)
                changed = [i for i in range(ROOM) if result[i] != same[i]]
                low, high = (min(changed), max(changed) + 1) if changed else (0, 0)
                entry["from"], result = low, result[low:high]
            entry["result"] = keep(result)
            entry["encoded"] = keep(bytes.fromhex(message["map"]))
        told.append(entry)
    steps = []
    for number, ops in enumerate(sequences):
        message = found[len(cases) + number]
        steps.append({"ops": ops, **{key: message[key] for key in ("answers", "fault") if key in message}})
    with open(os.path.join(folder, "kernels.ptx"), "w", encoding="utf-8") as file:
        file.write(plan["kernels"])
    with open(os.path.join(folder, "cases.json"), "w", encoding="utf-8") as file:
        one = lambda entry: "\n  " + json.dumps(entry)
        file.write(f'{{"device": {json.dumps(device)},\n"copies": [{",".join(map(one, told))}],\n"mbarriers": [{",".join(map(one, steps))}]}}\n')
    with open(os.path.join(folder, "data.bin"), "wb") as file:
        file.write(data)
    os.remove(os.path.join(folder, "plan.json"))
    faults = sum("fault" in entry for entry in told + steps)
    refused = sum("refused" in entry for entry in told)
    print(f"{device}: {len(told)} copies ({refused} maps refused), {len(steps)} sequences, {faults} faults, {len(data)} bytes")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]))
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else SEED)
