"""`topalpha report`: it writes the page, refuses in a sentence, and names what is not installed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tests.support.marks import quick
from topalpha.cli import main


def call(*arguments, code=0):
    result = CliRunner().invoke(main, ["report", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout if code == 0 else result.stderr


def test_the_command_writes_the_page_and_replaces_one_that_is_there(finished, tmp_path):
    path, _, text = finished
    target = tmp_path / "report.html"
    target.write_text("before")
    assert call(path, "-o", target, "--name", "search", "--arms", "5000") == f"{target}\n"
    assert target.read_text(encoding="utf-8") == text
    assert os.listdir(tmp_path) == ["report.html"], "no draft is left"


def test_the_command_refuses_in_a_sentence(finished, tmp_path):
    path, _, _ = finished
    before = path.read_bytes()
    link = tmp_path / "link.db"
    link.symlink_to(path)
    for given in (path, link):
        for target in (path, link, f"{path}-wal"):
            assert "topalpha: output must be a separate file from" in call(given, "-o", target, code=2)
    assert path.read_bytes() == before
    assert "output must name an HTML page" in call(path, "-o", tmp_path / "page.PDF", code=2)
    assert "path must exist" in call(tmp_path / "none.db", "-o", tmp_path / "page.html", code=2)
    assert "name must be a search in the file" in call(path, "-o", tmp_path / "p.html", "--name", "other", code=2)
    assert "output must name a file that can be written" in call(path, "-o", tmp_path / "no" / "p.html", code=2)
    assert "output must name a file that can be written" in call(path, "-o", tmp_path, code=2)
    assert "arms must be" in call(path, "-o", tmp_path / "p.html", "--arms", "0", code=2)
    assert sorted(os.listdir(tmp_path)) == ["link.db"]


@pytest.mark.parametrize("missing", quick(["jinja2", "matplotlib"], ["matplotlib"]))
def test_what_is_not_installed_is_named(finished, tmp_path, missing):
    path, _, _ = finished
    code = f"import sys; sys.modules[{missing!r}] = None; from topalpha.cli import main; main(prog_name='topalpha')"
    command = [sys.executable, "-c", code, "report", str(path), "-o", str(tmp_path / "page.html")]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 2
    (line,) = found.stderr.splitlines()
    assert missing in line
    assert "pip install '.[" in line
    assert os.listdir(tmp_path) == []
