"""Which files an MJCF file may name: those inside its own folder, or inside a folder above it that the caller trusts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from manipula.errors import DescriptionError
from manipula.formats.guard import safe_join
from manipula.formats.packages import checked_folders

_OUT = "out of the folder"


@dataclass(frozen=True)
class TrustedFolder:
    """The folder of the main file, and the folder that no file may lie outside of."""

    main: Path
    inside: Path

    @classmethod
    def of(cls, file: str | None, package_dirs: Sequence[str | os.PathLike[str]] = ()) -> TrustedFolder | None:
        """What the file at that path may name; ``None`` for text from Python, which has no folder.

        Raises:
            DescriptionError: folders none of which holds the file.
        """
        roots = [folder.resolve() for folder in checked_folders(package_dirs)]
        if file is None:
            if roots:
                raise DescriptionError("A text names no files; give the path of the main file.", field="package_dirs")
            return None
        main = Path(file).resolve().parent
        above = next((root for root in roots if main.is_relative_to(root)), None)
        if roots and above is None:
            raise DescriptionError("None of these folders holds the file.", file=file, field="package_dirs")
        return cls(main, above or main)

    def file(self, folder: Path, reference: str, suffixes: tuple[str, ...] = ()) -> Path:
        """The regular file that a description in ``folder`` names.

        Raises:
            DescriptionError: it is absolute, missing, or outside.
        """
        reference = reference.replace("\\", "/")
        below = folder.relative_to(self.inside).as_posix()
        try:
            relative = below == "." or reference.startswith("/") or ":" in reference
            return safe_join(self.inside, reference if relative else f"{below}/{reference}", suffixes)
        except DescriptionError as error:
            if _OUT in error.problem:
                error.problem += " To open a folder above it that you trust: package_dirs=[…]."
            raise error.at() from None
