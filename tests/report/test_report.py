"""The report: its numbers are the certificate's, its text stays text, and it needs nothing from outside."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from marks import quick
from topalpha import Refuted, Session, Task, resume, search, select
from topalpha.cli import main
from topalpha.report import html, write
from topalpha.report.contents import gather
from topalpha.report.sentences import check_commands, claims, headline, meaning, repetition
from topalpha.rules.protocol import Claim
from topalpha.storage import Storage, StorageError, listing, read

EASY = {"alpha": 0.2, "epsilon": 0.2, "delta": 0.1, "seed": 3, "progress": "none"}
QUIET = {"progress": "none"}
EVIL = "<script>alert(1)</script>"
VOID = {"meta", "link", "br", "img", "hr", "input"}


def draw(rng):
    return {"rate": round(float(rng.random()), 3)}


def reward(candidate, rng):
    return float(rng.random() < 0.1 + 0.8 * candidate["rate"])


class Page(HTMLParser):
    """What a browser would make of the page: elements, attributes, texts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.words, self.data = [], [], [], []
        self.open, self.rows = [], []
        self.feed(text)
        self.close()
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, key, value) for key, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "data":
            self.data.append(float(dict(attrs)["value"]))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open[-1] == tag, (self.open[-3:], tag)
        self.open.pop()

    def handle_data(self, data):
        self.words.append(data)
        if "td" in self.open or ("th" in self.open and "tr" in self.open):
            self.rows[-1][-1] += data

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    def ids(self):
        return [value for _, key, value in self.attributes if key == "id"]


def svgs(text):
    return [ElementTree.fromstring(found) for found in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]


