#!/usr/bin/env python3
"""Runs a recording plan on a GPU. Needs Python 3 and the NVIDIA driver, nothing else.

    python3 tools/record.py PLAN_FOLDER OUTPUT_FOLDER

reads plan.json, kernels.ptx and inputs.bin (`cargo run -p xtask -- record-plan PLAN_FOLDER`) and writes outputs.json
and outputs.bin, which `cargo run -p xtask -- record-pack` turns into data files.

Kernels run in a child process. If one of them hangs or poisons the context, it is reported as failing, and a new
child continues with the next. A kernel that the driver does not compile is reported with the driver's message. The
exit status is 0 even if some kernels fail: the count is printed.
"""

import ctypes
import json
import os
import select
import struct
import subprocess
import sys
import time

CHUNK = 256  # kernels compiled together
SILENCE_LIMIT = 30  # seconds without a sign of life from the child
LIMIT = 480  # seconds after which no new child is started
END_MARK = b"DONE"


class Failure(Exception):
    """A call of the driver that failed."""


class Driver:
    """The few calls of the CUDA driver needed here."""

    def __init__(self, library):
        self.cuda = ctypes.CDLL(library)
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, device)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.version = f"{version.value // 1000}.{version.value % 1000 // 10}"
        self.name = name.value.decode(errors="replace")
        self.context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, function, *arguments):
        status = getattr(self.cuda, function)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(status, ctypes.byref(text))
            name = text.value.decode() if text.value else str(status)
            raise Failure(f"{function}: {name}")

    def load(self, text):
        """Compiles a module. A failure carries the compiler's first error."""
        log = ctypes.create_string_buffer(16384)
        # CU_JIT_ERROR_LOG_BUFFER and CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
        options = (ctypes.c_int * 2)(5, 6)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), len(log))
        module = ctypes.c_void_p()
        image = ctypes.create_string_buffer(text.encode())
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), image, 2, options, values)
        except Failure as failure:
            lines = log.value.decode(errors="replace").strip().splitlines()
            raise Failure(f"{failure}: {lines[0]}" if lines else str(failure)) from None
        return module

    def allocate(self, length):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(length, 1)))
        return pointer

    def run(self, module, case, inputs, outputs, data):
        """Runs one kernel on `data` and returns its outputs."""
        function = ctypes.c_void_p()
        kernel = case["kernel"].encode()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel)
        if data:
            self.call("cuMemcpyHtoD_v2", inputs, data, ctypes.c_size_t(len(data)))
        length = case["outputs"]
        whole = ctypes.c_size_t(length + case["scratch"])
        self.call("cuMemsetD8_v2", outputs, ctypes.c_ubyte(0xA5), whole)
        parameters = (ctypes.c_void_p * 2)(ctypes.addressof(inputs), ctypes.addressof(outputs))
        threads = case["threads"]
        self.call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, parameters, None)
        self.call("cuCtxSynchronize")
        result = ctypes.create_string_buffer(length)
        self.call("cuMemcpyDtoH_v2", result, outputs, ctypes.c_size_t(length))
        return result.raw


class Plan:
    """The files of a plan."""

    def __init__(self, folder):
        with open(os.path.join(folder, "plan.json"), encoding="utf-8") as file:
            plan = json.load(file)
        if plan["version"] != 1:
            sys.exit(f"plan.json has version {plan['version']}, not 1")
        self.header, self.cases = plan["header"], plan["cases"]
        with open(os.path.join(folder, "kernels.ptx"), encoding="ascii") as file:
            self.kernels = file.read()
        with open(os.path.join(folder, "inputs.bin"), "rb") as file:
            self.inputs = file.read()

    def module(self, indices):
        texts = []
        for index in indices:
            start, length = self.cases[index]["text"]
            texts.append(self.kernels[start : start + length])
        return self.header + "".join(texts)

    def data(self, case):
        start, length = case["inputs"]
        return self.inputs[start : start + length]


# The child writes messages to its output: number of the case, kind, length, bytes.
STARTED, RESULT, ERROR, DEVICE = range(4)


def send(index, kind, payload=b""):
    sys.stdout.buffer.write(struct.pack("<IBI", index, kind, len(payload)) + payload)
    sys.stdout.buffer.flush()


