"""What a search has proved, in figures and in words."""

from topalpha.ask_tell import proved_claims, strongest
from topalpha.certificate.document import (
    REASONS,
    SILENT,
    Certificate,
    bounds,
    certify,
    part_of,
    statement,
    top,
)
from topalpha.certificate.former_wording import former

__all__ = [
    "REASONS",
    "SILENT",
    "Certificate",
    "bounds",
    "certify",
    "former",
    "part_of",
    "proved_claims",
    "statement",
    "strongest",
    "top",
]
