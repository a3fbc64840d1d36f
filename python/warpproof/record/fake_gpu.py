"""A fake GPU for recorded host functions: it has properties, but no driver, and one thread.

Properties may differ on a real GPU. Those that a host function reads are recorded as assumptions. Anything that is not
modelled is refused, even if the host function catches the error.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import types
from typing import Any, Callable, Iterator
from unittest import mock

import torch
from torch._subclasses import fake_tensor

from ..trace.errors import Untraceable
from .launches import ErrorNotes

_NUMBERS = {
    "multi_processor_count": 132, "total_memory": 80 << 30, "shared_memory_per_block_optin": 232448, "shared_memory_per_block": 49152,
    "shared_memory_per_multiprocessor": 233472, "warp_size": 32, "max_threads_per_multi_processor": 2048, "max_threads_per_block": 1024,
    "regs_per_multiprocessor": 65536,
}  # fmt: skip


class _Properties:
    """The properties of the fake GPU. Those that are read are recorded."""

    def __init__(self, numbers: dict[str, int], asked: dict[str, int], noting: ErrorNotes):
        self._numbers, self._asked, self._noting = numbers, asked, noting

    def __getattr__(self, name: str) -> int:
        with self._noting():
            if name not in self._numbers:
                raise Untraceable(f"the function queries `{name}` of the GPU")
        self._asked[name] = self._numbers[name]
        return self._numbers[name]


@contextlib.contextmanager
def pretended_gpu(capability: int, asked: dict[str, int], noting: ErrorNotes) -> Iterator[None]:
    """Replaces `torch.cuda`'s queries of the GPU by those of a fake one. Records the numbers that are read in `asked`."""
    major, minor = divmod(capability, 10)
    properties = _Properties({**_NUMBERS, "major": major, "minor": minor}, asked, noting)
    stream = types.SimpleNamespace(cuda_stream=0, synchronize=lambda: None)

    def refused(what: str) -> Callable[..., Any]:
        def refuse(*_: Any, **__: Any) -> Any:
            with noting():
                raise Untraceable(f"the function asks for {what}")

        return refuse

    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "current_device": lambda: 0,
        "device_count": lambda: 1,
        "synchronize": lambda *_: None,
        "get_device_properties": lambda *_: properties,
        "get_device_capability": lambda *_: (major, minor),
        "get_device_name": refused("the name of the GPU"),
        "current_stream": lambda *_: stream,
        "set_device": lambda *_: None,
        "device": lambda *_: contextlib.nullcontext(),
        "empty_cache": lambda: None,
        **{name: refused("a stream of its own") for name in ("Stream", "ExternalStream", "get_stream_from_external") if hasattr(torch.cuda, name)},
        "Event": refused("an event"),
        "CUDAGraph": refused("a graph"),
    }
    with contextlib.suppress(ImportError):
        importlib.import_module("torch._dynamo.device_interface")  # it keeps the classes that it finds, for ever
    start = torch.cuda._lazy_init
    users = [module for name, module in sys.modules.items() if name.startswith("torch.cuda") and vars(module).get("_lazy_init") is start]
    with contextlib.ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, answer))
        for name in ("Stream", "Event"):  # of any device
            if hasattr(torch, name):
                stack.enter_context(mock.patch.object(torch, name, refused(f"{'an' if name == 'Event' else 'a'} {name.lower()} of its own")))
        for module in users:
            stack.enter_context(mock.patch.object(module, "_lazy_init", refused("something that needs a driver of the GPU")))
        # torch allocates real memory before its first fake tensor on a GPU, if it sees a GPU.
        for name in ("init_gpu_context", "init_cuda_context"):
            if hasattr(fake_tensor, name):
                stack.enter_context(mock.patch.object(fake_tensor, name, lambda *_: None))
        yield


@contextlib.contextmanager
def one_thread(noting: ErrorNotes) -> Iterator[None]:
    """Refuses threads that the host function starts: what they do is not recorded. Other threads may start theirs."""
    recording, start = threading.get_ident(), threading.Thread.start

    def refused(thread: threading.Thread) -> None:
        if threading.get_ident() == recording:
            with noting():
                raise Untraceable("the function starts a thread")
        start(thread)

    with mock.patch.object(threading.Thread, "start", refused):
        yield


@contextlib.contextmanager
def same_default_type() -> Iterator[None]:
    """Restores torch's default element type, which a host function may change."""
    before = torch.get_default_dtype()
    try:
        yield
    finally:
        torch.set_default_dtype(before)