def modules(driver, plan, indices):
    """Compiles cases together, and by halves if that fails. Yields modules with their cases."""
    send(indices[0], STARTED)
    try:
        yield driver.load(plan.module(indices)), indices
    except Failure as failure:
        if len(indices) == 1:
            send(indices[0], ERROR, f"not compiled: {failure}".encode())
            return
        middle = len(indices) // 2
        yield from modules(driver, plan, indices[:middle])
        yield from modules(driver, plan, indices[middle:])


def work(folder, library, first):
    """The child: runs all cases from number `first`."""
    plan = Plan(folder)
    driver = Driver(library)
    send(0, DEVICE, f"{driver.name}, driver for CUDA {driver.version}".encode())
    inputs = driver.allocate(max((case["inputs"][1] for case in plan.cases), default=1))
    sizes = (case["outputs"] + case["scratch"] for case in plan.cases)
    outputs = driver.allocate(max(sizes, default=1))
    for start in range(first, len(plan.cases), CHUNK):
        indices = list(range(start, min(start + CHUNK, len(plan.cases))))
        for module, present in modules(driver, plan, indices):
            for index in present:
                send(index, STARTED)
                case = plan.cases[index]
                # A failing launch ends this child: nothing works in its context any more.
                send(index, RESULT, driver.run(module, case, inputs, outputs, plan.data(case)))
            driver.call("cuModuleUnload", module)
    sys.stdout.buffer.write(END_MARK)


class Listener:
    """Reads the child's output, with a timeout."""

    def __init__(self, stream):
        self.stream = stream.fileno()

    def read(self, length):
        """Returns exactly `length` bytes; `None` at the end or after too long a silence."""
        data = b""
        while len(data) < length:
            ready, _, _ = select.select([self.stream], [], [], SILENCE_LIMIT)
            piece = os.read(self.stream, length - len(data)) if ready else b""
            if not piece:
                return data if data == END_MARK else None
            data += piece
        return data


def follow(child, results, errors):
    """Processes a child's messages. Returns the device, the current case, and whether the child finished."""
    listener = Listener(child.stdout)
    device, current = None, None
    while True:
        header = listener.read(9)
        if header is None or header == END_MARK:
            return device, current, header == END_MARK
        index, kind, length = struct.unpack("<IBI", header)
        payload = listener.read(length) if length else b""
        if payload is None:
            return device, current, False
        if kind == DEVICE:
            device = payload.decode()
        elif kind == STARTED:
            current = index
        elif kind == RESULT:
            results[index] = payload
        else:
            errors[index] = payload.decode()


def record(folder, target, library):
    plan = Plan(folder)
    results, errors = {}, {}
    device, first, began = None, 0, time.monotonic()
    while first < len(plan.cases) and time.monotonic() - began < LIMIT:
        command = [sys.executable, os.path.abspath(__file__), "--work", folder, library, str(first)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        found, current, finished = follow(child, results, errors)
        device = device or found
        if finished:
            child.communicate()
            break
        hung = child.poll() is None and not select.select([child.stderr], [], [], 5)[0]
        child.kill()
        complaint = child.communicate()[1].decode(errors="replace").strip().splitlines()
        if current is None or device is None:
            sys.exit("no GPU: " + (complaint[-1] if complaint else "the child did not start"))
        why = "it did not come back" if hung or not complaint else complaint[-1]
        errors[current] = f"failed: {why}"
        print(f"{plan.cases[current]['case']}: {errors[current]}", flush=True)
        first = current + 1
    write(plan, target, device, results, errors)
    seconds = time.monotonic() - began
    print(f"{device}: {len(results)} cases recorded, {len(errors)} failed, {seconds:.0f} s")


def write(plan, target, device, results, errors):
    os.makedirs(target, exist_ok=True)
    report, offset = {}, 0
    with open(os.path.join(target, "outputs.bin"), "wb") as file:
        for index, case in enumerate(plan.cases):
            if index in results:
                report[case["case"]] = offset
                file.write(results[index])
                offset += len(results[index])
            else:
                report[case["case"]] = errors.get(index, "not run")
                print(f"{case['case']}: {report[case['case']]}")
    with open(os.path.join(target, "outputs.json"), "w", encoding="utf-8") as file:
        json.dump({"device": device, "cases": report}, file)


def main():
    library = os.environ.get("LIBCUDA", "libcuda.so.1")
    if len(sys.argv) == 5 and sys.argv[1] == "--work":
        try:
            work(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        except (Failure, OSError) as failure:
            sys.exit(str(failure))
    elif len(sys.argv) == 3:
        record(sys.argv[1], sys.argv[2], library)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
