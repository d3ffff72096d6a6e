#!/usr/bin/env python3
"""Instructions per packet-hop of `headrace run`, against those on record.

Wall time is noisy where CI runs; instruction counts (valgrind's callgrind) are the same every time for
one binary. A scenario that takes over 5 % more than `instructions.json` says fails, one that takes
over 5 % less asks for a new record (`--record`). The counts are those of a release build by the
compiler that the record names; another compiler's may differ by a few percent.

Exit status: 0 within bounds or nothing to measure with, 1 over them, 2 bad input.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RECORD = Path(__file__).with_name("instructions.json")
SCENARIOS = Path(__file__).parent.parent / "scenarios"
TOLERANCE = 0.05

# Short runs: callgrind takes fifty times as long.
CASES = {
    "leaf-spine": ["bench/leaf-spine-dctcp.toml", "--set", 'until="1ms"'],
    "fat-tree": ["bench/fat-tree-dctcp.toml", "--set", 'until="150us"'],
    "dwrr": ["priorities-dwrr.toml", "--set", 'until="2ms"'],
}


def collected(stderr: str) -> int:
    """The instructions that callgrind says it counted."""
    found = re.search(r"Collected : (\d+)", stderr)
    if found is None:
        raise ValueError(f"callgrind counted nothing:\n{stderr}")
    return int(found[1])


def per_hop(headrace: Path, case: list[str], scratch: Path) -> float:
    """Instructions per packet-hop of one case, from start to end of the process."""
    out = scratch / "out"
    run = [str(headrace), "run", str(SCENARIOS / case[0]), *case[1:], "--out", str(out), "--force"]
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        [*valgrind, *run], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise ValueError(f"{' '.join(run)}: exit status {done.returncode}\n{done.stderr}")
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    return collected(done.stderr) / manifest["packet_hops"]


def judge(measured: float, recorded: float) -> tuple[bool, str]:
    """Whether a count passes, and what to say of it."""
    ratio = measured / recorded
    if ratio > 1 + TOLERANCE:
        return False, f"{ratio - 1:+.1%}: more than {TOLERANCE:.0%} over the record"
    if ratio < 1 - TOLERANCE:
        return True, f"{ratio - 1:+.1%}: better; put it on record with --record"
    return True, f"{ratio - 1:+.1%}"


def compiler() -> str:
    """The compiler's version."""
    done = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headrace", type=Path, default=Path("target/release/headrace"))
    parser.add_argument("--record", action="store_true", help="write what is measured on record")
    args = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("instructions: SKIPPED, valgrind is not installed", file=sys.stderr)
        return 0
    try:
        with tempfile.TemporaryDirectory(prefix="headrace-instructions-") as scratch:
            measured = {
                name: round(per_hop(args.headrace, case, Path(scratch)), 1)
                for name, case in CASES.items()
            }
    except (OSError, ValueError, KeyError) as error:
        print(f"instructions: {error}", file=sys.stderr)
        return 2
    if args.record:
        record = {"rustc": compiler(), "instructions_per_packet_hop": measured}
        RECORD.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    if record["rustc"] != compiler():
        print(f"instructions: on record for rustc {record['rustc']}, this is {compiler()}")
    passed = True
    for name, count in measured.items():
        recorded = record["instructions_per_packet_hop"][name]
        fine, words = judge(count, recorded)
        passed = passed and fine
        print(f"{name:11} {count:7.1f} instructions per packet-hop, on record {recorded:7.1f}  {words}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
