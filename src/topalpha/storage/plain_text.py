"""Text of unknown origin, made harmless for a terminal, a picture or a page."""

from __future__ import annotations

import unicodedata

#: Marks that change the direction of the text after them; category Cc does not include them.
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(text: str) -> str:
    r"""Text for a picture, page or terminal: control characters are replaced, white space becomes single spaces.

    Text in a file may hold anything, also escape sequences that make a terminal show false text, or worse.

    Examples
    --------
    >>> print(plain("a\x01b\n c\u202ed"))
    a�b c�d
    >>> print(plain("\x1b[2Jproved"))
    �[2Jproved
    """
    return "".join("\ufffd" if _is_no_text(sign) else sign for sign in " ".join(str(text).split()))


def _is_no_text(sign: str) -> bool:
    # Controls, lone surrogates, and code points that are not characters.
    return sign in _TURNING or unicodedata.category(sign) in ("Cc", "Cs") or ord(sign) & 0xFFFE == 0xFFFE
