#!/usr/bin/env python3
"""Packet-hops per CPU second of `headrace run`, on one pinned core.

Scenarios, and with --base two binaries, take turns within each round, so that a slow minute of the
machine falls on all of them alike; a ratio is the median of the rounds' own ratios. Rate, memory
and packet-hops are read from each run's manifest.json. Every run of a scenario by one binary must
count the same packet-hops, or something is not deterministic and the numbers mean nothing.

Exit status: 0 measured, 1 a run failed or runs disagree, 2 bad input.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median


class RunError(Exception):
    """A run failed, or its manifest does not say what is needed."""


@dataclass(frozen=True)
class Sample:
    """One run."""

    packet_hops: int
    cpu_seconds: float
    peak_rss_bytes: int

    @property
    def rate(self) -> float:
        """Packet-hops per CPU second."""
        return self.packet_hops / self.cpu_seconds


def run_once(headrace: Path, scenario: Path, core: int, out: Path) -> Sample:
    """Runs a scenario on one core and reads its manifest."""
    command = [str(headrace), "run", str(scenario), "--threads", "1", "--out", str(out), "--force"]
    pinned = ["taskset", "--cpu-list", str(core), *command]
    done = subprocess.run(
        pinned, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        raise RunError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    manifest = out / "manifest.json"
    try:
        fields = json.loads(manifest.read_text(encoding="utf-8"))
        sample = Sample(
            int(fields["packet_hops"]), float(fields["cpu_seconds"]), int(fields["peak_rss_bytes"])
        )
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RunError(f"{' '.join(command)}: manifest.json: {error!r}") from error
    if sample.cpu_seconds <= 0 or sample.packet_hops <= 0:
        raise RunError(f"{' '.join(command)}: nothing was measured: {sample}")
    return sample


def measure(
    binaries: list[Path], scenarios: list[Path], rounds: int, core: int
) -> dict[tuple[Path, Path], list[Sample]]:
    """Samples by (scenario, binary), in the order of the rounds; one round before is not counted."""
    samples: dict[tuple[Path, Path], list[Sample]] = {
        (scenario, binary): [] for scenario in scenarios for binary in binaries
    }
    with tempfile.TemporaryDirectory(prefix="headrace-speed-") as scratch:
        for round_number in range(rounds + 1):
            # Every other round turns the order about: neither binary always runs second.
            order = binaries if round_number % 2 == 0 else binaries[::-1]
            for scenario in scenarios:
                for binary in order:
                    sample = run_once(binary, scenario, core, Path(scratch) / "out")
                    if round_number > 0:
                        samples[scenario, binary].append(sample)
            print(f"round {round_number} of {rounds} done", file=sys.stderr)
    for (scenario, binary), runs in samples.items():
        hops = sorted({run.packet_hops for run in runs})
        if len(hops) != 1:
            raise RunError(f"{binary} is not deterministic on {scenario}: packet-hops {hops}")
    return samples


def paired_ratio(over: list[Sample], under: list[Sample]) -> float:
    """Median of the rounds' ratios of rates."""
    return median(a.rate / b.rate for a, b in zip(over, under, strict=True))


def report(
    samples: dict[tuple[Path, Path], list[Sample]], binaries: list[Path], scenarios: list[Path]
) -> dict:
    """What was measured, as JSON takes it."""
    runs = []
    for (scenario, binary), taken in samples.items():
        rates = [sample.rate for sample in taken]
        runs.append(
            {
                "scenario": scenario.stem,
                "binary": str(binary),
                "packet_hops": taken[0].packet_hops,
                "hops_per_cpu_second": median(rates),
                "hops_per_cpu_second_min": min(rates),
                "hops_per_cpu_second_max": max(rates),
                "peak_rss_bytes": max(sample.peak_rss_bytes for sample in taken),
            }
        )
    ratios = []
    for binary in binaries:
        for scenario in scenarios[1:]:
            ratio = paired_ratio(samples[scenario, binary], samples[scenarios[0], binary])
            of = f"{scenario.stem} / {scenarios[0].stem}"
            ratios.append({"of": of, "with": str(binary), "ratio": ratio})
    for scenario in scenarios:
        for base in binaries[1:]:
            ratio = paired_ratio(samples[scenario, binaries[0]], samples[scenario, base])
            of = f"{binaries[0]} / {base}"
            ratios.append({"of": of, "with": scenario.stem, "ratio": ratio})
    return {"runs": runs, "ratios": ratios}


def print_tables(measured: dict) -> None:
    """The report as text."""
    width = max(len(run["scenario"]) for run in measured["runs"])
    print(f"{'scenario':{width}}  packet-hops  M hops/CPU s  (min to max)    peak MB  binary")
    for run in measured["runs"]:
        spread = "({:.2f} to {:.2f})".format(
            run["hops_per_cpu_second_min"] / 1e6, run["hops_per_cpu_second_max"] / 1e6
        )
        print(
            f"{run['scenario']:{width}}  {run['packet_hops']:11d}  "
            f"{run['hops_per_cpu_second'] / 1e6:12.2f}  {spread:14}  "
            f"{run['peak_rss_bytes'] / 1e6:7.1f}  {run['binary']}"
        )
    if measured["ratios"]:
        print()
    for ratio in measured["ratios"]:
        print(f"{ratio['ratio']:6.3f}  {ratio['of']}, {ratio['with']}")


def last_core() -> int:
    """The last core this process may use: the first one takes most interrupts."""
    return max(os.sched_getaffinity(0))


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenarios", nargs="+", type=Path, metavar="SCENARIO.toml")
    parser.add_argument("--headrace", type=Path, default=Path("target/release/headrace"))
    parser.add_argument("--base", type=Path, help="another headrace binary to compare with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--core", type=int, default=last_core())
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(arguments)
    binaries = [options.headrace] + ([options.base] if options.base else [])
    if len({binary.resolve() for binary in binaries}) != len(binaries):
        parser.error("--base is --headrace itself: keep a copy of the other build elsewhere")
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    for path in [*binaries, *options.scenarios]:
        if not path.is_file():
            parser.error(f"{path}: no such file")
    binaries = [binary.resolve() for binary in binaries]
    try:
        samples = measure(binaries, options.scenarios, options.rounds, options.core)
    except RunError as error:
        print(f"speed: {error}", file=sys.stderr)
        return 1
    measured = report(samples, binaries, options.scenarios)
    if options.json:
        json.dump(measured, sys.stdout, indent=2)
        print()
    else:
        print_tables(measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
