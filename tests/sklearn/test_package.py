"""The package without scikit-learn: nothing else needs it, and the error names the extra."""

import importlib.util
import os
import subprocess
import sys

import pytest

import topalpha.sklearn as package


def test_no_name_of_the_package_needs_scikit_learn():
    code = "import sys, topalpha; topalpha.search; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == 0


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"topalpha.sklearn needs scikit-learn: pip install '.\[sklearn\]'"):
        importlib.reload(package)
    monkeypatch.undo()
    importlib.reload(package)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = package.Nothing


def test_importing_topalpha_does_not_import_scikit_learn():
    check = "import sys, topalpha; topalpha.search; topalpha.simulate; print('sklearn' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_without_scikit_learn_one_sentence_names_the_extra():
    check = (
        "import importlib.util as u; find = u.find_spec; "
        "u.find_spec = lambda name, *rest: None if name == 'sklearn' else find(name, *rest); import topalpha.sklearn"
    )
    run = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert last == "ImportError: topalpha.sklearn needs scikit-learn: pip install '.[sklearn]' in a clone of topalpha"
