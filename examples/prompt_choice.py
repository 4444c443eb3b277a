"""Which few-shot prompt makes a model answer best? The example of docs/prompt_choice.md; no network is needed.

A prompt is 20 demonstrations, handwritten digits with their labels, out of 1,000. The "model" answers a question, which
digit this is, with the label of the demonstration that looks most like it. A prompt passes a question if the answer is
right. It needs scikit-learn for the digits.

    python examples/prompt_choice.py
    python examples/prompt_choice.py --list 50
    python examples/prompt_choice.py --record examples/prompt_scores.csv
"""

import argparse
import asyncio

import numpy as np
from sklearn.datasets import load_digits

import topalpha

IMAGES, LABELS = load_digits(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(LABELS))
SHOWN, QUESTIONS = ORDER[:1000], ORDER[1000:1300].tolist()
SHOTS = 20
ABOUT = "prompts of 20 demonstrations drawn evenly by examples/prompt_choice.py"


def draw(rng, shots=SHOTS):
    """A prompt: which digits are shown."""
    return sorted(int(place) for place in rng.choice(SHOWN, shots, replace=False))


def passes(prompt, question):
    """Whether the model, shown this prompt, answers this question rightly."""
    distances = ((IMAGES[prompt] - IMAGES[question]) ** 2).sum(axis=1)
    return bool(LABELS[prompt[int(distances.argmin())]] == LABELS[question])


async def ask(prompt, question):
    """The same as a remote call."""
    await asyncio.sleep(0.001)
    return passes(prompt, question)


def scores(prompts, questions=QUESTIONS):
    """Who passes what, all at once."""
    shown = np.unique(np.concatenate(prompts))
    distances = ((IMAGES[questions][:, None] - IMAGES[shown][None]) ** 2).sum(axis=2)
    places = [np.searchsorted(shown, prompt) for prompt in prompts]
    nearest = [shown[place[distances[:, place].argmin(axis=1)]] for place in places]
    return np.array([LABELS[one] == LABELS[questions] for one in nearest])


def record(file, prompts=40, questions=100, seed=1):
    """Write a table of scores: so many prompts, on the first so many questions."""
    rng = np.random.default_rng(seed)
    drawn = [draw(rng) for _ in range(prompts)]
    names = [f"prompt {place}" for place in range(1, prompts + 1)], [f"q{one}" for one in QUESTIONS[:questions]]
    topalpha.ScoreTable(*names, scores(drawn, QUESTIONS[:questions])).write(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--alpha", type=float, help="which top fraction; the best of a list unless given")
    for name in ("epsilon", "delta"):
        parser.add_argument(f"--{name}", type=float, default=0.05)
    parser.add_argument("--list", type=int, metavar="N", help="choose from a list of N prompts, not an endless pool")
    parser.add_argument("--storage", help="keep everything in this file, and go on with what it has")
    parser.add_argument("--record", metavar="FILE", help="write a table of scores instead")
    chosen = parser.parse_args()
    if chosen.record:
        record(chosen.record)
        return
    rng = np.random.default_rng(1)
    candidates = [draw(rng) for _ in range(chosen.list)] if chosen.list else draw
    target = {name: getattr(chosen, name) for name in ("alpha", "epsilon", "delta", "storage")}
    about = f"a list of {chosen.list} {ABOUT}" if chosen.list else ABOUT
    print(topalpha.select(candidates, QUESTIONS, passes, **target, resume=bool(chosen.storage), about=about))


if __name__ == "__main__":
    main()