def self_contained(text):
    """Whether nothing outside the page is asked for, and nothing in it runs."""
    page = Page(text)
    assert not re.search(r"https?:|//|@import|javascript:", re.sub(r"<(code|td)\b.*?</\1>", "", text, flags=re.S))
    assert set(re.findall(r"url\((.)", text)) <= {"#"}
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form", "image"} & set(page.tags)
    for tag, key, value in page.attributes:
        assert not key.startswith("on"), (tag, key)
        assert key not in ("src", "srcset", "action"), (tag, key)
        assert key != "href" or value.startswith("#")
    names = page.ids()
    assert len(names) == len(set(names)), "no two things have one name"
    inside = re.findall(r"url\(#([^)]*)\)", text) + [
        value[1:] for _, key, value in page.attributes if key == "href" and value.startswith("#")
    ]
    assert set(inside) <= set(names), "all that is pointed at is there"
    return page


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A file with a search that stopped, by cc-lucb, and its report."""
    path = tmp_path_factory.mktemp("report") / "searches.db"
    result = search(draw, reward, **EASY, algorithm="cc-lucb", storage=path, about="rates that were drawn evenly")
    return path, result, html(path)


@pytest.fixture
def words_only(monkeypatch):
    """For tests of what a report says: its pictures, which have tests of their own, take most of the time."""
    monkeypatch.setattr("topalpha.report.pictures.pictures", lambda contents: [])


def test_a_report_says_what_the_certificate_says(finished):
    path, result, text = finished
    page, certificate = self_contained(text), result.certificate
    assert result.stopped
    assert certificate.statement in page.text
    assert "The target is proved." in page.text
    for sentence in certificate.assumptions:
        assert sentence in page.text
    numbers = [certificate.mean, certificate.at_worst, certificate.others_at_best, certificate.arms, certificate.pulls]
    listed = [number for claim in certificate.claims for number in (claim.epsilon, claim.alpha)]
    target = [certificate.alpha, certificate.epsilon, certificate.delta]
    assert 1 < len(certificate.claims) <= 8
    assert page.data == [*numbers, *listed, *target], "to the last digit"
    for exact in (certificate.digest, certificate.version, certificate.law, certificate.bounds, certificate.proof):
        assert exact in page.text
    for name, level in certificate.levels.items():
        assert [name, repr(level) if not isinstance(level, bool) else str(level).lower()] in page.rows
    assert ["seed", "3"] in page.rows
    assert f"topalpha verify {path.name} --name search" in text


def test_the_table_of_arms_is_the_snapshot_with_candidates(finished):
    path, result, text = finished
    rows = [row for row in Page(text).rows if len(row) == 6 and row[0] != "arm"]
    recording = read(path)
    assert len(rows) == len(recording.snapshot) == result.arms
    assert rows[0][0] == f"{result.arm} chosen"
    seen = {int(row[0].split()[0]): row for row in rows}
    for one in recording.snapshot:
        _, pulls, mean, lower, upper, candidate = seen[one.arm]
        assert int(pulls.replace(",", "")) == one.pulls
        assert [mean, lower, upper] == [f"{value:.4g}" for value in (one.mean, one.lower, one.upper)]
        assert candidate == recording.arms[one.arm]
    means = [float(row[2]) for row in rows[1:]]
    assert means == sorted(means, reverse=True)


def test_figures_are_well_formed_and_named(finished):
    _, result, text = finished
    found = svgs(text)
    assert [one.attrib["aria-label"] for one in found] == [
        "Where the arms stand",
        "The proved claims",
        "The race",
        "Where the pulls went",
    ]
    for one in found:
        assert one.attrib["role"] == "img"
        assert not any(child.tag in ("style", "metadata") for child in one.iter())
        assert not any("opacity" in value for child in one.iter() for value in child.attrib.values())
        assert any(child.tag == "text" and "".join(child.itertext()).strip() for child in one.iter()), "words are words"
    assert f"arm {result.arm}" in "".join(found[0].itertext())


def test_the_same_file_gives_the_same_page(finished, tmp_path):
    path, _, text = finished
    code = "import sys; from topalpha.report import write; write(sys.argv[1], sys.argv[2])"
    target = tmp_path / "again.html"
    environment = os.environ | {"PYTHONHASHSEED": "5", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", code, str(path), str(target)], check=True, env=environment)
    assert target.read_text(encoding="utf-8") == text


@pytest.mark.usefixtures("words_only")
def test_arms_that_are_left_out_are_counted(finished):
    path, result, whole = finished
    text = html(path, arms=3)
    rows = [row for row in Page(text).rows if len(row) == 6]
    assert len(rows) == 4, "with the head"
    assert f"{result.arms - 3} of {result.arms} arms are left out here" in Page(text).text
    assert f"--arms {result.arms}" in text
    assert "are left out here" not in whole


def test_text_stays_text_everywhere(tmp_path):
    path = tmp_path / "<b>&.db"
    failed = set()

    def evil(rng):
        return {"prompt": EVIL + str(round(float(rng.random()), 3)), "]]>": "--><img src=x onerror=alert(2)>"}

    def pull(candidate, rng):
        if len(failed) < 25 and rng.random() < 0.2 and candidate["prompt"] not in failed:
            failed.add(candidate["prompt"])
            raise ValueError(EVIL)
        return float(rng.random() < 0.7)

    name = "$x$ " + EVIL
    search(evil, pull, **EASY | {"about": EVIL}, storage=path, name=name, pulls=300, on_error="retry")
    assert failed
    page = self_contained(text := html(path))
    assert EVIL not in text
    assert page.text.count(EVIL) > 50, "and is there, as text"
    assert any(EVIL in "".join(one.itertext()) for one in svgs(text)), "in figures, too"
    assert f"{len(failed)} led to “retry”" in page.text
    reasons = [row for row in page.rows if len(row) == 4 and row[2] == f"ValueError: {EVIL}"]
    assert len(reasons) == min(len(failed), 20)


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.makedirs, (self.path, 0o777, True)


@pytest.mark.usefixtures("words_only")
def test_no_pickle_is_loaded(path, tmp_path):
    trap = tmp_path / "sprung"
    search(lambda rng: Trap(str(trap)), lambda one, rng: float(rng.random() < 0.5), **EASY, storage=path, pickle=True)
    trap.rmdir()  # the search itself loads the candidate that it quotes: what is stored, not the object
    page = self_contained(html(path))
    assert not trap.exists()
    assert "(pickled)" in page.text
    assert read(path).certificate["candidate"] is None, "what the certificate says of it"
    assert "Trap object" not in page.text, "how it looks is not verified, so that it is not shown"
    assert "topalpha verify searches.db --name search" in page.text
    read(path).candidates(allow_pickle=True)
    assert trap.exists(), "the trap works"


@pytest.mark.usefixtures("words_only")
def test_a_pickled_candidate_of_a_search_that_has_not_ended_is_not_shown(path, tmp_path):
    with Session.start(Task(0.3, 0.3, 0.2), path, pickle=True) as session:
        for pull in session.ask_many(5):
            session.keep(pull.arm, Trap(str(tmp_path / "sprung")))
            session.tell(pull, 1.0)
        page = self_contained(html(path))
    assert "(pickled)" in page.text
    assert not (tmp_path / "sprung").exists()


# How it stands


@pytest.mark.usefixtures("words_only")
def test_an_early_end_says_why_and_what_is_weaker(path):
    result = search(draw, reward, **EASY, algorithm="cc-lucb", storage=path, pulls=150)
    page = self_contained(html(path))
    assert not result.stopped
    assert result.certificate.claims
    words = "The search ended early: the budget of pulls was spent. Weaker statements are proved."
    assert words in page.text
    assert result.statement in page.text
    assert not any("in flight" in row for row in page.rows)
    assert "mean was to be shown to be at most 0.2 below where the top 20% begin" in page.text
    assert resume(path, draw, reward, **QUIET).stopped
    assert headline(gather(path)) == "The target is proved."


@pytest.mark.usefixtures("words_only")
def test_a_search_that_has_not_ended_is_reported_as_it_stands(path):
    begun, go_on = threading.Event(), threading.Event()
    count = 0

    def pull(candidate, rng):
        nonlocal count
        count += 1
        if count == 120:
            begun.set()
            go_on.wait(30.0)
        return reward(candidate, rng)

    thread = threading.Thread(target=search, args=(draw, pull), kwargs=EASY | {"algorithm": "cc-lucb", "storage": path})
    thread.start()
    try:
        assert begun.wait(30.0)
        page = self_contained(html(path))
        assert "The search has not ended. What follows is proved so far." in page.text
        assert "last gave a sign of life at 20" in page.text
        assert "topalpha verify" not in page.text
        seen = Session.replayed(read(path)).certificate()
        assert (seen.pulls, seen.reason) == (119, "running")
        assert seen.statement in page.text
        assert seen.pulls in page.data
        assert sum(int(row[1]) for row in page.rows if len(row) == 7 and row[0] != "arm") == 119
    finally:
        go_on.set()
        thread.join(30.0)
    assert listing(path)[0].status == "stopped"


@pytest.mark.usefixtures("words_only")
def test_a_paused_search_and_one_without_a_reward_say_so(path):
    with Session.start(Task(0.3, 0.3, 0.2), path) as session:
        page = self_contained(text := html(path))
        assert "Nothing is known yet: there is no reward." in page.text
        assert svgs(text) == []
        for pull in session.ask_many(2):
            session.keep(pull.arm, pull.arm)
            session.tell(pull, 1.0)
        session.record.snapshot([], {"pulls": 2, "paused": True})
        assert "The search is paused. Nothing is proved so far." in self_contained(html(path)).text


def test_a_certificate_that_the_record_does_not_bear_out_is_refused(finished, tmp_path):
    path, result, _ = finished
    forged = tmp_path / "forged.db"
    forged.write_bytes(path.read_bytes())
    with Storage(forged) as storage:
        record = storage.open()
        record.finish("stopped", result.certificate.to_dict() | {"epsilon": 0.001})
    with pytest.raises(Refuted, match="epsilon must be what the record bears out"):
        html(forged)
    found = CliRunner().invoke(main, ["report", str(forged), "-o", str(tmp_path / "page.html")])
    assert (found.exit_code, found.stderr[:25]) == (1, "topalpha: NOT verified: e")
    assert not (tmp_path / "page.html").exists()


# Words


@pytest.mark.usefixtures("words_only")
def test_the_meaning_is_in_the_units_and_the_pool_of_the_task(path):
    found = select(list(range(6)), range(40), lambda one, example: (one + example) % 6 < one, epsilon=0.2, storage=path)
    contents = gather(path)
    alpha, epsilon, delta = (sentences for *_, sentences in meaning(contents.certificate, contents.session.task))
    assert "as good as the best. In the list of 6 candidates, that is the best one." in alpha
    assert "at most 0.2 below the best one's. That does not make it the best." in epsilon
    assert "at most 5%" in delta
    call, needs = repetition(contents)
    assert call.startswith("topalpha.select(\n    candidates, examples, evaluate,\n    alpha=")
    assert "same candidates and examples" in needs
    assert found.certificate == contents.certificate
    self_contained(html(path))


def test_of_many_claims_some_are_listed_and_the_first_and_the_last_are_among_them(finished):
    certificate = finished[1].certificate
    many = tuple(Claim(0.2 + 0.7 * place / 99, 0.5 / (1 + place)) for place in range(100))
    listed = claims(replace(certificate, claims=many))
    assert 4 <= len(listed) <= 8
    assert [pair[1:] for pair in (listed[0], listed[-1])] == [tuple(many[0]), tuple(many[-1])]
    assert {pair[1:] for pair in listed} <= set(map(tuple, many)), "nothing is made up"
    assert [pair[2] for pair in listed] == sorted({pair[2] for pair in listed}, reverse=True)
    few = replace(certificate, claims=many[:8])
    assert [pair[1:] for pair in claims(few)] == list(map(tuple, few.claims))


@pytest.mark.parametrize("minimise", [False, True])
def test_all_that_were_chosen_are_told(path, minimise):
    settings = EASY | {"algorithm": "cc-lucb-k", "options": {"k": 2}, "minimise": minimise, "epsilon": 0.3}
    found = search(draw, reward, **settings, storage=path)
    page, recording = self_contained(html(path, arms=1)), read(path)
    assert len(found.selection) == 2
    assert found.statement in page.text
    rows = {row.arm: row for row in recording.snapshot}
    for arm in found.selection:
        worst = rows[arm].upper if minimise else rows[arm].lower
        words = f"Candidate (arm {arm}): mean {rows[arm].mean:.4g}, at worst {worst:.4g}"
        assert f"{words}{recording.arms[arm]}" in page.text
    outside = [row.lower if minimise else row.upper for row in rows.values() if row.arm not in found.selection]
    assert page.data[0] == pytest.approx(min(outside) if minimise else max(outside))
    assert "Any not chosen, at best" in page.text
    assert "Any other, at best" not in page.text
    assert "each of the chosen arms is" in page.text


@pytest.mark.usefixtures("words_only")
def test_a_huge_candidate_is_shown_in_part_everywhere(path):
    search(lambda rng: "x" * 20_000, lambda one, rng: float(rng.random() < 0.5), **EASY, storage=path, pulls=30)
    assert max(map(len, re.findall("x+", html(path)))) <= 400


@pytest.mark.usefixtures("words_only")
def test_where_nothing_is_proved_no_claim_is_told_of(path):
    found = search(draw, reward, **EASY, storage=path, pulls=1)
    assert not found.certificate.claims
    page = self_contained(html(path))
    assert "A claim would be about the law that candidates are drawn from" in page.text
    assert "It would say nothing of candidates that this law never gives" in page.text
    for words in ("The claim is about", "Without these, nothing is proved"):
        assert words not in page.text
    assert Task(0.5, 0.1, 0.1, pool=1).law == "the list of 1 candidate"


def test_it_prints_on_several_pages(finished, tmp_path):
    from playwright.sync_api import sync_playwright

    import chromium

    page = tmp_path / "report.html"
    page.write_text(finished[2], encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.needed(), args=list(chromium.FLAGS))
        tab = browser.new_page()
        tab.goto(page.as_uri())
        printed = tab.pdf(format="A4", print_background=True)
        tab.emulate_media(media="print")
        tab.set_viewport_size({"width": 718, "height": 1000})  # the width of A4 within its margins
        cut = tab.evaluate(
            "[...document.querySelectorAll('svg, table, dl, pre')].filter("
            "one => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1).length"
        )
        browser.close()
    assert printed.startswith(b"%PDF")
    assert len(printed) > 30_000, "with its figures"
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 1
    assert cut == 0, "nothing is cut off at the right"


def test_costs_are_told_as_costs(path):
    search(draw, lambda one, rng: 100.0 - 100.0 * reward(one, rng), **EASY | {"epsilon": 25.0}, family="range(0,100)",
           minimise=True, storage=path)  # fmt: skip
    page = self_contained(html(path))
    assert "at most 25 above where the best (smallest) 20% begin" in page.text
    assert "the leader's upper bound minus epsilon: arms whose lower bound is not yet above it" in page.text
    rows = [row for row in page.rows if len(row) == 6 and row[0] != "arm"]
    means = [float(row[2]) for row in rows[1:]]
    assert means == sorted(means)


def pair(rng):
    return (round(float(rng.random()), 3), "a tuple, which JSON does not give back")


def reward_of_pair(candidate, rng):
    return float(rng.random() < candidate[0])


def passes(candidate, item):
    return (candidate["rate"] * 7919 + item * 31) % 1.0 < candidate["rate"]


def repeated(path, monkeypatch, tmp_path, **names):
    """What the printed call gives, in a folder of its own, and the record that it leaves."""
    import topalpha

    (tmp_path / "again").mkdir()
    monkeypatch.chdir(tmp_path / "again")
    call, needs = repetition(gather(path))
    again = eval(call, {"topalpha": topalpha, **names})
    return again, read("again.db"), needs


@pytest.mark.parametrize(
    ("functions", "settings"),
    [
        ((draw, reward), {"about": "its law"}),
        ((draw, reward), {"minimise": True, "algorithm": "cc-lucb"}),
        ((draw, reward), {"pulls": 40}),
        ((draw, reward), {"algorithm": "jhr", "options": {"generous": True}, "pulls": 60}),
        ((pair, reward_of_pair), {"pickle": True}),
        ((draw, passes), {"items": list(range(60))}),
    ],
)
def test_the_call_to_repeat_a_search_repeats_it(path, tmp_path, monkeypatch, functions, settings):
    first = search(*functions, **EASY, **{"algorithm": "cc-lucb", **settings}, storage=path)
    names = {"draw": functions[0], "pull": functions[1], "items": settings.get("items")}
    again, record, needs = repeated(path, monkeypatch, tmp_path, **names)
    assert again.certificate.to_dict() | {"reason": None} == first.certificate.to_dict() | {"reason": None}
    assert record.tells == read(path).tells
    assert "at once" not in needs


def test_the_call_to_repeat_a_selection_repeats_it_and_one_that_failed_ends_where_it_did(path, tmp_path, monkeypatch):
    candidates, examples = [{"rate": rate / 10} for rate in range(1, 9)], range(50)

    def fails(candidate, example):
        if fails.left == 0:
            raise RuntimeError("no more")
        fails.left -= 1
        return passes(candidate, example)

    fails.left = 20
    with pytest.raises(RuntimeError):
        select(candidates, examples, fails, epsilon=0.05, storage=path, **QUIET)
    fails.left = 20
    names = {"candidates": candidates, "examples": examples, "evaluate": fails}
    _, record, _ = repeated(path, monkeypatch, tmp_path, **names)
    assert record.tells == read(path).tells
    assert len(record.tells) == 20


def test_that_pulls_ran_at_once_is_said(path):
    search(draw, reward, **EASY, storage=path, executor="threads", workers=4, pulls=60)
    assert repetition(gather(path))[1].endswith("the result may differ.")


CODE = """
def draw(rng):
    return float(rng.random())
