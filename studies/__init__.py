"""Studies whose results the documentation quotes: each folder is one, named after the page that it writes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
