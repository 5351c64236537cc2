"""``open_study(folder)``: the table of a study, streamed from its parts, and every run of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from manipula.algebra.arguments import whole_number
from manipula.analysis.sensitivity import Sensitivity, sensitivity, sobol_indices
from manipula.errors import CompileError, DescriptionError, unknown_name
from manipula.lazy import cached_property
from manipula.simulation.result import Result
from manipula.studies.columns import StudyColumn
from manipula.studies.folder import StudyFolder
from manipula.studies.layout import schema_of
from manipula.studies.part_files import Part, Taken, arrow, covering, is_whole, listed, read_part, read_table
from manipula.studies.paths import AnyScenario
from manipula.studies.plan import Plan
from manipula.studies.study import Study
from manipula.verbs import notebook_html, verb

ENDED_WELL = "finished"


def open_study(folder: str | os.PathLike[str]) -> StudyResults:
    """The results of a study, finished or not.

    Raises:
        DescriptionError: the folder holds no study.
    """
    return StudyResults(folder)


class StudyResults:
    """The table of a study: one row per run that was made, in the order of the runs. Nothing is read before it is asked for.

    Attributes:
        path: the folder. columns: name, unit, meaning and kind of every column.
    """

    def __init__(self, folder: str | os.PathLike[str], study: Study | None = None) -> None:
        arrow()
        self._folder = StudyFolder(folder)
        self._manifest = self._folder.manifest()
        self._given = study
        self.path: Path = self._folder.path
        self.columns: tuple[StudyColumn, ...] = tuple(StudyColumn(**c) for c in self._manifest["columns"])

    def __repr__(self) -> str:
        return f"StudyResults('{self._manifest['name']}', {self.done} of {self.runs} runs)"

    def _repr_html_(self) -> str | None:
        return notebook_html(self)

    @property
    def runs(self) -> int:
        """How many runs the study has."""
        return int(self._manifest["runs"])

    @property
    def done(self) -> int:
        """How many of them were made."""
        return sum(t.last - t.first + 1 for t in self._folder.found())

    def __len__(self) -> int:
        return self.done

    @property
    def complete(self) -> bool:
        """Were all runs made?"""
        return self.done == self.runs

    @property
    def units(self) -> dict[str, str]:
        """The unit of every column; "" for texts, flags and plain numbers."""
        return {c.name: c.unit for c in self.columns}

    @property
    def manifest(self) -> dict[str, Any]:
        """What ``study.json`` says: digests, seed, versions."""
        return dict(self._manifest)

    @property
    def varied(self) -> tuple[str, ...]:
        """Names of the columns that vary."""
        return tuple(c.name for c in self.columns if c.meaning == "varied")

    @cached_property
    def study(self) -> Study:
        """The study itself, read from ``study.toml``."""
        return self._folder.study() if self._given is None else self._given

    def tables(self, columns: list[str] | None = None) -> Iterator[Any]:
        """The rows part after part, as Arrow tables, in the order of the runs: what fits into memory whatever the number of runs."""
        self._check(columns)
        for taken in self._folder.found():
            yield read_part(taken, columns)

    def _check(self, columns: list[str] | None) -> None:
        known = [c.name for c in self.columns]
        if columns is not None and (isinstance(columns, str) or not isinstance(columns, (list, tuple))):
            raise DescriptionError(f"A list of columns is needed, found {columns!r}.", field="columns")
        for name in columns or ():
            if name not in known:
                raise unknown_name("column", name, known, field="columns")

    def to_arrow(self, columns: list[str] | None = None) -> Any:
        """All rows as one Arrow table, with units and meanings in the metadata of its fields."""
        pa, _ = arrow()
        self._check(columns)
        schema = schema_of(self.columns)
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        found = [t.cast(schema) for t in self.tables(columns)]
        return pa.concat_tables(found) if found else schema.empty_table()

    def to_pandas(self, columns: list[str] | None = None) -> Any:
        """All rows as a pandas DataFrame with a column ``run``; ``frame.attrs["units"]`` has the units. ``feasible`` keeps its None."""
        try:
            import pandas as pd
        except ImportError:
            raise CompileError("A table of pandas needs it: pip install 'manipula[studies]'.") from None
        table = self.to_arrow(columns)
        frame = table.to_pandas(types_mapper={arrow()[0].bool_(): pd.BooleanDtype()}.get)
        frame.attrs["units"] = {name: self.units[name] for name in table.column_names}
        return frame

    def to_xarray(self, columns: list[str] | None = None) -> Any:
        """All rows as an ``xarray.Dataset`` over the dimension ``run``, units as attributes; flags are 1, 0 and −1 where nothing is known."""
        import xarray

        table = self.to_arrow(None if columns is None else ["run", *(c for c in columns if c != "run")])
        variables: dict[str, Any] = {}
        kinds = {c.name: c for c in self.columns}
        for name in table.column_names:
            if name == "run":
                continue
            column, kind = table.column(name), kinds[name].kind
            if kind == "number":
                values = column.to_numpy()
            elif kind == "flag":
                values = np.array([-1 if v is None else int(v) for v in column.to_pylist()], np.int8)
            else:
                values = np.array([v if v is not None else "" for v in column.to_pylist()], object)
            attributes = {"units": kinds[name].unit, "long_name": kinds[name].meaning}
            variables[name] = ("run", values, {k: v for k, v in attributes.items() if v})
        return xarray.Dataset(variables, coords={"run": table.column("run").to_numpy()})

    def duckdb(self) -> Any:
        """A DuckDB connection in memory with the views ``runs`` and, where samples were kept, ``series`` over the part files."""
        try:
            import duckdb
        except ImportError:
            raise CompileError("Queries need DuckDB: pip install 'manipula[cluster]'.") from None
        connection = duckdb.connect(":memory:")
        for name, parts in (("runs", self._folder.found()), ("series", covering(listed(self._folder.series)))):
            if parts:
                connection.execute(f"CREATE VIEW {name} AS {_query(parts)}")
        return connection

    @property
    def failed(self) -> Any:
        """The rows whose status is not "finished", as an Arrow table."""
        import pyarrow.compute as pc

        pa, _ = arrow()
        schema = schema_of(self.columns)
        found = [t.filter(pc.not_equal(t.column("status"), ENDED_WELL)).cast(schema) for t in self.tables()]  # pyright: ignore[reportAttributeAccessIssue]
        return pa.concat_tables(found) if found else schema.empty_table()

    def statuses(self) -> dict[str, int]:
        """How many runs ended how."""
        found: dict[str, int] = {}
        for table in self.tables(["status"]):
            for name in table.column("status").to_pylist():
                found[name] = found.get(name, 0) + 1
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def row(self, run: int) -> dict[str, Any]:
        """The row of one run.

        Raises:
            DescriptionError: the study has no such run, or it was not made yet.
        """
        run = whole_number(run, "run", 0, self.runs - 1)
        table = read_part(self._part_of(run))
        found = np.flatnonzero(table.column("run").to_numpy() == run)
        return {name: table.column(name)[int(found[0])].as_py() for name in table.column_names}

    def _part_of(self, run: int) -> Taken:
        for taken in self._folder.found():
            if taken.first <= run <= taken.last:
                return taken
        raise DescriptionError(f"Run {run} was not made yet.", file=str(self.path))

    @cached_property
    def _plan(self) -> Plan:
        return Plan(self.study)

    def scenario(self, run: int) -> AnyScenario:
        """The scenario of one run, with the numbers that are stored in its row (drawn again where it was not made yet).

        Varied numbers of the robot are free parameters of its robot with values in ``scenario.parameters``, so that it runs through the same
        machine code: ``simulate(scenario)`` gives the bits of the study.
        """
        run = whole_number(run, "run", 0, self.runs - 1)
        values = self.study.values_of(np.array([run]))
        try:
            row = self.row(run)
        except DescriptionError:
            row = {}
        for path, given in values.items():
            if row.get(path) is not None and isinstance(given, np.ndarray):
                values[path] = np.array([float(row[path])])
        return self._plan.scenario(run, values)

    def run(self, run: int) -> Result:
        """One run computed again: its summary is the stored row."""
        scenario = self.scenario(run)
        from manipula.simulation.run_file import run as simulated

        return simulated(scenario)

    def series(self, run: int) -> Any:
        """The samples that were kept of one run, as an Arrow table: t and a column per component of every signal.

        Raises:
            DescriptionError: none were kept.
        """
        import pyarrow.compute as pc

        run = whole_number(run, "run", 0, self.runs - 1)
        for part in listed(self._folder.series):
            if part.first <= run <= part.last:
                table = read_table(part)
                rows = table.filter(pc.equal(table.column("run"), run))  # pyright: ignore[reportAttributeAccessIssue]
                if rows.num_rows:
                    return rows.drop_columns(["run"])
        raise DescriptionError(f"No samples of run {run} were kept.", file=str(self.path))

    def sensitivity(self, column: str) -> Sensitivity:
        """What moves a column: rank correlations and Sobol indices of the numbers that vary, over the runs that finished.

        A study with design "saltelli" has total indices too; at every point of its grid the groups are counted together.

        Raises:
            DescriptionError: nothing that varies is a number, or too few runs finished.
        """
        self._check([column])
        varied = [c.name for c in self.columns if c.meaning == "varied" and c.kind == "number"]
        answers = [c.name for c in self.columns if c.kind in ("number", "flag") and c.meaning != "varied"]
        if not varied or column not in answers:
            raise DescriptionError(
                f"Sensitivities of '{column}' need an answer, and numbers that vary.", field="column"
            )
        table = self.to_arrow(["run", *varied, column, "status"])
        good = np.array([status == ENDED_WELL for status in table.column("status").to_pylist()], bool)
        number = {name: np.asarray(table.column(name).to_pandas(), float) for name in (*varied, column)}
        y = np.where(good, number[column], np.nan)
        drawn = list(self.study.distributions)
        if self.study.design != "saltelli":
            return sensitivity(np.column_stack([number[name] for name in varied]), y, varied)
        group = len(drawn) + 2
        run = np.asarray(table.column("run"))
        rows = {int(r): k for k, r in enumerate(run)}
        firsts = [rows[r] for r in range(0, self.runs, group) if all(r + i in rows for i in range(group))]
        at = np.array([[rows[int(run[k]) + i] for i in range(group)] for k in firsts], int).reshape(-1, group)
        a = np.column_stack([number[name][at[:, 0]] for name in drawn])
        return sobol_indices(a, y[at[:, 0]], y[at[:, 1]], y[at[:, 2:]], drawn)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """One HTML file: the cloud of all runs, the arm of any of them, what moves the answers. It opens offline."""
        return verb("StudyResults.report")(self, path)

    def plot(
        self,
        kind: str = "scatter",
        x: str | None = None,
        y: str | None = None,
        colour: str | None = None,
        **options: Any,
    ) -> Any:
        """A figure: "scatter", "histogram", "surface" or "sensitivity"; ``path=`` writes it."""
        return verb("StudyResults.plot")(self, kind, x, y, colour, **options)

    def digest(self) -> str:
        """SHA-256 of all rows in the order of the runs: the same for every engine, chunk size and number of workers."""
        each = [(c, hashlib.sha256(), hashlib.sha256()) for c in self.columns]
        for table in self.tables():
            for column, values, known in each:
                for one in table.column(column.name).chunks:
                    valid = one.is_valid().to_numpy(zero_copy_only=False)
                    known.update(valid.tobytes())
                    values.update(_bytes(one, column.kind))
        whole = hashlib.sha256()
        for column, values, known in each:
            whole.update(f"{column.name}\0{column.kind}\0".encode() + values.digest() + known.digest())
        return whole.hexdigest()

    def verify(self) -> list[Part]:
        """Every part read against the checksums of its name and of its pages; those that are damaged (none is moved)."""
        bad = [p for folder in (self._folder.parts, self._folder.series) for p in listed(folder) if not is_whole(p)]
        for taken in self._folder.found():
            if taken.part not in bad:
                try:
                    read_part(taken)
                except DescriptionError:
                    bad.append(taken.part)
        return bad


def _query(parts: list[Taken]) -> str:
    """SQL for the rows of some parts, each run once: of a part that overlaps others what those before it do not have."""
    quoted = {t: "'" + str(t.part.path).replace("'", "''") + "'" for t in parts}
    whole = ", ".join(quoted[t] for t in parts if t.first == t.part.first)
    sources = [f"read_parquet([{whole}], union_by_name = true)"]
    sources += [f"read_parquet({quoted[t]}) WHERE run >= {t.first}" for t in parts if t.first > t.part.first]
    return " UNION ALL BY NAME ".join(f"SELECT * FROM {source}" for source in sources)


def _bytes(values: Any, kind: str) -> bytes:
    if kind == "text":
        return b"".join((v or "").encode() + b"\0" for v in values.to_pylist())
    filled = values.fill_null(False if kind == "flag" else 0)
    return filled.to_numpy(zero_copy_only=False).tobytes()
