"""The pictures that documents show are there, real and small."""

import re

import pytest

from tests.support.folders import ROOT

LARGEST = 200_000


@pytest.mark.parametrize("document", ["README.md", "docs/dashboard.md"])
def test_pictures_are_there_and_small(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    names = re.findall(r"!\[[^\]]{20,}\]\(([^)]*pictures/[^)]+)\)", text)
    assert len(names) == text.count("pictures/") >= 1
    for name in names:
        content = ((ROOT / document).parent / name).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) < LARGEST
