#!/usr/bin/env python3
"""Runs the kernels of pairs on random numbers and compares what they write. Needs NumPy and a built `warpproof`.

    python3 verify.py [--warpproof PROGRAM] [--no-check] [PAIR…]

All pairs of the folders below this file if none is named. For each pair `warpproof check` must have the expected answer for
both kernels, and `warpproof simulate` must give the same outputs up to rounding where `proved` is expected, and outputs that
differ in exactly the elements that `differs:` tells where `refuted` is expected. Ends with status 1 if not.
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
TYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "s32": np.int32, "u32": np.uint32, "s8": np.int8, "u8": np.uint8}
STRUCTURE = r":(lower|upper|symmetric|mask=\[[\d,]*\])"
NAMES = {"log2e": 1.4426950408889634, "ln2": 0.6931471805599453}


def read(path):
    """The lines of a pair, by key; several lines of one key are joined."""
    pair = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            key, value = line.split(":", 1)
            pair[key] = (pair[key] + " " if key in pair else "") + value.strip()
    return pair


def sides(flags):
    """Launch and arguments of the reference and of the optimised kernel, and the assumptions."""
    words, assume = shlex.split(flags), []
    both = ([], []), ([], [])
    i = 0
    while i < len(words):
        flag, value = words[i], words[i + 1]
        i += 2
        side = (0, 1)
        for n, prefix in enumerate(("--ref-", "--opt-")):
            if flag.startswith(prefix):
                side, flag = (n,), "--" + flag[len(prefix):]
        if flag == "--assume":
            assume.append(value)
            continue
        for s in side:
            if flag in ("--arg", "--symbol"):
                both[s][1].append((flag, value))
            else:
                both[s][0].extend([flag, value])
    return both, assume


def parse(arg):
    """Name, type, shape (None for scalars), strides, direction, value of an argument."""
    name, rest = arg.split("=", 1)
    rest = re.sub(STRUCTURE, "", rest)
    m = re.fullmatch(r"([a-z]\w*)(?:\[([\d,]*)\])?(?:@\[([\d,]+)\])?(?::(in|out|inout))?(?:=(.*))?", rest)
    if not m or m.group(1) not in TYPES:
        return name, None, None, None, "in", rest
    shape = tuple(int(d) for d in m.group(2).split(",")) if m.group(2) is not None else None
    return name, m.group(1), shape, m.group(3), m.group(4) or "in", m.group(5)


def structured(arg, array):
    """The array with the structure that an argument says of it."""
    m = re.search(STRUCTURE, arg)
    if m is None:
        return array
    if m.group(1) in ("lower", "upper"):
        return np.tril(array) if m.group(1) == "lower" else np.triu(array)
    if m.group(1) == "symmetric":
        return np.tril(array) + np.swapaxes(np.tril(array, -1), -1, -2)
    kept = [int(digit) for digit in m.group(1)[len("mask=["):-1].split(",")]
    return array * np.asarray(kept, array.dtype).reshape(array.shape)


def bounds(name, assume):
    """The interval that simple assumptions leave for a name."""
    low, high = -2.0, 2.0
    for text in assume:
        if m := re.fullmatch(r"([-\d.]+) <=? (\w+) <=? ([-\d.]+)", text):
            if m.group(2) == name:
                low, high = float(m.group(1)), float(m.group(3))
        elif m := re.fullmatch(r"(\w+) >=? ([-\d.]+)", text):
            if m.group(1) == name:
                low, high = float(m.group(2)) + 0.05, max(high, float(m.group(2)) + 1)
        else:
            sys.exit(f"assumption not understood: {text}")
    return low, high


def simulate(program, kernel, launch, args, inputs, assume, scale, rng):
    """The outputs of one run."""
    with tempfile.TemporaryDirectory() as folder:
        folder, words, outputs = pathlib.Path(folder), [], []
        for flag, arg in args:
            name, kind, shape, strides, way, value = parse(arg)
            if kind is None:
                if re.fullmatch(r"[a-z]\w*( ?\* ?\w+)*", value):
                    known = {**NAMES, **{k: float(v) for k, v in inputs.items() if np.ndim(v) == 0}}
                    arg = f"{name}={eval(value, {}, known)!r}"
                words += [flag, arg]
                continue
            if way in ("out", "inout"):
                outputs.append(name)
            if way != "out" and value is None:
                if name not in inputs:
                    low, high = bounds(name, assume)
                    if TYPES[kind] in (np.int8, np.uint8, np.int32, np.uint32):
                        info = np.iinfo(TYPES[kind])
                        # Words are packs of smaller numbers: all of their bits matter.
                        low, high = (0, 1 << 32) if kind == "u32" else (max(info.min, -1000), min(info.max, 1000) + 1)
                        inputs[name] = rng.integers(low, high, shape).astype(TYPES[kind])
                    else:
                        if (low, high) == (-2.0, 2.0):
                            low, high = -scale, scale
                        inputs[name] = np.asarray(rng.uniform(low, high, shape)).astype(TYPES[kind])
                    inputs[name] = structured(arg, inputs[name])
                if shape is None:
                    arg = f"{name}={inputs[name].item()!r}"
                else:
                    file = folder / f"{name}.in.npy"
                    np.save(file, inputs[name].reshape(shape))
                    arg = f"{arg}=@{file}"
            words += [flag, arg]
        command = [program, "simulate", kernel, *launch, "--out", str(folder), *words]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return None, done.stdout + done.stderr
        return {name: np.load(folder / f"{name}.npy").astype(np.float64) for name in outputs}, ""


def check(program, kernel, launch, args):
    """Exit status and answer of `warpproof check`."""
    command = [program, "check", kernel, *launch]
    for flag, arg in args:
        name, kind, _, _, _, value = parse(arg)
        if kind is None and re.fullmatch(r"[a-z]\w*( ?\* ?\w+)*", value):
            arg = f"{name}=f32"
        command += [flag, arg]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def differences(program, folder, pair):
    """For each output the mask of elements that differ in some run, or a message. Two runs; where a difference is expected more,
    as long as they bring up new ones: a difference under a clamp does not show in every run."""
    both, assume = sides(pair["flags"])
    masks, quiet, count = {}, 0, -1
    for seed in range(300):
        if seed >= 2 and (pair["expect"] != "refuted" or quiet >= 60 or count == sum(mask.size for mask in masks.values())):
            break
        scale = (1.0, 3.0, 9.0)[seed % 3]
        rng, inputs, results = np.random.default_rng(seed), {}, []
        for kernel, (launch, args) in zip((pair["ref"], pair["opt"]), both):
            out, message = simulate(program, str(folder / kernel), launch, args, inputs, assume, scale, rng)
            if out is None:
                return None, f"{kernel}: {message}"
            results.append(out)
        ref, opt = results
        if set(ref) != set(opt):
            return None, f"outputs {sorted(ref)} and {sorted(opt)}"
        for name in ref:
            with np.errstate(invalid="ignore", over="ignore"):
                defined = np.isfinite(ref[name])
                top = np.max(np.abs(ref[name][defined]), initial=0.0)
                near = np.abs(ref[name] - opt[name]) <= 1e-3 * np.abs(ref[name]) + 1e-4 * max(top, 1e-3)
            bad = defined & ~near
            masks[name] = masks.get(name, np.zeros(bad.shape, bool)) | bad
        before, count = count, sum(int(mask.sum()) for mask in masks.values())
        quiet = quiet + 1 if count == before else 0
    return masks, ""


def describe(masks):
    """The elements that differ, as they stand after `differs:`."""
    parts = []
    for name, mask in masks.items():
        if not mask.any():
            continue
        where = np.argwhere(mask)
        text = f"{name} {len(where)} of {mask.size}"
        if len(where) < mask.size:
            spans = []
            for axis in range(mask.ndim):
                seen = sorted(set(int(i) for i in where[:, axis]))
                whole = len(seen) == mask.shape[axis]
                run = len(seen) > 1 and seen == list(range(seen[0], seen[-1] + 1))
                few = ",".join(map(str, seen)) if len(seen) <= 8 else f"{seen[0]}…{seen[-1]}"
                spans.append("*" if whole else f"{seen[0]}..{seen[-1]}" if run else few)
            text += f", in {name}[{'; '.join(spans)}]"
        parts.append(text)
    return " | ".join(parts)


def main():
    words, program, checking = sys.argv[1:], str(HERE / "../../target/release/warpproof"), True
    if "--warpproof" in words:
        i = words.index("--warpproof")
        program = words[i + 1]
        del words[i:i + 2]
    if "--no-check" in words:
        words.remove("--no-check")
        checking = False
    failed = 0
    paths = [pathlib.Path(word).resolve() for word in words] or sorted(HERE.glob("*/*.pair"))
    for path in paths:
        pair, messages = read(path), []
        kinds = pair.get("kind", "").split()
        both, _ = sides(pair["flags"])
        if checking:
            for which, (launch, args) in zip(("ref", "opt"), both):
                status, answer = check(program, str(path.parent / pair[which]), launch, args)
                wrong = which == "opt" and bool(set(kinds) - {"different"})
                if status != (1 if wrong else 0) and not (status == 3 and "check" in pair):
                    messages.append(f"check of {which} ended with status {status}\n{answer}")
        # It makes numbers for arguments, not for tensors behind maps.
        has_maps = "tensormap(" in pair["flags"]
        if "race" not in kinds and "unwritten-output" not in kinds and pair["expect"] != "unknown" and not has_maps:
            masks, message = differences(program, path.parent, pair)
            if masks is None:
                messages.append(message)
            else:
                got = describe(masks)
                if got != pair.get("differs", "") or bool(got or "hidden" in pair) != (pair["expect"] == "refuted"):
                    messages.append(f"differs: {got or 'nowhere'}, expected {pair.get('differs') or 'nowhere'}")
        print("FAILED" if messages else "ok    ", path.relative_to(HERE) if path.is_relative_to(HERE) else path, flush=True)
        for message in messages:
            print("       ", message.replace("\n", "\n        "))
        failed += bool(messages)
    print(f"{len(paths)} pairs, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
