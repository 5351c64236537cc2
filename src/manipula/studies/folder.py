"""The folder of a study: ``study.toml``, ``study.json``, ``parts/``, ``series/``, ``bad/``.

``study.toml`` is the study with its base inside; ``study.json`` says what its numbers depend on and describes the columns. Both are written
once; another study, seed or version in the same folder is refused with the field that differs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
import tomllib
from pathlib import Path
from typing import Any

from manipula.errors import DescriptionError, ManipulaError, printable
from manipula.formats.guard import read_text
from manipula.formats.whole_file import BESIDE, file_path, made_folder, write_whole
from manipula.simulation.files.scenario_file import file_text
from manipula.simulation.provenance import installed, versions
from manipula.studies.axis_checks import checked_before
from manipula.studies.files import study_of, study_text, varied_tables
from manipula.studies.layout import columns_of
from manipula.studies.own_code import OURS, code_of
from manipula.studies.part_files import TEMPORARY, Part, Taken, covering, is_whole, listed, missing, unwritable
from manipula.studies.study import Study

MANIFEST, STUDY = "study.json", "study.toml"
FORMAT = 1
NOTHING = "not given"
# versions that numbers or bytes may depend on
DECIDING = ("manipula", "numpy", "scipy", "llvmlite", "pyarrow", "machine")


class StudyFolder:
    """The files of one study."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = file_path(folder)

    @property
    def parts(self) -> Path:
        """Where the rows are."""
        return self.path / "parts"

    @property
    def series(self) -> Path:
        """Where the samples are."""
        return self.path / "series"

    @property
    def bad(self) -> Path:
        """Where damaged files are set aside."""
        return self.path / "bad"

    @property
    def exists(self) -> bool:
        """Is there a study?"""
        return os.path.isfile(self.path / MANIFEST)

    def check(self, study: Study) -> None:
        """Hold a study against the one that is there, and make the folders.

        Raises:
            DescriptionError: the folder holds another study, or things that are no study; it cannot be written.
        """
        if self.exists:
            check_same(self.manifest(), manifest_of(study), self.path / MANIFEST, study)
        elif os.path.exists(self.parts) or os.path.exists(self.path / STUDY):
            self._half_begun()
        for folder in (self.path, self.parts, self.series):
            made_folder(folder)

    def begin(self, study: Study) -> None:
        """Write the manifest; where another client did so meanwhile, hold the study against it. The lease is needed: two would write two."""
        wanted = manifest_of(study)
        if self.exists:
            return check_same(self.manifest(), wanted, self.path / MANIFEST, study)
        if wanted["base"] is not None:
            write_whole(self.path / STUDY, study_text(study))
        write_whole(self.path / MANIFEST, json.dumps(wanted, indent=1, ensure_ascii=False) + "\n")

    def _half_begun(self) -> None:
        """A folder whose manifest is missing: one that was killed before it was written, or somebody else's."""
        if listed(self.parts) or any(self.path.glob("*.parquet")):
            raise DescriptionError(
                f"This folder has parts but no {MANIFEST}, so nothing says which study they belong to; take another folder.",
                file=str(self.path),
            )

    def manifest(self) -> dict[str, Any]:
        """What ``study.json`` says."""
        path = self.path / MANIFEST
        if not os.path.isfile(path):
            raise DescriptionError(f"This is no folder of a study: it has no {MANIFEST}.", file=str(self.path))
        try:
            found = json.loads(read_text(path))
        except ValueError:
            raise DescriptionError("This file is damaged: it is no JSON.", file=str(path)) from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise DescriptionError(f"This version reads format {FORMAT} of studies.", file=str(path))
        return found

    def study(self) -> Study:
        """The study that is kept here."""
        manifest = self.manifest()
        path = self.path / STUDY
        if manifest["base"] is None or not path.is_file():
            raise DescriptionError(
                "The base of this study holds Python objects that no file can hold, so its runs can only be made where it is at hand.",
                file=str(path),
            )
        with checked_before():
            return study_of(read_text(path), str(path))

    def found(self) -> list[Taken]:
        """Which runs are there, by the names of the parts."""
        return covering(listed(self.parts))

    def checked(self) -> tuple[list[Taken], list[Part]]:
        """Which runs are there, after the bytes of every part were compared with its name; damaged ones are set aside, and told.

        Rows whose samples are damaged are set aside with them, so that both are made again.
        """
        samples = [part for part in listed(self.series) if not is_whole(part)]
        whole, bad = [], []
        for part in listed(self.parts):
            alone = not any(part.first <= lost.last and lost.first <= part.last for lost in samples)
            (whole if alone and is_whole(part) else bad).append(part)
        for part in (*samples, *bad):
            self.set_aside(part)
        return covering(whole), [*samples, *bad]

    def tidy(self, age: float) -> None:
        """Remove temporary files of clients that were killed: those that nobody touched for ``age`` seconds."""
        now = time.time()
        for folder in (self.path, self.parts, self.series):
            for left in (*folder.glob(f"{TEMPORARY}*"), *folder.glob(f"{BESIDE}*")):
                with contextlib.suppress(OSError):
                    if now - left.stat().st_mtime > age:
                        left.unlink()

    def set_aside(self, part: Part) -> None:
        """Move a damaged part out of the way."""
        try:
            self.bad.mkdir(exist_ok=True)
            os.replace(part.path, self.bad / f"{'series-' * (part.path.parent == self.series)}{part.path.name}")
        except OSError as problem:
            raise unwritable(problem, part.path) from None

    def gaps(self, taken: list[Taken], runs: int) -> list[tuple[int, int]]:
        """The runs that are still to be made."""
        return list(missing(taken, runs))


