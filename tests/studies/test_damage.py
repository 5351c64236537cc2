"""Files that are damaged, disks that are full, tables larger than memory."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.studies import StudyResults, part_files
from manipula.studies.part_files import is_whole, listed, read_part
from studies.arms import study


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small study, and its digest."""
    folder = tmp_path_factory.mktemp("made") / "s"
    mp.sweep(study(samples=6), folder, engine="serial", chunk=3)
    return folder


def copied(made: Path, folder: Path) -> Path:
    subprocess.run(["cp", "-r", str(made), str(folder)], check=True)
    return folder


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def zeroed(data: bytes) -> bytes:
    return bytes(len(data))


def empty(data: bytes) -> bytes:
    return b""


def flipped(data: bytes) -> bytes:
    at = random.Random(5).randrange(len(data))
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


@pytest.mark.parametrize("harm", [truncated, zeroed, empty, flipped])
def test_damaged_parts_are_set_aside_and_made_again(harm: object, made: Path, tmp_path: Path) -> None:
    folder = copied(made, tmp_path / "s")
    part = listed(folder / "parts")[1]
    part.path.write_bytes(harm(part.path.read_bytes()))
    assert mp.open_study(folder).verify() == [part]
    table = mp.sweep(study(samples=6), folder, engine="serial", chunk=2)
    assert table.digest() == mp.open_study(made).digest()
    assert [p.name for p in (folder / "bad").iterdir()] == [part.path.name]
    assert not table.verify()


def test_every_flipped_bit_is_seen(made: Path, tmp_path: Path) -> None:
    part = listed(made / "parts")[0]
    data = part.path.read_bytes()
    bad = part._replace(path=tmp_path / part.path.name)
    chance = random.Random(1)
    for _ in range(300):
        at, bit = chance.randrange(len(data)), chance.randrange(8)
        bad.path.write_bytes(data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :])
        assert not is_whole(bad)


def test_pages_carry_checksums_that_are_verified(made: Path, tmp_path: Path) -> None:
    """A flipped bit in the numbers, under a name that matches it, is still seen when it is read."""
    part = listed(made / "parts")[0]
    data = bytearray(part.path.read_bytes())
    import pyarrow.parquet as parquet

    column = parquet.ParquetFile(part.path).metadata.row_group(0).column(1)
    data[column.data_page_offset + column.total_compressed_size - 2] ^= 1
    bad = part._replace(path=tmp_path / part.path.name)
    bad.path.write_bytes(data)
    with pytest.raises(DescriptionError, match="damaged"):
        read_part(part_files.Taken(part.first, part.last, bad))


def test_parts_of_several_chunk_sizes_are_read_once(made: Path, tmp_path: Path) -> None:
    folder = copied(made, tmp_path / "s")
    other = mp.sweep(study(samples=6), tmp_path / "o", engine="serial", chunk=4)
    for part in listed(tmp_path / "o" / "parts"):
        os.link(part.path, folder / "parts" / part.path.name)
    table = mp.open_study(folder)
    assert table.done == 12
    assert table.to_pandas()["run"].tolist() == list(range(12))
    assert table.digest() == other.digest()


def with_samples(tmp_path: Path, chunk: int) -> StudyResults:
    given = study(samples=4).replace(keep_series=("q",))
    return mp.sweep(given, tmp_path / f"s{chunk}", engine="serial", chunk=chunk)


@pytest.mark.parametrize("harm", [truncated, flipped])
def test_damaged_samples_are_made_again_with_their_rows(harm: object, tmp_path: Path) -> None:
    table = with_samples(tmp_path, 3)
    before, digest = table.series(4), table.digest()
    lost = listed(table.path / "series")[1]
    lost.path.write_bytes(harm(lost.path.read_bytes()))
    assert table.verify() == [lost]
    again = mp.sweep(table.study, table.path, engine="serial", chunk=2)
    assert again.digest() == digest
    assert again.series(4).equals(before)
    assert again.verify() == []
    assert f"series-{lost.path.name}" in {p.name for p in (table.path / "bad").iterdir()}


def test_samples_that_cannot_be_read_are_told_in_our_words(tmp_path: Path) -> None:
    table = with_samples(tmp_path, 3)
    lost = listed(table.path / "series")[1]
    lost.path.write_bytes(truncated(lost.path.read_bytes()))
    with pytest.raises(DescriptionError, match=r"part is damaged.*Resume"):
        table.series(4)


def test_queries_see_every_run_once_whatever_the_chunks(tmp_path: Path) -> None:
    """A client that died between samples and rows leaves samples of another chunk size."""
    table, other = with_samples(tmp_path, 3), with_samples(tmp_path, 4)
    for kind in ("parts", "series"):
        for part in listed(other.path / kind):
            os.link(part.path, table.path / kind / part.path.name)
    ask = table.duckdb().sql
    assert ask("select run from runs order by run").fetchall() == [(run,) for run in range(8)]
    times = table.run(0).t.size
    assert ask("select count(*) from series group by run").fetchall() == [(times,)] * 8


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "none", str(place)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no small file system can be mounted: {done.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("engine", ["serial", "pool"])
def test_a_full_disk_stops_cleanly_and_the_study_goes_on_later(engine: str, small_disk: Path, tmp_path: Path) -> None:
    many = study(samples=30)
    with pytest.raises(DescriptionError, match=os.strerror(errno.ENOSPC)):
        mp.sweep(many, small_disk / "s", engine=engine, workers=2 if engine == "pool" else None, chunk=1)
    left = mp.open_study(small_disk / "s")
    assert 0 < left.done < 60
    assert not left.verify()
    assert not [p for p in (small_disk / "s" / "parts").iterdir() if p.name.startswith(".")]
    subprocess.run(["mount", "-o", "remount,size=40m", str(small_disk)], check=True)
    table = mp.sweep(many, small_disk / "s", engine="serial", chunk=20)
    assert table.digest() == mp.sweep(many, tmp_path / "other", engine="serial").digest()


def test_a_folder_that_cannot_be_written_is_told(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copied(made, tmp_path / "s")
    listed(folder / "parts")[0].path.unlink()

    def refused(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(part_files.os, "link", refused)
    with pytest.raises(DescriptionError, match=os.strerror(errno.EROFS)):
        mp.sweep(study(samples=6), folder, engine="serial")
    monkeypatch.undo()
    assert mp.sweep(study(samples=6), folder, engine="serial").digest() == mp.open_study(made).digest()


def test_reading_takes_memory_of_one_part(made: Path, tmp_path: Path) -> None:
    """Ten times as many parts need no more memory; they are copies under other names, which is all that is asked here."""
    folder = copied(made, tmp_path / "s")

    def peak() -> int:
        table = mp.open_study(folder)
        tracemalloc.start()
        for _ in table.tables(["run", "tau_max"]):
            pass
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    few = peak()
    again = mp.sweep(study(samples=60), tmp_path / "many", engine="serial", chunk=3)
    folder = again.path
    assert len(listed(folder / "parts")) == 10 * len(listed(made / "parts"))
    assert peak() < 3 * few + 200_000


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="no folder of a study"):
        mp.open_study(tmp_path)
    (tmp_path / "study.json").write_text("{")
    with pytest.raises(DescriptionError, match="damaged"):
        mp.open_study(tmp_path)
