"""The sentences of a report."""

from __future__ import annotations

import shlex
from typing import Any

from topalpha.ask_tell import Task
from topalpha.certificate import REASONS, Certificate, top
from topalpha.report.contents import Contents
from topalpha.storage import Recording
from topalpha.theory.arm_counts import top_size

#: The most claims in the list; the figure shows all.
CLAIMS = 8


def headline(contents: Contents) -> str:
    """The standing in a few words."""
    certificate = contents.certificate
    if certificate is None:
        return "Nothing is known yet: there is no reward."
    if certificate.proved:
        return "The target is proved."
    if certificate.reason == "stopped":
        return "The search has stopped, and nothing is proved."
    if contents.ended:
        proved = "Weaker statements are proved." if certificate.claims else "Nothing is proved."
        return f"The search ended early: {REASONS.get(certificate.reason, certificate.reason)}. {proved}"
    proved = "The claims below are proved so far." if certificate.claims else "Nothing is proved so far."
    return f"The search {'is paused' if contents.paused else 'has not ended'}. {proved}"


def unverified(contents: Contents) -> str:
    """The facts on the page that come from the file alone."""
    early = contents.ended and contents.certificate is not None and contents.certificate.reason != "stopped"
    also = ", and why it ended" if early else ", and its last sign of life" if contents.updated else ""
    return f"Not verified, because no evaluation confirms them: the search’s name, when it began{also}."


def share(value: float) -> str:
    """A probability as a percentage.

    Examples
    --------
    >>> share(0.05), share(1e-6)
    ('5%', '0.0001%')
    """
    return f"{float(f'{100.0 * value:.4g}'):.10g}%"


def meaning(certificate: Certificate, task: Task) -> list[tuple[str, float, str]]:
    """The meaning of the target's three parameters here: name, value, and sentences."""
    best = top(certificate, task.alpha)
    if task.pool:
        size = top_size(task.pool, task.alpha)
        share_of = f"In {certificate.law}, that is {'the best one' if size == 1 else f'the {size:,} best'}."
        alpha = f"How good is good: as good as {best}. {share_of}"
    else:
        alpha = (
            f"How good is good: as good as {best}. A candidate drawn at random is that good with a probability of "
            f"{share(task.alpha)} or more: the fraction counts how often candidates are drawn, not how many different "
            "candidates there are."
        )
    side = "above" if task.minimise else "below"
    single = "%" not in best
    begin = "the best one's" if single else f"where {best} begin"
    claim = "is claimed to be" if certificate.proved else "was to be shown to be"
    if certificate.reason == "running":
        claim = "is to be shown to be"
    epsilon = (
        f"How near is near: the chosen candidate's mean {claim} at most {task.epsilon:.6g} {side} {begin}. "
        f"That does not make it the best{'' if single else f', nor one of {best}'}."
    )
    delta = (
        f"How sure is sure: a search like this one says something false with a probability of at most "
        f"{share(task.delta)}, over the draws of candidates and all rewards. This was fixed before the search; it is "
        "not the probability that this one result is right."
    )
    return [("alpha", task.alpha, alpha), ("epsilon", task.epsilon, epsilon), ("delta", task.delta, delta)]


def claims(certificate: Certificate) -> list[tuple[str, float, float]]:
    """The claims, as description, alpha and epsilon; of very many, some between the first and the last."""
    found = certificate.claims
    if len(found) > CLAIMS:
        step = (found[0].epsilon - found[-1].epsilon) / (CLAIMS - 1)
        levels = [found[0].epsilon - step * place for place in range(CLAIMS - 1)]
        # A dictionary keeps the order and drops duplicates.
        picked = [next(claim for claim in found if claim.epsilon <= level) for level in levels]
        found = tuple(dict.fromkeys([*picked, found[-1]]))
    return [(top(certificate, claim.alpha), claim.alpha, claim.epsilon) for claim in found]


def check_commands(contents: Contents) -> list[str]:
    """Commands that compute the certificate again, and show the search."""
    file = shlex.quote(contents.file)
    name = shlex.quote(contents.recording.name)
    found = [f"topalpha show {file} --name {name}"]
    return [f"topalpha verify {file} --name {name}", *found] if contents.recording.certificate else found


def repetition(contents: Contents) -> tuple[str, str]:
    """How to repeat the search: a command or a call, and its requirements."""
    task, code = contents.session.task, contents.recording.config.get("code") or {}
    # A search that ended early is repeated with a budget of as many pulls.
    pulls = contents.certificate.pulls if _early(contents) and contents.certificate else None
    if "pull" in code:
        call = _command(task, code, pulls, contents.recording.pickled)
        needs = "It needs the same code."
    elif "select" in code:
        call = _call("topalpha.select", "candidates, examples, evaluate", task, pulls, contents.recording.pickled)
        needs = "It needs the same candidates and examples, in the same order, and the same evaluation."
    else:
        places = "draw, pull, items=items" if task.items else "draw, pull"
        call = _call("topalpha.search", places, task, pulls, contents.recording.pickled)
        needs = "It needs the same functions."
    if _at_once(contents.recording):
        needs += " Several pulls ran at once: rewards may now come in another order, and the result may differ."
    return call, needs


def _early(contents: Contents) -> bool:
    return contents.ended and not contents.session.stopped


def _at_once(recording: Recording) -> bool:
    """Whether a pull was planned before all earlier pulls had rewards."""
    return any(after < order for order, (_, after) in enumerate(recording.asks))


def _call(function: str, places: str, task: Task, pulls: int | None, pickled: bool) -> str:
    # The test set determines the rewards.
    left_out = {"pool", "items", "rules", *(("family", "minimise") if task.items else ())}
    plain = Task(task.alpha, task.epsilon, task.delta).to_dict()
    kept = ("alpha", "epsilon", "delta", "family", "algorithm", "seed")
    named = {
        key: value
        for key, value in task.to_dict().items()
        if key not in left_out and (key in kept or value != plain[key])
    }
    named |= {} if pulls is None else {"pulls": pulls}
    named |= {"storage": "again.db"} | ({"pickle": True} if pickled else {})
    lines = "".join(f"    {key}={value!r},\n" for key, value in named.items())
    return f"{function}(\n    {places},\n{lines})"


def _option(value: Any) -> str:
    """The value of an option as the command line reads it.

    Examples
    --------
    >>> _option(True), _option(0.5), _option([1.0, 2.0])
    ('true', '0.5', '1.0,2.0')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _command(task: Task, code: dict[str, Any], pulls: int | None, pickled: bool) -> str:
    words = ["topalpha", "run", str(code["pull"])]
    if code.get("candidates"):
        words += ["--candidates", str(code["candidates"])]
    elif code.get("draw"):
        words += ["--draw", str(code["draw"])]
    if code.get("items"):
        words += ["--items", str(code["items"])]
    else:
        words += ["--family", task.family]
    for key in ("alpha", "epsilon", "delta", "algorithm", "seed"):
        words += [f"--{key}", str(getattr(task, key))]
    for key, value in task.options.items():
        words += ["--option", f"{key}={_option(value)}"]
    words += ["--minimise"] * task.minimise
    if task.about:
        words += ["--about", task.about]
    if task.on_error != "raise":
        words += ["--on-error", task.on_error]
    if task.on_lost != "again":
        words += ["--on-lost", task.on_lost]
    if pulls is not None:
        words += ["--pulls", str(pulls)]
    return shlex.join([*words, "--storage", "again.db", *["--pickle"] * pickled])
