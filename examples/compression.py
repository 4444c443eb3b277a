"""Which compressor, with which settings, saves most on source code? The example of docs/tutorial.md.

A candidate is a compressor of Python's standard library with random settings. A pull compresses one source file, chosen
at random, and returns the fraction of it that was saved.

    python examples/compression.py
    python examples/compression.py --epsilon 0.05 --storage compression.db
"""

import argparse
import bz2
import lzma
import sysconfig
import zlib
from pathlib import Path

import topalpha

SOURCES = {
    path.name: path.read_bytes()
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    if 4_000 <= path.stat().st_size <= 20_000
}
NAMES = list(SOURCES)
ABOUT = "zlib, bz2 and lzma with settings drawn evenly by examples/compression.py"


def draw(rng):
    """A compressor with random settings."""

    def between(low, high):
        return int(rng.integers(low, high + 1))

    codec = str(rng.choice(["zlib", "bz2", "lzma"]))
    if codec == "bz2":
        return {"codec": codec, "level": between(1, 9)}
    if codec == "zlib":
        sizes = {"level": between(1, 9), "wbits": between(9, 15), "memLevel": between(1, 9)}
        return {"codec": codec, **sizes, "strategy": between(0, 4)}
    context = between(0, 4)  # lzma wants lc + lp <= 4
    bits = {"lc": context, "lp": between(0, 4 - context), "pb": between(0, 4)}
    return {"codec": codec, "preset": between(0, 6), "extreme": bool(between(0, 1)), **bits}


def pull(candidate, rng):
    """The fraction that it saves on one file, chosen at random."""
    return saved(candidate, NAMES[rng.integers(len(NAMES))])


def bytes_per_kilobyte(candidate, rng):
    """The same as a cost: what a kilobyte of source is packed into."""
    return 1000.0 * (1.0 - pull(candidate, rng))


def saves_enough(candidate, name):
    """Whether it saves at least 70% on this file."""
    return saved(candidate, name) >= 0.7


def saved(candidate, name):
    """The fraction of this file that it saves; 0 if the file grows."""
    source = SOURCES[name]
    return max(0.0, 1.0 - len(compress(candidate, source)) / len(source))


def compress(candidate, source):
    """The file, packed."""
    settings = dict(candidate)
    codec = settings.pop("codec")
    if codec == "bz2":
        return bz2.compress(source, settings["level"])
    if codec == "zlib":
        packer = zlib.compressobj(method=zlib.DEFLATED, **settings)
        return packer.compress(source) + packer.flush()
    preset = settings.pop("preset") | (lzma.PRESET_EXTREME if settings.pop("extreme") else 0)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": preset, **settings}]
    return lzma.compress(source, format=lzma.FORMAT_RAW, filters=filters)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("alpha", 0.1), ("epsilon", 0.02), ("delta", 0.05)):
        parser.add_argument(f"--{name}", type=float, default=value)
    parser.add_argument("--storage", help="keep the search in this file")
    chosen = parser.parse_args()
    result = topalpha.search(draw, pull, family="low-variance", about=ABOUT, **vars(chosen))
    print(result.statement)
    print(result.candidate)
    print(f"mean {result.mean:.3f} over its own pulls; {result.pulls:,} pulls of {result.arms} candidates in all")


if __name__ == "__main__":
    main()
