"""scripts/mutate: which mutations there are. Building and judging them is the script's own run."""

import importlib.machinery
import importlib.util
import pathlib
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "mutate"


def load_script():
    loader = importlib.machinery.SourceFileLoader("mutate", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
    loader.exec_module(module)
    return module


mutate = load_script()


def mutated_lines(line, operator=None):
    found = mutate.mutations_of("x.cpp", line)
    return [m.apply(line) for m in found if operator in (None, m.operator)]


class MutationsTest(unittest.TestCase):
    def test_a_relation_becomes_its_boundary_neighbour_and_its_opposite(self):
        self.assertEqual(mutated_lines("return a < b;"), ["return a <= b;", "return a >= b;"])
        self.assertEqual(mutated_lines("return a == b;"), ["return a != b;"])

    def test_arithmetic_and_logical_operators_and_extremes_are_swapped(self):
        self.assertEqual(mutated_lines("x = a + b;"), ["x = a - b;"])
        self.assertEqual(mutated_lines("x += a;"), ["x -= a;"])
        self.assertEqual(mutated_lines("return a && b;"), ["return a || b;"])
        self.assertEqual(mutated_lines("x = std::min(a, b);"), ["x = std::max(a, b);"])

    def test_constants_move_by_one_but_not_below_zero(self):
        self.assertEqual(mutated_lines("x = 2;"), ["x = 3;", "x = 1;"])
        self.assertEqual(mutated_lines("x = 0;"), ["x = 1;"])
        self.assertEqual(mutated_lines("int64_t x2 = kB8;"), [])

    def test_a_condition_is_negated_as_a_whole(self):
        self.assertEqual(mutated_lines("if (f(a) || b) return;", "negated condition"),
                         ["if (!(f(a) || b)) return;"])

    def test_a_condition_that_goes_on_in_the_next_line_is_left_alone(self):
        self.assertEqual(mutated_lines("if (f(a) ||\n    b) return;", "negated condition"), [])

    def test_templates_references_and_shifts_are_no_operators(self):
        self.assertEqual(mutated_lines("template <typename T> std::vector<T*> f(const T& x);"), [])
        self.assertEqual(mutated_lines("auto operator<=>(const A&) const = default; out << x;"), [])

    def test_comments_strings_and_includes_are_no_code(self):
        for line in ("// a < b", "/* a < b\n 7 */", 'print("a < 1");', "#if A < 1", "char c = '7';"):
            self.assertEqual(mutated_lines(line), [], line)

    def test_code_after_a_string_keeps_its_column(self):
        self.assertEqual(mutated_lines('check(a < b, "0 < 1");'),
                         ['check(a <= b, "0 < 1");', 'check(a >= b, "0 < 1");'])
        self.assertEqual(mutated_lines('f("0 < 1", a + b);'), ['f("0 < 1", a - b);'])

    def test_only_the_named_line_changes_and_is_described(self):
        text = "first + line;\n  if (x) y();\n"
        mutation = mutate.mutations_of("x.cpp", text)[1]
        self.assertEqual(mutation.apply(text), "first + line;\n  if (!(x)) y();\n")
        self.assertEqual(mutation.describe(text), "x.cpp:2  `if (x) y();` -> `if (!(x)) y();`  (negated condition)")

    def test_the_seed_decides_the_draw(self):
        texts = {"x.cpp": "a + b; c < d; e = 5; f && g; h - i;"}
        self.assertEqual(mutate.draw(texts, 1), mutate.draw(texts, 1))
        self.assertNotEqual(mutate.draw(texts, 1), mutate.draw(texts, 2))

    def test_the_planner_has_something_to_mutate(self):
        texts = {path: (mutate.ROOT / path).read_text() for path in mutate.sources()}
        self.assertIn("planner/alloc/greedy.cpp", texts)
        self.assertIn("planner/lifetime/live_ranges.cpp", texts)
        self.assertGreater(len(mutate.draw(texts, 1)), 50)


if __name__ == "__main__":
    unittest.main()
