"""The boosting study in short: who is ahead of whom, written from the results alone, losses as well as wins."""

from __future__ import annotations

import statistics

from studies.boosting.measures import EXACT, OURS, SORTED, Run, last_accuracy, methods_of, over_seeds, typical
from studies.boosting.words import filled, listed, percent, ratio, three


def in_short(groups: dict[int, list[Run]], images: dict[int, list[Run]]) -> str:
    """All of it, as a list."""
    lines = [*(at_size(rows, runs) for rows, runs in groups.items()), other_question(groups), at_the_end(groups)]
    lines += [on_images(rows, runs) for rows, runs in images.items()]
    return "\n".join(filled(f"- {line}", "  ") for line in lines)


def seeds(runs: list[Run]) -> str:
    """How many."""
    return "one seed" if len(runs) == 1 else f"{len(runs)} seeds"


def times_of(runs: list[Run]) -> dict[str, float]:
    """Median seconds of every method that reaches the target in every run."""
    found = {name: typical(runs, name) for name in methods_of(runs)}
    return {name: time for name, time in found.items() if time is not None}


def quicker(times: dict[str, float], than: str, but: tuple[str, ...]) -> str:
    """Those that are ahead, the quickest first."""
    ahead = sorted((time, name) for name, time in times.items() if time < times[than] and name not in but)
    words = listed([f"*{name}* ({three(time)} s)" for time, name in ahead])
    return f"Ahead of it: {words}." if ahead else "No other method is ahead of it."


def at_size(rows: int, runs: list[Run]) -> str:
    """The bandit beside the exact searches, and who else is ahead of it."""
    ours, times = OURS[0], times_of(runs)
    words = f"**{rows:,} rows** ({seeds(runs)}): "
    if ours not in times:
        ahead = listed([f"*{name}*" for name in sorted(times, key=lambda name: times[name])])
        return f"{words}*{ours}* does not reach the target in every run. Those that do: {ahead}."
    words += f"*{ours}* needs {three(times[ours])} s. "
    beside = [
        f"{ratio(times[name] / times[ours])} as *{name}* ({three(times[name])} s)"
        for name in (EXACT, SORTED)
        if name in times
    ]
    return f"{words}That is {listed(beside)}. {quicker(times, ours, (EXACT, SORTED))}"


def other_question(groups: dict[int, list[Run]]) -> str:
    """What becomes of the bandit that asks for the best."""
    other, missed, beside = OURS[1], [], []
    for rows, runs in groups.items():
        times = times_of(runs)
        if other in times:
            beside.append(
                f"{three(times[other])} s at {rows:,} rows, {ratio(times[EXACT] / times[other])} as *{EXACT}*"
            )
        else:
            missed.append(f"{rows:,}")
    words = f"**The other question**: *{other}* "
    parts = [f"does not reach the target in every run at {listed(missed)} rows"] if missed else []
    return words + listed(parts + ([f"needs {'; '.join(beside)}"] if beside else [])) + "."


def at_the_end(groups: dict[int, list[Run]]) -> str:
    """Accuracy at the end: the target decides who wins."""
    rows = max(groups, key=lambda rows: (len(groups[rows]) > 1, rows))
    runs = groups[rows]
    ends = {}
    for name in methods_of(runs):
        found = [one for one in over_seeds(runs, name, last_accuracy) if one is not None]
        if found:
            ends[name] = statistics.median(found)
    ranked = sorted(ends, key=lambda name: -ends[name])
    ahead = [name for name in ranked if ends[name] > ends[OURS[0]] and name not in (EXACT, SORTED)]
    words = f"**The target decides who wins.** At {rows:,} rows, at the end of its rounds or its time, *{OURS[0]}* "
    words += f"classifies {percent(ends[OURS[0]])}% rightly, *{EXACT}* after its fewer rounds {percent(ends[EXACT])}%. "
    better = listed([f"*{name}* {percent(ends[name])}%" for name in ahead])
    return words + (f"Ahead of it: {better}." if ahead else "No other method is ahead of it.")


def on_images(rows: int, runs: list[Run]) -> str:
    """Features that are computed when needed."""
    ours, times = OURS[0], times_of(runs)
    words = f"**Filters on {rows:,} images** ({seeds(runs)}): "
    if ours in times:
        words += f"*{ours}* needs {three(times[ours])} s, {ratio(times[EXACT] / times[ours])} as *{EXACT}* on 400 "
        words += f"filters ({three(times[EXACT])} s). {quicker(times, ours, (EXACT,))}"
    else:
        reach = [f"*{name}* ({three(times[name])} s)" for name in sorted(times, key=lambda name: times[name])]
        words += f"*{ours}* does not reach the target in every run. Those that do: {listed(reach)}."
    ends = [
        (statistics.median(one for one in found if one is not None), name)
        for name in methods_of(runs)
        if None not in (found := over_seeds(runs, name, last_accuracy))
    ]
    ranked = [f"*{name}* {percent(end)}%" for end, name in sorted(ends, reverse=True)]
    return f"{words} At the end of the time: {listed(ranked)}."
