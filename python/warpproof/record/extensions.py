"""Records CUDA extensions of torch (`load_inline`, `load`) without a host compiler.

An extension is CUDA C++ with host functions that launch its kernels. The text of the kernels is passed on unchanged;
host functions are interpreted by `cuda_host` on the fake tensors of a recording. Anything that might change the
meaning of the text is refused: unknown compiler flags, extra include folders, exports under `#if`.
"""

from __future__ import annotations

import contextlib
import re
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union
from unittest import mock

import torch

from ..trace.errors import Untraceable
from .cuda_host import Host
from .cuda_integers import INTEGERS, plain
from .cuda_macros import directives, without_comments
from .cuda_source import KernelSource, Source, renamed, split_source
from .cuda_values import TYPES, Dim3, Pointer, bare_kind, converted
from .launches import Compiled, ErrorNotes, Launched

#: Declarations from torch's headers in every extension. Lines are counted after them.
_PRELUDE = "#include <stdint.h>\n#include <math.h>\n#line 1\n"
_RECORDING: ContextVar[Optional[tuple[Launched, ErrorNotes]]] = ContextVar("recording", default=None)
#: Compiler flags that change neither the text nor its meaning over the reals: speed, warnings, target, language.
_PLAIN_FLAGS = re.compile(
    r"-O[0-3s]?|-g|-G|-w|-W[a-z-]+|-v|-lineinfo|--?generate-line-info|--?use_fast_math|-(?:-f|f)mad=(?:true|false)|-std=c\+\+\d\d|-m64|-fPIC"
    r"|-march=native|-fopenmp|-(?:-gpu-architecture|arch|-generate-code|gencode)(?:=[\w=,]+)?|(?:arch=)?(?:compute|sm)_\w+(?:,code=\w+)?"
    r"|-Xptxas(?:=[-\w,=]+)?|--ptxas-options=[-\w,=]+|--?maxrregcount(?:=\d+)?|--threads(?:=\d+)?|\d+|--expt-[a-z-]+|-allow-unsupported-compiler"
)
Texts = Union[str, Sequence[str], None]


@contextlib.contextmanager
def record_extensions(on_launch: Launched, noting: ErrorNotes) -> Iterator[None]:
    """Passes launches of extensions to `on_launch`. Host functions run within `noting`, which keeps their errors."""
    token = _RECORDING.set((on_launch, noting))
    try:
        yield
    finally:
        _RECORDING.reset(token)


@contextlib.contextmanager
def replaced() -> Iterator[None]:
    """Makes `load_inline` and `load` return extensions that can be recorded."""
    from torch.utils import cpp_extension

    with mock.patch.object(cpp_extension, "load_inline", load_inline), mock.patch.object(cpp_extension, "load", load):
        yield


def load_inline(name: str, cpp_sources: Texts = None, cuda_sources: Texts = None, *_: Any, **options: Any) -> "Extension":
    """Returns the extension of some texts, as torch's function does."""
    # torch's third and fourth parameters after the name are `sycl_sources` and `functions` in some versions, so they
    # are taken only by name.
    if _:
        raise Untraceable("positional arguments of `load_inline` after `cuda_sources`")
    _require_plain_flags(options)
    # The texts of each compiler are one text: a macro of the first one changes the second one.
    texts = ["\n".join(_as_list(given)) for given in (cpp_sources, cuda_sources)]
    functions = options.get("functions")
    if functions is None:
        return Extension(name, texts, _exports(texts))
    return Extension(name, texts, {one: one for one in ([functions] if isinstance(functions, str) else functions)})


def load(name: str, sources: Texts, *_: Any, **options: Any) -> "Extension":
    """Returns the extension of some files, as torch's function does."""
    if _:
        raise Untraceable("positional arguments of `load` after `sources`")
    _require_plain_flags(options)
    texts = [Path(file).read_text() for file in _as_list(sources)]
    return Extension(name, texts, _exports(texts))


def _require_plain_flags(options: Mapping[str, Any]) -> None:
    """Refuses flags of compilers, other than those that change neither the text nor its meaning over the reals."""
    flags = [str(flag) for name in ("extra_cuda_cflags", "extra_cflags") for flag in _as_list(options.get(name))]
    flag = next((one for one in flags if not _PLAIN_FLAGS.fullmatch(one)), None)
    if flag is None and _as_list(options.get("extra_include_paths")):
        flag = "extra_include_paths"
    if flag is not None:
        raise Untraceable(f"the compiler flag `{flag}` of an extension", "write what it defines into the text")


def _as_list(given: Texts) -> list[str]:
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def _exports(texts: Sequence[str]) -> dict[str, str]:
    """Returns the functions exported by `PYBIND11_MODULE`: names in Python and in C++."""
    found = {pair for text in texts for pair in re.findall(r"\.def\(\s*\"(\w+)\"\s*,\s*&?\s*(\w+)", without_comments(text))}
    if len({name for name, _ in found}) != len(found):
        raise Untraceable("an extension that exports two functions by one name")
    if any(directives(without_comments(text)).decides(r"\.def\(|PYBIND11_MODULE") for text in texts):
        raise Untraceable("an extension whose exports are under a condition of the preprocessor")
    return dict(found)


