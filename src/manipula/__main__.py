"""``python -m manipula`` is the ``manipula`` command."""

from manipula.cli import main

if __name__ == "__main__":
    main()