def manifest_of(study: Study) -> dict[str, Any]:
    """What the numbers of a study depend on, and what its columns mean."""
    try:
        base: str | None = hashlib.sha256(file_text(study.base).encode()).hexdigest()
        vary: Any = varied_tables(study)
    except DescriptionError:
        base, vary = None, {path: repr(axis) for path, axis in study.vary.items()}
    known = {**versions(), "pyarrow": installed("pyarrow")}
    return {
        "format": FORMAT, "name": study.name, "runs": study.runs, "base": base, "vary": vary, "samples": study.samples,
        "seed": study.seed, "design": study.design, "keep": study.keep, "keep_series": list(study.keep_series),
        "series_runs": study.series_runs, "versions": dict(known), "code": code_of(study.base),
        "columns": [{"name": c.name, "unit": c.unit, "meaning": c.meaning, "kind": c.kind} for c in columns_of(study)],
    }  # fmt: skip


def check_same(there: dict[str, Any], wanted: dict[str, Any], path: Path, study: Study) -> None:
    """Is it the same study, made by the same versions?

    Raises:
        DescriptionError: with the field that differs, both values, and what to do.
    """
    plain = json.loads(json.dumps(wanted))
    if plain["base"] is None:
        raise DescriptionError(
            "The base holds Python objects, which cannot be compared with those of the study in this folder; take a new folder.",
            file=str(path), field="base",
        )  # fmt: skip
    for field in ("base", "runs", "vary", "samples", "seed", "design", "keep", "keep_series", "series_runs"):
        if there.get(field) != plain[field]:
            name, old, new = _difference(field, there.get(field), plain[field], path.with_name(STUDY), study)
            raise DescriptionError(
                f"The study in this folder is another one: {name} is {old} there and {new} here. Take a new folder.",
                file=str(path), field=field,
            )  # fmt: skip
    if plain["code"] != OURS and (plain["code"] is None or there.get("code", OURS) != plain["code"]):
        how = "cannot be compared with that" if plain["code"] is None else "computes something else than that"
        raise DescriptionError(
            f"The base holds parts of your own, whose code here {how} which made the rows in this folder. Take a new folder.",
            file=str(path), field="code",
        )  # fmt: skip
    for name in DECIDING:
        old, new = there.get("versions", {}).get(name), plain["versions"].get(name)
        if old != new:
            raise DescriptionError(
                f"The study was begun with {name} {old}; here it is {new}, which may give other numbers. Take a new folder, or that version.",
                file=str(path), field=f"versions.{name}",
            )  # fmt: skip


def _difference(field: str, old: Any, new: Any, file: Path, study: Study) -> tuple[str, str, str]:
    if field == "vary" and isinstance(old, dict) and isinstance(new, dict):
        for path in dict.fromkeys([*old, *new]):
            if old.get(path) != new.get(path):
                return f"vary.{path}", printable(old.get(path), 80), printable(new.get(path), 80)
        return field, "in another order", "in this one"
    if field == "base":
        with contextlib.suppress(ManipulaError, ValueError):  # study.toml is damaged: the digests tell all the same
            kept = tomllib.loads(read_text(file)).get("base")
            place, was, now = _first_other("base", kept, tomllib.loads(file_text(study.base)))
            if place:
                return (
                    place,
                    printable(NOTHING if was is None else was, 80),
                    printable(NOTHING if now is None else now, 80),
                )
        return "base (its SHA-256)", str(old)[:12] + "…", str(new)[:12] + "…"
    return field, printable(old, 80), printable(new, 80)


def _first_other(place: str, old: Any, new: Any) -> tuple[str, Any, Any]:
    """The first place in which two tables of a file differ, with both values; no place where they do not."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs: Any = [(f"{place}.{key}", old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new])]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(f"{place}[{k}]", a, b) for k, (a, b) in enumerate(zip(old, new))]
    else:
        return ("", None, None) if old == new else (place, old, new)
    found = (_first_other(*pair) for pair in pairs)
    return next((other for other in found if other[0]), ("", None, None))
