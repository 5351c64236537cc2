"""Studies as TOML: ``[study]``, ``[vary]`` and the base, a file beside it or a table ``[base]``."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from manipula.errors import DescriptionError, ManipulaError, unknown_name
from manipula.formats.guard import read_text
from manipula.formats.whole_file import file_path
from manipula.simulation.files.document import ScenarioDocument
from manipula.simulation.files.scenario_file import file_text, load_file, load_text, write_toml
from manipula.simulation.files.text import key_text, toml_text, value_text
from manipula.studies.distributions import DISTRIBUTIONS, Distribution
from manipula.studies.study import Study
from manipula.studies.tables import table_of

KEYS = ("name", "base", "samples", "seed", "design", "keep", "keep_series", "series_runs", "description")
FORMAT = 1
LIKE = 0.75  # a word that is as like the name of a distribution is meant as one


def load_study(path: str | os.PathLike[str]) -> Study:
    """The study in a TOML file.

    Raises:
        DescriptionError: with file, line, field and what is allowed.
    """
    source = file_path(path)
    return study_of(read_text(source), str(source), source.absolute().parent)


def study_of(text: str, file: str | None = None, folder: Path | None = None) -> Study:
    """The study in a text; files that it names are looked for in ``folder``, or refused without one."""
    document = ScenarioDocument(text, file, folder)
    try:
        return _read(document)
    except DescriptionError as error:
        raise document.located(error).at(file=file) from None
    except ManipulaError as error:
        raise document.explain(error) from None


def _read(document: ScenarioDocument) -> Study:
    root = document.fields()
    if root.raw("format", FORMAT) != FORMAT:
        raise root.error(f"Format {root.raw('format')!r} is not known; this version reads format {FORMAT}.", "format")
    table = root.table("study")
    if table is None:
        raise DescriptionError("The table [study] is missing: base, samples, seed …", field="study")
    given = {key: table.raw(key) for key in KEYS if table.has(key)}
    table.close()
    given.pop("description", None)
    varied = root.raw("vary")
    if not isinstance(varied, dict) or not varied:
        raise DescriptionError("The table [vary] is missing: what differs from run to run, by its path.", field="vary")
    base = _base(document, given.pop("base", None), root.raw("base"))
    root.close()
    for name in ("keep", "keep_series"):
        if isinstance(given.get(name), list):
            given[name] = tuple(given[name])
    vary: dict[str, Any] = {}
    for path, axis in _flat(varied):
        if path in vary:
            raise DescriptionError("This path stands here twice, in quotes and without.", field=f"vary.{path}")
        vary[path] = axis
    try:
        return Study(base, vary, **given)
    except DescriptionError as error:
        if error.field not in KEYS:
            raise
        raise type(error)(error.problem, field=f"study.{error.field}") from None


def _base(document: ScenarioDocument, named: Any, inline: Any) -> Any:
    if (named is None) == (inline is None):
        raise DescriptionError(
            'One base is needed: base = "run.toml" under [study], or a table [base] with the scenario.',
            field="study.base",
        )
    if named is None:
        if not isinstance(inline, dict):
            raise DescriptionError("A table with the scenario is needed.", field="base")
        try:
            return load_text(toml_text(inline), document.folder)
        except DescriptionError as error:
            raise DescriptionError(error.problem, field=f"base.{error.field}" if error.field else "base") from None
    if not isinstance(named, str):
        raise DescriptionError("The name of a file is needed.", field="study.base")
    return load_file(document.beside(named, "study.base"))


def _flat(table: dict[str, Any], path: str = "") -> Any:
    """(path, axis) of ``"controller.kp" = …`` and of ``controller.kp = …``, which TOML reads as a table in a table."""
    for key, value in table.items():
        place = f"{path}.{key}" if path else key
        if isinstance(value, dict) and not any(name in DISTRIBUTIONS for name in value):
            if not value:
                raise DescriptionError("An empty table varies nothing.", field=f"vary.{place}")
            from difflib import get_close_matches  # only who errs, or nests tables, needs it

            for word in value:
                if get_close_matches(word, list(DISTRIBUTIONS), cutoff=LIKE):
                    raise unknown_name("distribution", word, DISTRIBUTIONS, field=f"vary.{place}")
            yield from _flat(value, place)
        else:
            yield place, value


def text_for(who: str, study: Study) -> str:
    """The study as other processes get it.

    Raises:
        DescriptionError: for a study that has no such text, naming ``who`` would need it.
    """
    try:
        return study_text(study)
    except DescriptionError as error:
        raise DescriptionError(
            f"{who} get the study as text, and this one has none: {error.problem} Use engine='serial'.",
            field=error.field or "base",
        ) from None


def study_text(study: Study, *, base: str | None = None) -> str:
    """TOML that reads back as an equal study; ``base`` names the file of the scenario in place of the scenario itself.

    Raises:
        DescriptionError: when the base or a value holds Python objects that no file can hold.
    """
    head: dict[str, Any] = {"name": study.name, "base": base, "samples": study.samples, "seed": study.seed}
    head["design"] = study.design if study.design != "random" else None
    head["keep"] = study.keep
    head["keep_series"] = study.keep_series or None
    head["series_runs"] = study.series_runs if study.series_runs != "all" else None
    lines = [f"{key_text(path)} = {value_text(given)}" for path, given in varied_tables(study).items()]
    text = toml_text({"format": FORMAT, "study": head}) + "\n" + "\n".join(["[vary]", *lines]) + "\n"
    return text if base is not None else text + "\n" + toml_text({"base": tomllib.loads(file_text(study.base))})


def varied_tables(study: Study) -> dict[str, Any]:
    """What varies as plain values: lists, and tables of distributions."""
    out: dict[str, Any] = {}
    for path, axis in study.vary.items():
        group = path.partition(".")[0].partition("[")[0]
        out[path] = axis.table() if isinstance(axis, Distribution) else [table_of(v, group) for v in axis]
    return out


def save_study(study: Study, path: str | os.PathLike[str]) -> None:
    """``Study.save``: whole or not at all."""
    write_toml(path, "study", lambda: study_text(study))
