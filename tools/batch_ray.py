#!/usr/bin/env python3
"""Runs a batch on a local Ray cluster of several nodes, removes one in the middle, and compares with a run without Ray.

    tools/batch_ray.py jobs.jsonl [--nodes 3] [--lose AFTER] [--workers N]

Needs `pip install 'warpproof[ray]'`. The job file is made by tools/batch_jobs.py. Every job must be answered once, in
order, with the same bytes as without Ray. Prints how many answers came how fast.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Iterator, Optional

import ray
from ray.cluster_utils import Cluster

import warpproof


def jobs_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def lines(results: Iterator, lose: Optional[int], remove) -> list[str]:
    """Returns the results as text, and removes a node after some of them."""
    found = []
    for result in results:
        if len(found) == lose:
            remove()
        found.append(json.dumps(result.data))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", type=Path)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--lose", type=int, help="remove a node after so many answers")
    parser.add_argument("--workers", type=int)
    given = parser.parse_args()
    jobs = jobs_of(given.jobs)

    start = time.monotonic()
    plain = lines(warpproof.batch(jobs, workers=given.workers), None, None)
    print(f"without Ray: {len(plain)} answers in {time.monotonic() - start:.1f} s", flush=True)

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    others = [cluster.add_node(num_cpus=1) for _ in range(given.nodes - 1)]
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        start = time.monotonic()
        spread = lines(warpproof.batch(jobs, ray=cluster.address), given.lose, lambda: cluster.remove_node(others[-1]))
        print(f"with Ray, {given.nodes} nodes: {len(spread)} answers in {time.monotonic() - start:.1f} s")
    finally:
        ray.shutdown()
        cluster.shutdown()
    if plain != spread:
        first = next((at for at, (a, b) in enumerate(zip(plain, spread)) if a != b), min(len(plain), len(spread)))
        sys.exit(f"different from answer {first} on: {len(plain)} against {len(spread)}")
    print("the same answers")


if __name__ == "__main__":
    main()
