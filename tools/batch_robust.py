#!/usr/bin/env python3
"""Tries to break `warpproof batch`: kills, signals, a full disk. Ends with a message at the first difference.

    tools/batch_robust.py target/release/warpproof poisoned.jsonl [FOLDER_ON_A_SMALL_TMPFS]

The job file is made by tools/batch_jobs.py with --poison. Every run must end in the same bytes as an undisturbed one
with another number of workers.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMITS = ["--max-instructions=2M", "--timeout=60", "--max-memory=256M"]


def workers_of(folder: str) -> list[int]:
    """Returns the processes with a folder on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if folder.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def no_orphans(folder: str) -> None:
    for _ in range(100):
        if not workers_of(folder):
            return
        time.sleep(0.05)
    sys.exit(f"processes are left: {workers_of(folder)}")


def main(program: str, jobs: str, small_disk: str | None) -> None:
    folder = tempfile.mkdtemp(prefix="warpproof-robust-")
    own = Path(folder) / "jobs.jsonl"
    own.write_bytes(Path(jobs).read_bytes())
    count = len(own.read_text().splitlines())

    def command(output: str, *flags: str) -> list[str]:
        return [program, "batch", str(own), "-o", output, *LIMITS, *flags]

    whole = f"{folder}/whole.jsonl"
    begun = time.monotonic()
    ended = subprocess.run(command(whole, "-j2"), capture_output=True, text=True)
    seconds = time.monotonic() - begun
    assert ended.returncode == 0, ended.stderr
    print(f"undisturbed: {seconds:.1f} s, {count / seconds * 60:.0f} jobs a minute; {ended.stderr.strip()}", flush=True)
    no_orphans(folder)
    expected = Path(whole).read_bytes()
    lines = [json.loads(line) for line in expected.splitlines()]
    assert len(lines) == count, "a line is lost"
    poison = {}
    for line in lines:
        kind = str(line["id"]).split("#")[0]
        if line["limit"] or line["verdict"] == "invalid":
            poison.setdefault(kind if "#" in str(line["id"]) else "malformed", set()).add((line["verdict"], line["limit"]))
    for kind, answers in sorted(poison.items()):
        print(f"  {kind}: {sorted(map(str, answers))}")

    for name, number in (("kill -9", signal.SIGKILL), ("SIGTERM", signal.SIGTERM), ("SIGINT", signal.SIGINT)):
        output = f"{folder}/{name.replace(' ', '')}.jsonl"
        times = 0
        while True:
            child = subprocess.Popen(command(output, "-j3", "--resume"), stderr=subprocess.DEVNULL)
            try:
                status = child.wait(timeout=random.uniform(0.15, 0.4) * seconds)
                assert status == 0, status
                break
            except subprocess.TimeoutExpired:
                child.send_signal(number)
                status = child.wait()
                assert status == (-9 if number == signal.SIGKILL else 128 + number), status
                no_orphans(folder)
                times += 1
        assert Path(output).read_bytes() == expected, f"{name}: other bytes"
        print(f"{name}: {times} times in the middle, then the same bytes, no process left", flush=True)

    if small_disk is not None:
        output = f"{small_disk}/results.jsonl"
        ended = subprocess.run(command(output), capture_output=True, text=True)
        assert ended.returncode == 2 and "No space left" in ended.stderr, (ended.returncode, ended.stderr)
        no_orphans(folder)
        kept = Path(output).read_bytes()
        assert kept and expected.startswith(kept) and kept.endswith(b"\n"), "the part that fits is whole lines"
        print(f"full disk: {ended.stderr.strip()}")
        larger = f"{folder}/larger.jsonl"
        Path(larger).write_bytes(kept)
        ended = subprocess.run(command(larger, "--resume"), capture_output=True, text=True)
        assert ended.returncode == 0 and Path(larger).read_bytes() == expected
        print("full disk: resumed elsewhere, the same bytes")
    os.sync()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) == 4 else None)