class Extension:
    """A Python module whose functions launch kernels."""

    def __init__(self, name: str, texts: Sequence[str], functions: Mapping[str, str]) -> None:
        self.__name__ = name
        parts = [split_source(text) for text in texts]
        self._sources = parts
        whole = Source("")
        for part in parts:
            whole.add(part)
        for kernel in {name for part in parts for name in part.kernels if sum(name in other.kernels for other in parts) > 1}:
            whole.refuse(kernel, "two kernels of one name")
        self._host = Host(whole, self._launch, {name for part in parts for name in part.kernels})
        for called, own in functions.items():
            if any(own in part.macros for part in parts):
                raise Untraceable(f"the extension `{name}` exports `{own}`, which is a macro")
            if own not in whole.functions:
                raise Untraceable(f"the extension `{name}` has no host function `{own}`")
            setattr(self, called, self._function(own))

    def _function(self, name: str) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            recording = _RECORDING.get()
            if recording is None:
                raise Untraceable(f"`{name}` of a CUDA extension runs outside of `forward`")
            with recording[1]():
                if named:
                    raise Untraceable(f"`{name}` is called with keyword arguments")
                self._require_types(name, arguments)
                try:
                    return plain(self._host.call(name, arguments))
                except Untraceable:
                    raise
                except (TypeError, IndexError, ValueError) as error:  # arguments that torch's function does not take in Python
                    raise Untraceable(f"the host function `{name}`: {(str(error).splitlines() or [''])[0]}") from error

        return run

    def _require_types(self, name: str, arguments: Sequence[Any]) -> None:
        """Refuses a float for an integer, as the binding does."""
        for (kind, formal), value in zip(self._host.source.functions[name].parameters, arguments):
            if isinstance(value, float) and bare_kind(kind) in INTEGERS:
                raise Untraceable(f"`{formal}` of `{name}` is a float, but must be `{kind}`")

    def _launch(self, name: str, template: Sequence[Any], grid: Dim3, block: Dim3, shared: int, values: Sequence[Any]) -> None:
        source = next((part for part in self._sources if name in part.kernels), None)
        recording = _RECORDING.get()
        if source is None or recording is None:
            raise Untraceable(f"`{name}` is launched, but is not a kernel of the extension")
        kernel = source.kernels[name]
        reason = source.refused.get(name) or self._host.source.refused.get(name) or source.unread
        if reason is not None:
            raise Untraceable(f"{reason} at the kernel `{name}`")
        if len(values) != len(kernel.parameters):
            raise Untraceable(f"`{name}` is launched with {len(values)} arguments, but has {len(kernel.parameters)} parameters")
        if len(template) > len(kernel.template):
            raise Untraceable(f"`{name}` is launched with {len(template)} template arguments")
        words = {word for kind, _ in kernel.parameters for word in re.findall(r"\w+", kind)}
        deduced = [one for one in kernel.template[len(template) :] if one in words]
        if deduced:
            raise Untraceable(f"`{deduced[0]}` of the template `{name}` is deduced from the arguments", "write template arguments at the launch")
        passed = {formal: _passed(kind, formal, value, name) for (kind, formal), value in zip(kernel.parameters, values)}
        recording[0](_compiled(source, kernel, template, block, shared), (grid.x, grid.y, grid.z), passed)


def _passed(kind: str, name: str, value: Any, kernel: str) -> Any:
    """Returns an argument as passed to the kernel."""
    if isinstance(value, Pointer):
        if "*" not in kind:
            raise Untraceable(f"`{name}` of `{kernel}` is an address, but must be `{kind}`")
        if not value.tensor.is_cuda:
            raise Untraceable(f"`{name}` of `{kernel}` is a tensor in the memory of the CPU")
        return value.tensor
    if "*" in kind or not isinstance(value, (int, float)):
        raise Untraceable(f"`{name}` of `{kernel}` is {type(value).__name__}, but must be `{kind}`")
    bare = kind.replace("const", "").replace("__restrict__", "").strip()
    number = converted(bare, value)
    return int(number) if bare == "bool" else plain(number)


def _compiled(source: Source, kernel: KernelSource, template: Sequence[Any], block: Dim3, shared: int) -> Compiled:
    pointers = [(kind, name) for kind, name in kernel.parameters if "*" in kind]
    written = frozenset(name for kind, name in pointers if "const" not in kind.partition("*")[0].split())

    def text(taken: set[str]) -> str:
        return _PRELUDE + renamed(source, kernel, taken) + _instance(kernel, template)

    parameters = tuple(name for _, name in kernel.parameters)
    return Compiled(
        kernel.name, "", 0, shared, (), parameters, frozenset(name for _, name in pointers), written, {}, None, (block.x, block.y, block.z), text
    )


def _instance(kernel: KernelSource, template: Sequence[Any]) -> str:
    """Returns an explicit instantiation of a kernel template, or nothing for other kernels."""
    if not kernel.template:
        return ""
    names = {kind: text for text, kind in reversed(TYPES.items())}
    words = ", ".join(names[one].replace(" ", "") if isinstance(one, torch.dtype) else str(one).lower() for one in template)
    called = f"{kernel.name}<{words}>" if words else f"{kernel.name}<>"
    return f"\ntemplate __global__ decltype({called}) {called};\n"
