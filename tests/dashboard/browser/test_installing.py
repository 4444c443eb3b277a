"""The browser is found, installed where that can be done, and else one line says how to get it."""

import os
from pathlib import Path

import pytest

from tests.support import chromium


def program(folder, name, text):
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def test_found_by_name_and_by_variable(tmp_path):
    assert chromium.find({"PATH": str(tmp_path)}) is None
    program(tmp_path, "chromium", "")
    assert chromium.find({"PATH": str(tmp_path)}) == str(tmp_path / "chromium")
    program(tmp_path, "mine", "")
    assert chromium.find({"PATH": "/nowhere", "CHROMIUM": str(tmp_path / "mine")}) == str(tmp_path / "mine")


def test_installed_by_root_with_apt(tmp_path, monkeypatch):
    browser = tmp_path / "chromium"
    makes = f'printf "#!/bin/sh" > {browser}; /bin/chmod 755 {browser}'
    program(tmp_path, "apt-get", f'echo "$@" >> {tmp_path}/log; [ "$2" = update ] || {{ {makes}; }}')
    environment = {"PATH": str(tmp_path)}
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert chromium.install(environment) is None
    assert not (tmp_path / "log").exists()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert chromium.install(environment) == str(tmp_path / "chromium")
    calls = (tmp_path / "log").read_text().splitlines()
    assert calls == ["-qq update", f"-qq install --yes --no-install-recommends {' '.join(chromium.PACKAGES)}"]
    assert chromium.install(environment) == str(tmp_path / "chromium")
    assert (tmp_path / "log").read_text().splitlines() == calls, "it was installed twice"


def test_a_failed_attempt_is_told_in_one_line(tmp_path, monkeypatch, capsys):
    program(tmp_path, "apt-get", f"echo no network >&2; echo >> {tmp_path}/log; exit 100")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    chromium.main()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == chromium.MISSING + "\n"
    assert printed.err.count("\n") == 1
    assert "apt-get install chromium" in printed.err
    assert (tmp_path / "log").read_text() == "\n", "it went on after a failure"


def test_without_a_browser_tests_are_skipped_but_not_in_ci(tmp_path):
    empty = {"PATH": str(tmp_path)}
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        chromium.needed(empty)
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        chromium.needed({**empty, "CI": "true"})
    program(tmp_path, "chromium", "")
    assert chromium.needed({**empty, "CI": "true"}) == str(tmp_path / "chromium")


@pytest.mark.parametrize("value", ["true", "1", "True", "yes", "woodpecker"])
def test_most_values_mean_yes(value):
    assert chromium.is_mandatory({"CI": value})


@pytest.mark.parametrize("environment", [{}, {"CI": ""}, {"CI": "0"}, {"CI": "false"}, {"CI": "False"}])
def test_some_mean_no(environment):
    assert not chromium.is_mandatory(environment)


def test_continuous_integration_makes_them_mandatory():
    script = (Path(__file__).parents[3] / ".ci" / "run").read_text()
    assert "export CI=true\nmake test" in script
