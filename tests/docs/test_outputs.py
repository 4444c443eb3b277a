"""Pages that show what their code prints show what it prints today."""

import re

import pytest

from docs import outputs
from tests.support.folders import ROOT


@pytest.mark.parametrize("page", outputs.PAGES)
def test_pages_print_what_they_show(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "```\n```\n" in text
    assert outputs.filled(page) == text, "run `python -m docs.outputs`"


def test_negative_control_another_output_is_found_out(monkeypatch, tmp_path):
    monkeypatch.setattr(outputs, "ROOT", tmp_path)
    page = "```python\nx = 1\n```\n\n```python\nprint(x)\n```\n```\n2\n```\n\n```\nfree\n```\n"
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    assert outputs.filled("page.md") == page.replace("\n2\n", "\n1\n")


def test_of_the_first_page_every_block_has_its_output():
    text = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^```\n```$", text, re.MULTILINE)) == text.count("```python") >= 4
