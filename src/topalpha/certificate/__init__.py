"""What a search has proved, in figures and in words."""

from topalpha.ask_tell import proved_claims, strongest
from topalpha.certificate.document import Certificate, certify
from topalpha.certificate.wording import REASONS, SILENT, former_bounds, legible, quoted, statement, top

__all__ = [
    "REASONS",
    "SILENT",
    "Certificate",
    "certify",
    "former_bounds",
    "legible",
    "proved_claims",
    "quoted",
    "statement",
    "strongest",
    "top",
]
