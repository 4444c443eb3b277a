"""Text that others wrote, made harmless where it is shown: on a terminal, in a picture, on a page."""

from __future__ import annotations

import unicodedata

#: Marks that turn the direction of all text after them, beside the controls that no XML may hold.
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(text: str) -> str:
    r"""Text for any picture, page or terminal: signs that are no text are replaced, and white space is spaces.

    Names, candidates and statements in a file may hold anything, and so escape sequences, with which a terminal can be
    made to show what is not there, or worse.

    Examples
    --------
    >>> print(plain("a\x01b\n c\u202ed"))
    a�b c�d
    >>> print(plain("\x1b[2Jproved"))
    �[2Jproved
    """
    return "".join("\ufffd" if _is_no_text(sign) else sign for sign in " ".join(str(text).split()))


def _is_no_text(sign: str) -> bool:
    # Controls, lone surrogates, and code points that are no characters.
    return sign in _TURNING or unicodedata.category(sign) in ("Cc", "Cs") or ord(sign) & 0xFFFE == 0xFFFE
