"""Makes wgmma.cuh, and the PTX of every .cu file beside it with NVRTC, for sm_90a; needs no GPU.

    pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl; python3 kernels.py [NAME…]

Of NAME.cu come NAME.ptx and, with BROKEN defined, NAME_broken.ptx, if the file asks for BROKEN.
The version of the PTX is set to 8.0, so that every driver for Hopper takes it.
"""

import ctypes
import pathlib
import re
import site
import sys

HERE = pathlib.Path(__file__).resolve().parent
VERSION = "8.0"

# Name, type of the factors, depth, type of the sums, whether factors may lie the other way round, columns.
SHAPES = [
    ("f16", "f16.f16", 16, "float", True, (16, 32, 64, 128)),
    ("bf16", "bf16.bf16", 16, "float", True, (16,)),
    ("tf32", "tf32.tf32", 8, "float", False, (16,)),
    ("s8", "s8.s8", 32, "int", False, (16,)),
    ("e4m3", "e4m3.e4m3", 32, "float", False, (16, 128)),
    ("e4m3_e5m2", "e4m3.e5m2", 32, "float", False, (16,)),
]
REGISTERS = {"f16": (16, 64)}  # shapes with the left factor in registers
HEADER = """\
// Products of a warp group: 64 rows, two columns for each element of d. TRANSPOSED is about the right factor, LEFT about the left one. Made by kernels.py.
template <int PENDING> __device__ __forceinline__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory"); }
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
"""


def product(name, factors, depth, sums, majors, columns, in_registers):
    """A function that issues one product."""
    count, letter = columns // 2, "f" if sums == "float" else "r"
    d = ", ".join(f"%{i}" for i in range(count))
    inputs, at = [], count
    if in_registers:
        a = "{" + ", ".join(f"%{at + i}" for i in range(4)) + "}"
        inputs += [f'"r"(a[{i}])' for i in range(4)]
        parameter = "const u32 (&a)[4]"
    else:
        a, parameter = f"%{at}", "u64 a"
        inputs.append('"l"(a)')
    at += len(inputs)
    inputs += ['"l"(b)', '"r"(keep)'] + (['"n"(TRANSPOSED)'] if majors else []) + (['"n"(LEFT)'] if majors and not in_registers else [])
    tail = "p" if sums == "int" else "p, 1, 1"
    tail += (", " if in_registers else f", %{at + 3}, ") + f"%{at + 2}" if majors else ""
    kind = "s32" if sums == "int" else "f32"
    template = "template <int TRANSPOSED> " if in_registers else "template <int TRANSPOSED, int LEFT = 0> "
    outputs = ", ".join(f'"+{letter}"(d[{i}])' for i in range(count))
    return (
        f"{template if majors else ''}__device__ __forceinline__ void wgmma_{name}"
        f"({sums} (&d)[{count}], {parameter}, u64 b, int keep) {{\n"
        f'  asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{at + 1}, 0;\\n'
        f'wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{kind}.{factors} {{{d}}}, {a}, %{at}, {tail};\\n}}"\n'
        f"    : {outputs}\n    : {', '.join(inputs)});\n}}\n"
    )


def pins(sums, count):
    """Fence and wait that name the sums, so that the compiler keeps what it does with them on its side."""
    letter = "f" if sums == "float" else "r"
    outputs = ", ".join(f'"+{letter}"(d[{i}])' for i in range(count))
    return (
        f"__device__ __forceinline__ void wgmma_fence({sums} (&d)[{count}]) {{\n"
        f'  asm volatile("wgmma.fence.sync.aligned;" : {outputs} :: "memory");\n}}\n'
        f"template <int PENDING> __device__ __forceinline__ void wgmma_wait({sums} (&d)[{count}]) {{\n"
        f'  asm volatile("wgmma.wait_group.sync.aligned %{count};" : {outputs} : "n"(PENDING) : "memory");\n}}\n'
    )


def wgmma_header():
    text = HEADER
    sizes = sorted({(sums, columns // 2) for _, _, _, sums, _, wide in SHAPES for columns in wide})
    for sums, count in sizes:
        text += pins(sums, count)
    for name, factors, depth, sums, majors, wide in SHAPES:
        for columns in wide:
            text += product(name, factors, depth, sums, majors, columns, False)
        for columns in REGISTERS.get(name, ()):
            text += product(f"{name}_registers", factors, depth, sums, majors, columns, True)
    return text


class Compiler:
    """NVRTC, found among the packages of this Python."""

    def __init__(self):
        folders = [pathlib.Path(one) / "nvidia" for one in site.getsitepackages()]
        libraries = [one for folder in folders for one in folder.glob("*/lib/libnvrtc.so.*") if "alt" not in one.name]
        if not libraries:
            sys.exit("no NVRTC: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl")
        self.library = ctypes.CDLL(str(libraries[0]))
        include = libraries[0].parent.parent / "include"
        self.options = ["--gpu-architecture=compute_90a", "-lineinfo", "-std=c++17", f"-I{HERE}", f"-I{include}", f"-I{include}/cccl"]

    def text(self, size, get, program):
        length = ctypes.c_size_t()
        getattr(self.library, size)(program, ctypes.byref(length))
        text = ctypes.create_string_buffer(length.value)
        getattr(self.library, get)(program, text)
        return text.value.decode()

    def compile(self, path, options):
        program = ctypes.c_void_p()
        source = path.read_text().encode()
        self.library.nvrtcCreateProgram(ctypes.byref(program), source, path.name.encode(), 0, None, None)
        options = self.options + options
        array = (ctypes.c_char_p * len(options))(*(one.encode() for one in options))
        status = self.library.nvrtcCompileProgram(program, len(options), array)
        if status:
            sys.exit(f"{path.name}:\n" + self.text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program))
        return self.text("nvrtcGetPTXSize", "nvrtcGetPTX", program)


def tidy(text):
    """Names of files without folders, a version that older drivers know, and no marks around inline assembly."""
    text = re.sub(r"^\t// (begin|end) inline asm\n", "", text, flags=re.M)
    text = re.sub(r"^\.version .*$", f".version {VERSION}", text, flags=re.M)
    return re.sub(r'^(\s*\.file\s+\d+ ")[^"]*/', r"\1", text, flags=re.M)


def main(names):
    (HERE / "wgmma.cuh").write_text(wgmma_header())
    compiler = Compiler()
    for path in sorted(HERE.glob("*.cu")):
        if names and path.stem not in names:
            continue
        (HERE / f"{path.stem}.ptx").write_text(tidy(compiler.compile(path, [])))
        if "BROKEN" in path.read_text():
            (HERE / f"{path.stem}_broken.ptx").write_text(tidy(compiler.compile(path, ["-DBROKEN"])))


if __name__ == "__main__":
    main(sys.argv[1:])
