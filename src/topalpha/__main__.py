"""``python -m topalpha`` is the command ``topalpha``."""

from topalpha.cli import main

if __name__ == "__main__":
    main()
