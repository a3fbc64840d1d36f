"""Calls inside a host process: threads, the interpreter's lock, Ctrl-C, memory."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import warpproof as wp

from shared import EXAMPLES
from test_commands import ARGUMENTS, COPY

#: Counts to 2^32 in every thread: takes minutes unless it is interrupted.
SPIN = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 to, .param .u64 count)
{
    .reg .pred %p;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [count];
    mov.u64 %rd3, 0;
LOOP:
    add.u64 %rd3, %rd3, 1;
    setp.lt.u64 %p, %rd3, %rd2;
    @%p bra LOOP;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 8;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u64 [%rd1], %rd3;
    ret;
}
""".replace(".reg .pred", ".reg .b32 %r<2>; .reg .pred")


def spin(exponent: int = 32) -> wp.Launch:
    return wp.ptx(SPIN)[1, 32](y=wp.out(32, dtype="s64"), count=2**exponent)


@pytest.fixture(autouse=True)
def interrupts_are_exceptions():
    """Python ignores Ctrl-C if the shell that started it in the background did."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_threads_do_not_see_each_other(example):
    racy, online = wp.ptx(example("racy.ptx")), wp.ptx(example("online.ptx"))
    alone = [kernel[4, 64].check(**ARGUMENTS).json() for kernel in (racy, online)]

    def answer(number: int) -> str:
        return (racy, online)[number % 2][4, 64].check(**ARGUMENTS).json()

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(answer, range(24)))
    assert together == alone * 12


def test_other_threads_go_on_during_a_call():
    count, done = 0, threading.Event()

    def counter() -> None:
        nonlocal count
        while not done.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=counter)
    thread.start()
    report = spin().check(timeout=1, max_instructions="1000G")
    done.set()
    thread.join()
    assert report.unknown
    # A held lock would let it count to one or two.
    assert count > 50


def interrupt_after(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("command", ["check", "equiv"])
def test_an_interrupt_ends_a_call_soon_and_brings_the_report(command):
    launch = spin()
    timer = interrupt_after(1.0)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as raised:
        if command == "check":
            launch.check(max_instructions="1000G")
        else:
            launch.equiv(launch, max_instructions="1000G")
    took = time.monotonic() - begun
    timer.join()
    # Without the interrupt it takes minutes.
    assert took < 10, f"ended {took - 1:.2f} s after the interrupt"
    report = raised.value.report
    assert report.unknown and "interrupt" in report.text()


def test_an_interrupt_ends_one_call_and_not_the_others():
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(spin(22).check)
        timer = interrupt_after(0.2)
        with pytest.raises(KeyboardInterrupt):
            spin().check(max_instructions="1000G")
        timer.join()
        assert other.result().proved


def test_an_interrupted_call_leaves_nothing_behind(example):
    timer = interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        spin().check(max_instructions="1000G")
    timer.join()
    assert wp.ptx(example("online.ptx"))[4, 64].check(**ARGUMENTS).proved


def test_handlers_of_the_caller_stay():
    before = signal.getsignal(signal.SIGINT)
    seen = []
    signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGUSR1))
    timer.start()
    report = spin().check(timeout=1, max_instructions="1000G")
    timer.join()
    assert report.unknown and seen == [1]
    assert signal.getsignal(signal.SIGINT) is before


def resident() -> int:
    """Returns the bytes of memory used by this process."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_many_calls_do_not_grow():
    launch = wp.ptx(COPY)[1, 32](x=wp.f32(20), y=wp.out(20), n=20)
    for _ in range(500):
        launch.check(jobs=1)
    before = resident()
    for _ in range(2000):
        launch.check(jobs=1)
    assert resident() - before < 4 << 20


def test_nothing_is_printed(capfd, example):
    wp.ptx(example("racy.ptx"))[4, 64].check(**ARGUMENTS)
    with pytest.raises(wp.UsageError):
        wp.check(EXAMPLES / "racy.ptx")
    assert capfd.readouterr() == ("", "")


def test_the_import_is_light():
    """Importing loads next to nothing, and the first call loads neither NumPy nor torch nor Triton."""
    code = (
        "import sys; before = set(sys.modules); import warpproof; print(*sorted(set(sys.modules) - before));"
        "warpproof.check; assert not {'numpy', 'torch', 'triton'} & set(sys.modules), 'heavy'"
    )
    taken = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert set(taken) <= {"warpproof", "__future__"}


def test_a_panic_is_a_bug_of_ours(monkeypatch):
    from warpproof import _native, api

    def broken(*_: object) -> None:
        raise _native.Bug("index out of bounds")

    class Native:
        Bug, call, version = _native.Bug, staticmethod(broken), staticmethod(_native.version)

    monkeypatch.setattr(api, "_native", Native)
    with pytest.raises(wp.Bug, match="bug in Warpproof .*, not in your kernel; please report it: index out of bounds"):
        wp.ptx(COPY)[1, 32].check()
