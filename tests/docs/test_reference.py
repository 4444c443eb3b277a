"""What a reader of the reference must find: every parameter of a public name, and an example."""

import importlib
import inspect
import re

import pytest

MODULES = ("", ".storage", ".testing")
MADE_BY_OTHERS = {"Record"}  # nobody calls it
PUBLIC = [
    (module, name)
    for module in MODULES
    for name in importlib.import_module(f"topalpha{module}").__all__
    if callable(getattr(importlib.import_module(f"topalpha{module}"), name, None))
]


def parameters(one):
    """Their names; those of an exception that takes words only are none."""
    try:
        return [] if one.__name__ in MADE_BY_OTHERS else list(inspect.signature(one).parameters)
    except ValueError:
        return []


def documented(text):
    """The names that the docstring has words for."""
    found = re.findall(
        r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=\n\n\S[^\n]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL
    )
    lines = [line for section in found for line in section.splitlines() if re.match(r"[\w*]", line)]
    return {name.strip(" *") for line in lines for name in line.split(",")}


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=lambda one: one or "topalpha")
def test_every_parameter_has_words_and_every_name_an_example(module, name):
    one = getattr(importlib.import_module(f"topalpha{module}"), name)
    text = inspect.getdoc(one) or ""
    assert [parameter for parameter in parameters(one) if parameter not in documented(text)] == []
    assert "\nExamples\n--------\n>>> " in text


def test_negative_control_what_is_missing_is_seen():
    text = "Do.\n\nParameters\n----------\none, two\n    On three.\n**rest\n    Others.\n\nExamples\n--------\n>>> 1\n"
    assert documented(text) == {"one", "two", "rest"}
    assert documented("Do.\n\nExamples\n--------\none\n") == set()
