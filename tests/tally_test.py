#!/usr/bin/env python3
"""Does tally.py count what really ran?"""
import unittest

from tally import count_junit, count_program

CLOSING = "[====] Synthesis: Tested: {} | Passing: {} | Failing: {} | Crashing: {}\n"


def junit(*cases):
    rows = "".join(f'<testcase name="t{i}" status="{status}"><system-out>{output}</system-out></testcase>'
                   for i, (status, output) in enumerate(cases))
    return f"<testsuite>{rows}</testsuite>"


class Tally(unittest.TestCase):
    def test_criterion_counts_its_own_tests(self):
        self.assertEqual(count_program("noise\n" + CLOSING.format(12, 12, 0, 0), True), (12, 0))

    def test_criterion_failures_and_crashes_are_what_did_not_pass(self):
        self.assertEqual(count_program(CLOSING.format(5, 3, 2, 1), False), (3, 2))
        self.assertEqual(count_program(CLOSING.format(5, 3, 1, 1), False), (3, 2))

    def test_colour_does_not_hide_the_closing_line(self):
        for escape in ("\x1b", "[NON-XML-CHAR-0x1B]"):
            blue, bold, plain = (escape + code for code in ("[0;34m", "[0;1m", "[0m"))
            line = f"[{blue}===={plain}] {bold}Synthesis: Tested: {blue}4{bold} | Passing: 4 | Failing: 0 | Crashing: 0 {plain}"
            with self.subTest(escape=escape):
                self.assertEqual(count_program(line, True), (4, 0))

    def test_several_runs_in_one_output_add_up(self):
        self.assertEqual(count_program(CLOSING.format(2, 2, 0, 0) + CLOSING.format(3, 3, 0, 0), True), (5, 0))

    def test_scorer_counts_by_its_last_line_only(self):
        self.assertEqual(count_program("PASS a\n7 passed, 0 failed\n\n", True), (7, 0))
        self.assertEqual(count_program("7 passed, 0 failed\nand then more\n", True), (1, 0))

    def test_plain_program_is_one_test(self):
        self.assertEqual(count_program("", True), (1, 0))
        self.assertEqual(count_program("oops", False), (0, 1))

    def test_failing_exit_code_is_never_lost(self):
        self.assertEqual(count_program("7 passed, 0 failed\n", False), (7, 1))
        self.assertEqual(count_program(CLOSING.format(4, 4, 0, 0), False), (4, 1))

    def test_sanitizer_report_is_a_failure_even_in_a_passing_run(self):
        for words in ("==1==ERROR: LeakSanitizer: detected", "WARNING: ThreadSanitizer: data race", "a.c:1:2: runtime error: x"):
            with self.subTest(words=words):
                self.assertEqual(count_program(words + "\n" + CLOSING.format(4, 4, 0, 0), True), (4, 1))

    def test_scorer_that_ran_nothing_counts_nothing(self):
        self.assertEqual(count_program("0 passed, 0 failed\n", True), (0, 0))

    def test_junit_adds_up_all_programs(self):
        text = junit(("run", CLOSING.format(3, 3, 0, 0)), ("run", ""), ("fail", "no"), ("notrun", ""))
        self.assertEqual(count_junit(text), (4, 2))
        self.assertEqual(count_junit(junit()), (0, 0))


if __name__ == "__main__":
    program = unittest.main(exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed", flush=True)
    raise SystemExit(bad != 0 or program.result.testsRun == 0)