def pairs(rng):
    return (float(rng.random()), 0)
def pull(p, rng):
    return float(rng.random() < p)
def pull_of_pair(pair, rng):
    return float(rng.random() < pair[0])
def passes(p, item):
    return (p * 7919 + item * 31) % 1.0 < p
"""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("pull", ("--about", "it's")),
        ("pull", ("--minimise", "--family", "range(0,1)")),
        ("pull", ("--algorithm", "jhr", "--option", "generous=true", "--pulls", "60")),
        ("pull", ("--algorithm", "cc-lucb", "--pulls", "50", "--on-error", "worst")),
        ("pull", ("--candidates", "list.json")),
        ("passes", ("--items", "list.json")),
        ("pull_of_pair", ("--draw", "my task.py:pairs", "--pickle")),
    ],
)
def test_the_command_to_repeat_a_run_repeats_it(tmp_path, monkeypatch, function, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my task", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "my task.py").write_text(CODE)
    (tmp_path / "list.json").write_text("[" + ", ".join(str(one / 40) for one in range(40)) + "]")
    words = ["run", f"my task.py:{function}", "--alpha", "0.2", "--epsilon", "0.3", "--seed", "4", *words]
    words += ["--progress", "none", "--storage", "one.db"]
    assert CliRunner().invoke(main, words).exit_code == 0
    contents = gather("one.db")
    import shlex

    command, needs = repetition(contents)
    assert needs == "It needs the same code."
    again = shlex.split(command)
    assert again[0] == "topalpha"
    assert CliRunner().invoke(main, [*again[1:], "--progress", "none"]).exit_code == 0
    assert read("again.db").tells == read("one.db").tells
    assert read("again.db").certificate == read("one.db").certificate
    for line in check_commands(contents):
        assert CliRunner().invoke(main, shlex.split(line)[1:]).exit_code == 0
    early = "--pulls" in words
    assert headline(contents).startswith("The search ended early" if early else "The target is proved.")


# The command line


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
    assert "pip install 'topalpha[" in line
    assert os.listdir(tmp_path) == []


def test_writing_is_whole_or_not_at_all(finished, tmp_path, monkeypatch):
    path, _, _ = finished
    target = tmp_path / "report.html"
    target.write_text("before")

    def fail(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("topalpha.storage.outputs.os.replace", fail)
    with pytest.raises(OSError, match="No space"):
        write(path, target)
    assert target.read_text() == "before"
    assert os.listdir(tmp_path) == ["report.html"]
    with pytest.raises(StorageError, match="path must exist"):
        write(tmp_path / "none.db", target)
