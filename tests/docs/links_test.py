#!/usr/bin/env python3
"""The link check against a tiny set of pages."""

import tempfile
import unittest
from pathlib import Path

import links


class Links(unittest.TestCase):
    def problems_of(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "docs").mkdir()
            (root / "docs/b.md").write_text("# B\n## What is `it`, then?\n```\n# not one\n```\n", encoding="utf-8")
            (root / "docs/a.md").write_text(text, encoding="utf-8")
            return links.check(root)

    def test_good_links_pass(self):
        text = "[b](b.md) [w](b.md#what-is-it-then) [up](../docs/) [x](https://example.org/y) `[no](gone.md)`\n"
        self.assertEqual(self.problems_of(text + "```\n[no](gone.md)\n```\n"), [])

    def test_dead_links_are_named_with_their_line(self):
        self.assertEqual(self.problems_of("\n[b](gone.md)\n"), ["docs/a.md:2: gone.md: no such file"])
        self.assertEqual(self.problems_of('<img src="gone.svg">'), ["docs/a.md:1: gone.svg: no such file"])
        self.assertEqual(self.problems_of("[b](b.md#not-one)"), ["docs/a.md:1: b.md#not-one: no such heading"])
        self.assertEqual(self.problems_of("[b](../../x)"), ["docs/a.md:1: ../../x: leads out of the tree"])

    def test_pages_must_be_reachable_from_the_index(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "docs").mkdir()
            for name, text in {"README": "[a](a.md)", "a": "[b](b.md#x) [c](gone.md)", "b": "", "lost": ""}.items():
                (root / f"docs/{name}.md").write_text(text, encoding="utf-8")
            self.assertEqual(links.unreachable(root), ["docs/lost.md: no way leads here from docs/README.md"])


if __name__ == "__main__":
    unittest.main()
