"""Runs the pairs of this folder, and the sequences of warpproof.toml, on a Hopper GPU. Needs NumPy and the NVIDIA driver.

    python3 device.py [--jobs N] [--repeat N] [--out FILE] [--only proved,refuted] [PAIR.pair | warpproof.toml]…

For each, both sides run on the same random numbers, and what they write is compared; the optimised side several times. `proved` must agree, or
the program ends with status 1. Of kernels with a mistake it is told what showed: nothing, wrong numbers, a fault of the launch, or a hang. Each runs in
a child process. With --here the pairs run in this process, which is what compute-sanitizer wants.
"""

import concurrent.futures
import ctypes
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tomllib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parents[2] / "tools"
TIMEOUT = 12  # seconds for a child with one pair
TYPES = {"f16": (np.uint16, 6), "bf16": (np.uint16, 9), "f32": (np.uint32, 7), "s32": (np.uint32, 3), "u32": (np.uint32, 2), "s8": (np.uint8, 0), "e4m3": (np.uint8, 0)}
TOLERANCE = {"f32": 2e-3, "s32": 0}


# Reading pairs.

def split(text):
    """Parts between commas that are in no bracket."""
    return re.split(r",(?![^\[\](]*[\])])", text)


def tensor(text):
    """Type, sizes, direction and initial number of TYPE[sizes]:direction=number."""
    kind, sizes, direction, initial = re.fullmatch(r"(\w+)\[([\d,]+)\](?::(\w+))?(?:=(\d+))?", text).groups()
    return {"type": kind, "shape": [int(one) for one in sizes.split(",")], "direction": direction or "in", "initial": initial}


def argument(text):
    name, value = text.split("=", 1)
    if value.startswith("tensormap("):
        first, *keys = split(value[len("tensormap("):-1])
        target, described = first.split("=", 1)
        keys = dict(one.split("=", 1) for one in keys)
        box = [int(one) for one in keys["box"][1:-1].split(",")]
        swizzle = int(keys["swizzle"][:-1]) if "swizzle" in keys else 0
        return {"kind": "map", "name": target, "tensor": tensor(described), "box": box, "swizzle": swizzle}
    if "[" in value:
        return {"kind": "tensor", "name": name, "tensor": tensor(value)}
    if value.startswith("f32"):
        return {"kind": "float", "name": name, "value": value.partition("=")[2]}
    return {"kind": "int", "name": name, "value": value}


def sizes(value):
    three = [value] if isinstance(value, int) else [int(one) for one in value.split(",")] if isinstance(value, str) else list(value)
    return three + [1] * (3 - len(three))


def launch(folder, kernel, grid, block, smem, args):
    file, name = kernel.split("::")
    return {"file": str(folder / file), "kernel": name, "grid": sizes(grid), "block": sizes(block), "smem": int(smem), "args": [argument(one) for one in args]}


def read_pair(path, folder):
    """What is expected, and the launches of both sides."""
    lines = [line.split(": ", 1) for line in path.read_text().splitlines()]
    words = shlex.split(" ".join(value for key, value in lines if key == "flags"))
    found = dict(lines)
    given = {"ref": {"args": []}, "opt": {"args": []}}
    for flag, value in zip(words[::2], words[1::2]):
        if flag == "--assume":
            continue
        _, _, side, key = flag.split("-", 3)
        if key == "arg":
            given[side]["args"].append(value)
        else:
            given[side][key] = value
    both = [[launch(folder, found[side], given[side]["grid"], given[side]["block"], given[side].get("smem", 0), given[side]["args"])] for side in ("ref", "opt")]
    return {"name": path.stem, "expect": found["expect"], "kind": found.get("kind", ""), "sides": both}


def read_project(path):
    entries = []
    for entry in tomllib.loads(path.read_text())["equiv"]:
        both = []
        for side, short in (("reference", "ref"), ("optimised", "opt")):
            steps = entry[side] if isinstance(entry[side], list) else [{"kernel": entry[side]}]
            common = {**entry, **entry.get(short, {})}
            get = lambda step, key, default=None: step.get(key, common.get(key, default))
            both.append([launch(path.parent, step["kernel"], get(step, "grid"), get(step, "block"), get(step, "smem", 0), get(step, "args")) for step in steps])
        entries.append({"name": entry["name"], "expect": entry["name"].split(":")[0], "kind": "", "sides": both})
    return entries


