"""Tests of instructions.py that need no measurement."""

import unittest

import instructions


class Judging(unittest.TestCase):
    def test_more_than_a_twentieth_over_the_record_fails(self):
        self.assertTrue(instructions.judge(104.9, 100.0)[0])
        self.assertFalse(instructions.judge(105.1, 100.0)[0])

    def test_a_better_count_passes_and_asks_for_a_record(self):
        fine, words = instructions.judge(90.0, 100.0)
        self.assertTrue(fine)
        self.assertIn("--record", words)

    def test_the_count_is_read_from_callgrind(self):
        self.assertEqual(instructions.collected("==1== Collected : 12345\n"), 12345)
        with self.assertRaises(ValueError):
            instructions.collected("==1== no count\n")

    def test_every_case_is_on_record(self):
        import json

        record = json.loads(instructions.RECORD.read_text(encoding="utf-8"))
        counts = record["instructions_per_packet_hop"]
        self.assertEqual(set(counts), set(instructions.CASES))


if __name__ == "__main__":
    unittest.main()
