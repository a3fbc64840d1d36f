"""TileLang programs, compiled to PTX without a GPU. Imported only where TileLang is used; written for TileLang
0.1.15.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from warpproof.arguments import Tensor, dtype_name
from warpproof.errors import UsageError
from warpproof.kernels import Kernel, Launch

#: Inputs are addresses below sm_90; from there on TileLang passes tensor maps.
_ARCHITECTURE = "sm_80"


def is_program(given: Any) -> bool:
    """Returns `True` for a function with ``@T.prim_func``."""
    return type(given).__name__ == "PrimFunc" and hasattr(given, "buffer_map")


def is_installed() -> bool:
    """Returns `True` if TileLang can be imported."""
    return find_spec("tilelang") is not None


def launch(program: Any, arch: str | None, include: tuple[str, ...]) -> Launch:
    """Compiles a program and returns its launch: grid, block, shared memory and tensors are all in the program."""
    import tilelang
    from tilelang import tvm

    target = tvm.target.Target({"kind": "cuda", "arch": arch or _ARCHITECTURE})
    with target:
        lowered = tilelang.lower(program, target=target, enable_device_compile=False)
    functions = list(lowered.device_mod.functions.items())
    if len(functions) != 1:
        names = ", ".join(sorted(str(name.name_hint) for name, _ in functions))
        raise UsageError(f"the program becomes {len(functions)} kernels ({names}): give their CUDA C++ and launches one by one")
    ((found, function),) = functions
    extents = {str(name): _number(size, str(name)) for name, size in function.attrs["thread_extent"].items()}
    return Launch(
        kernel(lowered.kernel_source, str(found.name_hint), arch, include),
        grid=tuple(extents.get(f"blockIdx.{axis}", 1) for axis in "xyz"),
        block=tuple(extents.get(f"threadIdx.{axis}", 1) for axis in "xyz"),
        shared=_shared(function),
        arguments=_arguments(program, function),
    )


def kernel(source: str, name: str | None, arch: str | None, include: tuple[str, ...]) -> Kernel:
    """Compiles CUDA C++ written by TileLang, with NVRTC as TileLang itself does, because its headers need
    preparations.
    """
    from tilelang.contrib import nvrtc

    number = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3})a?", arch or _ARCHITECTURE)
    if number is None:
        raise UsageError(f"`{arch}` is not an architecture such as sm_90")
    options = ["-std=c++17", "-lineinfo", f"-D__CUDACC_VER_MAJOR__={nvrtc.get_nvrtc_version()[0]}"]
    options += [f"-I{folder}" for folder in (*include, *_headers())]
    try:
        made = nvrtc.compile_cuda(source, "ptx", int(number.group(1)), options, verbose=True)
    except RuntimeError as error:
        raise UsageError(f"the CUDA C++ of TileLang does not compile: {str(error).partition('Compilation error:')[2].strip()[:2000]}") from None
    # TileLang puts a line in front of the text, which shifts the line numbers of the PTX; this is the text they refer
    # to.
    text = f"#include <tl_templates/cuda/nvrtc_std.h>\n{source}"
    file = f"{name or 'kernel'}.cu"
    ptx = re.sub(r'^(\s*\.file\s+\d+\s+)"[^"]*tvm_kernels"', rf'\1"{file}"', bytes(made).rstrip(b"\0").decode(), flags=re.MULTILINE)
    return Kernel(f"{name or 'kernel'}.ptx", ptx, name, sources=((file, text),))


def _headers() -> list[Path]:
    """Returns the header folders of TileLang and of CUDA, the latter from a toolkit or from Python packages."""
    from tilelang import env

    found = find_spec("tilelang")
    assert found is not None and found.origin is not None
    root = Path(found.origin).parent
    own = [Path(env.TILELANG_TEMPLATE_PATH or root / "src"), Path(env.CUTLASS_INCLUDE_DIR or root / "3rdparty/cutlass/include")]
    roots = [Path(env.CUDA_HOME)] if env.CUDA_HOME else sorted((root.parent / "nvidia").glob("*"))
    places = [folder for one in roots for folder in (one / "include", one / "include" / "cccl")]
    return [*own, *(folder for folder in places if folder.is_dir())]


def _shared(function: Any) -> int | None:
    if "dyn_shared_memory_buf" not in function.attrs:
        return None
    return _number(function.attrs["dyn_shared_memory_buf"], "the shared memory")


def _arguments(program: Any, function: Any) -> dict[str, Any]:
    """Returns the tensors of a kernel: inputs if they are only read, otherwise outputs."""
    buffers = {str(buffer.name): buffer for buffer in program.buffer_map.values()}
    read = {int(index) for index in function.attrs.get("tl.readonly_param_indices", ())}
    arguments: dict[str, Any] = {}
    for position, parameter in enumerate(function.params):
        name = str(parameter.name)
        if name not in buffers:
            raise UsageError(f"`{name}` of the kernel is not a tensor of the program; give its CUDA C++ with a launch, `wp.cuda(…)[grid, block]`")
        buffer = buffers[name]
        shape = tuple(_number(extent, name) for extent in buffer.shape)
        arguments[name] = Tensor(_element(buffer.dtype), shape, "in" if position in read else "out")
    return arguments


def _element(dtype: Any) -> str:
    """Returns the element type for TileLang's names, such as `float8_e4m3` and `int32`."""
    return dtype_name(re.sub(r"^(float8_e4m3)$", r"\1fn", str(dtype)))


def _number(value: Any, name: str) -> int:
    number = getattr(value, "value", value)
    if not isinstance(number, int):
        raise UsageError(f"`{name}` of the TileLang program is not a fixed size: {value}")
    return int(number)