# Running.

def numbers(rng, described):
    """Random contents of a tensor, as bits."""
    kind, count = described["type"], int(np.prod(described["shape"]))
    if described["initial"] is not None:
        return np.full(count, int(described["initial"]), TYPES[kind][0])
    if described["direction"] == "out":
        return np.full(count, np.iinfo(TYPES[kind][0]).max, TYPES[kind][0])
    if kind == "f16":
        return rng.standard_normal(count).astype(np.float16).view(np.uint16)
    if kind == "s8":
        return rng.integers(0, 256, count).astype(np.uint8)
    if kind == "e4m3":
        return (rng.integers(0, 256, count) & 0xBF).astype(np.uint8)
    if kind in ("s32", "u32"):
        return rng.integers(0, 1000, count).astype(np.uint32)
    bits = rng.standard_normal(count).astype(np.float32).view(np.uint32)
    # Numbers that tf32 and bf16 have.
    return (bits >> 16).astype(np.uint16) if kind == "bf16" else bits & 0xFFFFE000


class Gpu:
    """Modules and memory of one process."""

    def __init__(self):
        sys.path.insert(0, str(TOOLS))
        import record_hopper
        self.driver = record_hopper.Driver("libcuda.so.1")
        self.modules = {}

    def function(self, file, kernel, smem):
        if file not in self.modules:
            self.modules[file] = self.driver.load(pathlib.Path(file).read_text())
        function = ctypes.c_void_p()
        self.driver.call("cuModuleGetFunction", ctypes.byref(function), self.modules[file], kernel.encode())
        if smem > 48 * 1024:
            self.driver.call("cuFuncSetAttribute", function, 8, smem)
        return function

    def encode(self, one, address):
        shape, (bits, number) = one["tensor"]["shape"], TYPES[one["tensor"]["type"]]
        size = np.dtype(bits).itemsize
        strides, row = [], size
        for length in reversed(shape[1:]):
            row *= length
            strides.append(row)
        tile = {"dims": shape[::-1], "strides": strides, "steps": [1] * len(shape), "swizzle": one["swizzle"] or None, "fill": False,
                "number": number, "box": one["box"][::-1]}
        return (ctypes.c_ubyte * 128)(*self.driver.encode(tile, address))

    def run(self, steps, contents, scalars):
        """Runs launches on copies of the contents, and returns what is in memory afterwards."""
        memory = {name: self.driver.buffer(data.tobytes()) for name, data in contents.items()}
        for step in steps:
            arguments = []
            for one in step["args"]:
                if one["kind"] == "map":
                    arguments.append(self.encode(one, memory[one["name"]]))
                elif one["kind"] == "tensor":
                    arguments.append(memory[one["name"]])
                elif one["kind"] == "float":
                    arguments.append(ctypes.c_float(scalars[one["name"]]))
                else:
                    arguments.append(ctypes.c_int(int(one["value"])))
            pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(one) for one in arguments))
            function = self.function(step["file"], step["kernel"], step["smem"])
            self.driver.call("cuLaunchKernel", function, *step["grid"], *step["block"], step["smem"], None, pointers, None)
            self.driver.call("cuCtxSynchronize")
        after = {name: np.frombuffer(self.driver.read(memory[name], data.nbytes), data.dtype) for name, data in contents.items()}
        for pointer in memory.values():
            self.driver.call("cuMemFree_v2", pointer)
        return after


