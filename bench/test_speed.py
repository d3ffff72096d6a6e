"""speed.py against a binary whose speed is known."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

import speed

# Plays `headrace run SCENARIO --threads 1 --out DIR --force`: a million hops in CPU_SECONDS.
BINARY = """#!{python}
import json, pathlib, sys
scenario, out = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[6])
assert sys.argv[1] == "run" and sys.argv[5] == "--out"
out.mkdir(exist_ok=True)
{body}
seconds = {seconds} * (2 if scenario.stem == "fat" else 1)
manifest = {{"packet_hops": hops, "cpu_seconds": seconds, "peak_rss_bytes": 5_000_000}}
(out / "manifest.json").write_text(json.dumps(manifest))
"""

STEADY = "hops = 1_000_000"
# One more hop each time.
UNSTEADY = """
count = scenario.with_suffix(".count")
hops = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(hops))
"""


class Speed(unittest.TestCase):
    """The command as a whole."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        for name in ["leaf.toml", "fat.toml"]:
            (self.folder / name).touch()

    def binary(self, name: str, seconds: float, body: str = STEADY) -> str:
        """A binary that claims so many CPU seconds."""
        path = self.folder / name
        path.write_text(BINARY.format(python=sys.executable, seconds=seconds, body=body))
        path.chmod(0o755)
        return str(path)

    def run_speed(self, *arguments: str) -> tuple[int, str, str]:
        """Exit status, stdout and stderr."""
        scenarios = [str(self.folder / name) for name in ["leaf.toml", "fat.toml"]]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = speed.main([*scenarios, "--rounds", "2", *arguments])
            except SystemExit as stop:
                status = stop.code
        return status, out.getvalue(), err.getvalue()

    def test_rates_and_ratios(self) -> None:
        new, old = self.binary("new", 0.5), self.binary("old", 1.0)
        status, out, _ = self.run_speed("--headrace", new, "--base", old, "--json")
        self.assertEqual(status, 0)
        measured = json.loads(out)
        rates = [run["hops_per_cpu_second"] for run in measured["runs"]]
        self.assertEqual(rates, [2e6, 1e6, 1e6, 5e5])
        ratios = [ratio["ratio"] for ratio in measured["ratios"]]
        self.assertEqual(ratios, [0.5, 0.5, 2.0, 2.0])

    def test_table(self) -> None:
        status, out, _ = self.run_speed("--headrace", self.binary("new", 0.5))
        self.assertEqual(status, 0)
        self.assertIn(" 2.00  (2.00 to 2.00)", out)
        self.assertIn(" 0.500  fat / leaf", out)

    def test_runs_that_disagree_are_refused(self) -> None:
        status, out, err = self.run_speed("--headrace", self.binary("new", 0.5, UNSTEADY))
        self.assertEqual((status, out), (1, ""))
        self.assertIn("not deterministic", err)

    def test_a_failed_run_is_told(self) -> None:
        failing = self.binary("new", 0.5, "sys.exit('queue overran')")
        status, _, err = self.run_speed("--headrace", failing)
        self.assertEqual(status, 1)
        self.assertIn("queue overran", err)

    def test_bad_input(self) -> None:
        status, _, err = self.run_speed("--headrace", str(self.folder / "absent"))
        self.assertEqual(status, 2)
        self.assertIn("no such file", err)
        new = self.binary("new", 0.5)
        self.assertEqual(self.run_speed("--headrace", new, "--base", new)[0], 2)


if __name__ == "__main__":
    unittest.main()
