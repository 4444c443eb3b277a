"""Results in print and in notebooks."""

import re

import pytest

import topalpha
from topalpha import Search, Task, design, parse_reservoir, simulate
from topalpha.certificate import certify

EVIL = "<script>alert(1)</script>\n'\"&\x1b"


def draw(rng):
    return {"rate": float(rng.random())}


def pull(candidate, rng):
    return float(rng.random() < candidate["rate"])


def searched(**more):
    return topalpha.search(draw, pull, **{"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none", **more})


def chosen(prompts):
    return topalpha.select(prompts, range(20), lambda one, place: len(one) > place, epsilon=0.2, progress="none")


def told():
    search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    while (pull := search.ask()) is not None:
        search.tell(pull, float(pull.arm == 2))
    return search.result


MADE = {
    "result": searched,
    "early": lambda: searched(pulls=60),
    "several": lambda: searched(algorithm="cc-lucb-k", options={"k": 3}),
    "certificate": lambda: searched().certificate,
    "by hand": told,
    "selection": lambda: chosen(["a" * place for place in range(1, 15)]),
    "study": lambda: simulate(design("cc-lucb", 0.3, 0.3, 0.2), parse_reservoir("beta(1,2)"), runs=5, seed=0),
}


@pytest.fixture(scope="module", params=MADE)
def made(request):
    return MADE[request.param]()


def test_both_views_say_the_same(made):
    text, page = str(made), made._repr_html_()
    words = re.sub(r"<[^>]+>", " ", page.replace("&quot;", '"').replace("&#x27;", "'").replace("&amp;", "&"))
    assert words.split() == text.split()
    assert "object at" not in text


def test_nothing_is_fetched_or_run_and_colours_are_the_notebooks(made):
    page = made._repr_html_()
    assert not re.search(r"<script|<style|<link|<img|https?:|url\(|\bon\w+=", page)
    assert not re.search(r"[^-]color:|background:(?!none)", page)
    assert page.count("<table") == page.count("</table>")


def test_a_result_names_its_candidate_what_is_proved_its_score_and_its_cost():
    result = searched()
    name = f"{{rate: {result.candidate['rate']:.4g}}}"
    assert str(result).splitlines() == [
        f"chosen  {name}",
        f"proved  With probability at least 0.8, {name} is within 0.3 of the top 30% of the pool. "
        "The search ended because the stopping rule was met.",
        f"score   {result.mean:.4g} on average; its true mean is at least {result.certificate.at_worst:.4g}",
        f"spent   {result.pulls} evaluations of {result.arms} candidates",
    ]


def test_lines_end_between_words_where_the_terminal_does(monkeypatch):
    found = chosen([f"a prompt of so many words that no terminal is wide enough for it, number {one}" for one in "abc"])
    whole = str(found)
    assert max(map(len, whole.splitlines())) > 120
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    for width in (20, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        assert str(found).split() == whole.split()
        assert width < 60 or max(map(len, str(found).splitlines())) <= width


def test_a_candidate_of_a_list_has_its_place():
    names = ["ant", "bee", "cat"]
    result = topalpha.search(names, lambda name, rng: float(name == "bee"), alpha=0.3, epsilon=0.3, progress="none")
    assert (result.candidate, result.index, names[result.index]) == ("bee", 1, "bee")
    assert str(result).startswith(
        "chosen  “bee” (index 1 in the list)\nproved  With probability at least 0.95, “bee” is"
    )
    assert result.to_dict()["index"] == 1
    assert "index" not in searched().to_dict()


def test_of_several_each_is_named():
    result = searched(algorithm="cc-lucb-k", options={"k": 3})
    for candidate in result.selected:
        assert f" {{rate: {candidate['rate']:.4g}}}\n" in str(result)
    assert "each of the 3 chosen candidates (arms " in result.statement


def test_without_candidates_the_arm_is_named():
    assert str(told()).startswith("chosen  arm 2\nproved  With probability at least 0.8, arm 2 is within 0.3 of")


def test_where_nothing_is_proved_no_bound_is_shown():
    early = searched(pulls=2)
    assert early.certificate.claims == ()
    for one in (early, early.certificate):
        assert "Nothing is proved. The search ended because the budget of pulls was spent." in str(one)
        assert f"{early.mean:.4g} on average\n" in str(one)


def test_costs_have_a_greatest_mean():
    result = searched(minimise=True)
    assert f"its true mean is at most {result.certificate.at_worst:.4g}" in str(result)


def test_markup_and_control_characters_stay_text():
    found = chosen([EVIL, EVIL * 2])
    for one in (found, found.result, found.certificate):
        assert "<script" not in one._repr_html_()
        assert "&lt;script&gt;" in one._repr_html_()
        assert "\x1b" not in one._repr_html_() + str(one)
    described = searched(about=EVIL)
    assert "\x1b" not in str(described)
    assert "<script" not in described._repr_html_() + described.certificate._repr_html_()


def test_a_certificate_prints_the_whole_quotation_and_its_assumptions():
    search, task = Search(Task(0.3, 0.3, 0.2).design()), Task(0.3, 0.3, 0.2)
    search.tell(search.ask(), 1.0)
    certificate = certify(search, task, "pulls", [{"text": "word " * 30}])
    assert f'candidate  {{"text": "{"word " * 30}"}}'.replace(" " * 2 + "{", "  {") in str(certificate)
    assert all(assumption in str(certificate) for assumption in certificate.assumptions)


def test_a_study_says_what_was_cut_off():
    study = simulate(design("cc-lucb", 0.1, 0.1, 0.2), parse_reservoir("beta(1,2)"), runs=4, seed=0, limit=50)
    assert "4, seed 0, 4 of them cut off" in str(study)
    one = simulate(design("cc-lucb", 0.3, 0.3, 0.2), parse_reservoir("beta(1,2)"), runs=1, seed=0)
    assert "±" not in str(one)