def compare(gpu, entry, repeat):
    """The largest error of the outputs, relative to the largest number, how many runs were wrong, and how many elements in one of them."""
    rng = np.random.default_rng(90)
    described, scalars = [{}, {}], {}
    for place, steps in zip(described, entry["sides"]):
        for step in steps:
            for one in step["args"]:
                if one["kind"] in ("map", "tensor"):
                    place.setdefault(one["name"], one["tensor"])
                elif one["kind"] == "float":
                    scalars.setdefault(one["name"], float(one["value"] or rng.uniform(0.2, 0.7)))
    contents = {}
    for place in described:
        for name, what in place.items():
            contents.setdefault(name, numbers(rng, what))
    of_side = lambda place: {name: contents[name] if what["direction"] != "out" else numbers(rng, what) for name, what in place.items()}
    outputs = [name for name, what in described[0].items() if what["direction"] != "in"]
    wanted = gpu.run(entry["sides"][0], of_side(described[0]), scalars)
    worst, wrong, elements = 0.0, 0, 0
    for _ in range(repeat):
        got = gpu.run(entry["sides"][1], of_side(described[1]), scalars)
        error, count = 0.0, 0
        for name in outputs:
            kind = described[0][name]["type"]
            view = np.int32 if kind == "s32" else np.float32
            a, b = wanted[name].view(view).astype(np.float64), got[name].view(view).astype(np.float64)
            off = np.where(np.isfinite(b), np.abs(a - b), np.inf) / max(np.max(np.abs(a)), 1e-30)
            error, count = max(error, np.max(off)), count + int(np.sum(off > TOLERANCE[kind]))
        wrong, elements = wrong + int(count > 0), max(elements, count)
        worst = max(worst, float(error))
    return {"error": worst, "wrong": wrong, "runs": repeat, "elements": elements}


def child(entries, repeat):
    gpu = Gpu()
    for entry in entries:
        try:
            result = compare(gpu, entry, repeat)
        except Exception as failure:
            print(json.dumps({"name": entry["name"], "fault": str(failure)}), flush=True)
            return
        print(json.dumps({"name": entry["name"], **result}), flush=True)


def in_child(entries, repeat, seconds):
    """Results of a child process by name; the entry that it did not survive is a fault or a hang."""
    command = [sys.executable, __file__, "--child", str(repeat)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    hung = False
    try:
        out, err = process.communicate(json.dumps(entries), timeout=seconds)
    except subprocess.TimeoutExpired:
        hung = True
        process.kill()
        out, err = process.communicate()
    found = {message["name"]: message for message in map(json.loads, out.splitlines())}
    for entry in entries:
        if entry["name"] not in found:
            told = err.strip().splitlines()
            found[entry["name"]] = {"name": entry["name"], "hang": seconds} if hung else {"name": entry["name"], "fault": told[-1] if told else "no answer"}
            break
    return found


def verdict(result):
    if "hang" in result:
        return "hang"
    if "fault" in result:
        return "fault: " + result["fault"]
    if result["wrong"]:
        return f"wrong in {result['wrong']} of {result['runs']} runs (up to {result['elements']} elements, error {result['error']:.1e})"
    return f"right ({result['error']:.1e})"


def main(arguments):
    options = {"--jobs": "4", "--repeat": "10", "--out": "", "--only": "", "--folder": str(HERE)}
    here, paths = False, []
    words = iter(arguments)
    for word in words:
        if word in options:
            options[word] = next(words)
        elif word == "--here":
            here = True
        else:
            paths.append(pathlib.Path(word).resolve())
    paths = paths or sorted(HERE.glob("*.pair")) + [HERE / "warpproof.toml"]
    entries = []
    for path in paths:
        entries += read_project(path) if path.suffix == ".toml" else [read_pair(path, pathlib.Path(options["--folder"]))]
    if options["--only"]:
        entries = [one for one in entries if one["expect"] in options["--only"].split(",")]
    repeat = int(options["--repeat"])
    if here:
        return child(entries, repeat)
    found = {}
    # Correct ones in batches by file, so that a module is compiled once; what may hang comes last.
    entries.sort(key=lambda one: "deadlock" in one["kind"])
    batches = {}
    for one in entries:
        key = one["sides"][1][0]["file"] if one["expect"] == "proved" else one["name"]
        batches.setdefault(key, []).append(one)
    with concurrent.futures.ThreadPoolExecutor(int(options["--jobs"])) as pool:
        jobs = [pool.submit(in_child, batch, repeat, TIMEOUT + 2 * len(batch)) for batch in batches.values()]
        for job in concurrent.futures.as_completed(jobs):
            for name, result in job.result().items():
                found[name] = result
                print(f"{name}: {verdict(result)}", flush=True)
    bad = [one["name"] for one in entries if one["expect"] == "proved" and not verdict(found.get(one["name"], {"fault": "not run"})).startswith("right")]
    if options["--out"]:
        pathlib.Path(options["--out"]).write_text(json.dumps(found, indent=1))
    print(f"{len(found)} of {len(entries)} run; proved, but not right: {', '.join(bad) or 'none'}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(json.load(sys.stdin), int(sys.argv[2]))
    else:
        main(sys.argv[1:])
