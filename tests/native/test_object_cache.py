"""The object cache: what was stored comes back, and nothing damaged, foreign, swapped or unsafe is ever given out."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from manipula.bounded_cache import BoundedCache
from manipula.native.folder import Folder
from manipula.native.host import Host, host
from manipula.native.llvm_text import ModuleText
from manipula.native.store import object_cache as cache
from tools import ordinary_user

posix_only = pytest.mark.skipif(os.name != "posix", reason="modes, owners and links of POSIX")
root_only = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may give files away")

MATERIAL = b"graph of a function"
CODE = bytes(np.random.default_rng(11).integers(0, 256, 300, dtype=np.uint8))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    place = tmp_path / "objects"
    monkeypatch.setenv("MANIPULA_CACHE_DIR", str(place))
    monkeypatch.delenv("MANIPULA_CACHE", raising=False)
    monkeypatch.setattr(cache, "_memory", BoundedCache(cache.MEMORY_BUDGET, len))
    return place


def only_entry(folder):
    (entry,) = folder.glob("*.o")
    return entry


def test_what_was_stored_comes_back(folder):
    assert cache.load(MATERIAL) is None
    cache.store(MATERIAL, CODE)
    assert cache.load(MATERIAL) == CODE
    assert cache.load(MATERIAL + b"!") is None
    assert only_entry(folder).stat().st_size == cache.HEADER_SIZE + len(CODE)


def test_empty_code_and_empty_material_are_ordinary(folder):
    cache.store(b"", b"")
    assert cache.load(b"") == b""


def test_storing_again_replaces(folder):
    cache.store(MATERIAL, CODE)
    cache.store(MATERIAL, CODE[::-1])
    assert cache.load(MATERIAL) == CODE[::-1]
    only_entry(folder)


def test_one_flipped_bit_anywhere_is_noticed_and_the_entry_removed(folder):
    cache.store(MATERIAL, CODE)
    entry = only_entry(folder)
    good = entry.read_bytes()
    for position in range(len(good)):
        damaged = bytearray(good)
        damaged[position] ^= 1 << (position % 8)
        entry.write_bytes(damaged)
        assert cache.load(MATERIAL) is None, f"byte {position}"
        assert not entry.exists()
    entry.write_bytes(good)
    entry.chmod(0o600)
    assert cache.load(MATERIAL) == CODE


def test_every_truncation_and_every_addition_is_noticed(folder):
    cache.store(MATERIAL, CODE)
    entry = only_entry(folder)
    good = entry.read_bytes()
    for wrong in [good[:length] for length in range(len(good))] + [good + b"\0", good + good]:
        entry.write_bytes(wrong)
        assert cache.load(MATERIAL) is None
        assert not entry.exists()


def test_an_entry_under_the_name_of_another_is_refused(folder):
    cache.store(b"first", CODE)
    first = only_entry(folder)
    content = first.read_bytes()
    first.unlink()
    cache.store(b"second", CODE[::-1])
    only_entry(folder).write_bytes(content)
    assert cache.load(b"second") is None
    assert cache.load(b"first") is None


def test_the_key_depends_on_processor_compiler_and_interface(folder, monkeypatch):
    cache.store(MATERIAL, CODE)
    here = host()
    for field in here.__dataclass_fields__:
        other = Host(**{**here.__dict__, field: getattr(here, field) + "x"})
        with monkeypatch.context() as patch:
            patch.setattr(cache, "host", lambda other=other: other)
            assert cache.load(MATERIAL) is None, field
    for name, value in (("ABI_VERSION", cache.ABI_VERSION + 1), ("code_version", lambda: b"other sources")):
        with monkeypatch.context() as patch:
            patch.setattr(cache, name, value)
            assert cache.load(MATERIAL) is None, name
    assert cache.load(MATERIAL) == CODE


@posix_only
def test_a_new_folder_and_its_files_belong_to_the_user_alone(folder):
    cache.store(MATERIAL, CODE)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(only_entry(folder).stat().st_mode) == 0o600


@posix_only
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777, 0o722])
def test_a_folder_others_may_write_to_is_not_used(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    cache.store(MATERIAL, CODE)
    assert list(folder.iterdir()) == []
    assert cache.load(MATERIAL) == CODE  # from memory


@posix_only
def test_entries_planted_in_a_folder_others_may_write_to_are_not_read(folder):
    cache.store(MATERIAL, CODE)
    folder.chmod(0o777)
    assert cache.load(MATERIAL) is None
    only_entry(folder)


@posix_only
def test_a_linked_folder_is_not_used(folder, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    folder.symlink_to(elsewhere)
    cache.store(MATERIAL, CODE)
    assert list(elsewhere.iterdir()) == []
    folder.unlink()
    folder.symlink_to(tmp_path / "nowhere")
    cache.store(MATERIAL, CODE)
    assert not (tmp_path / "nowhere").exists()


@posix_only
def test_a_linked_entry_is_not_followed(folder, tmp_path):
    cache.store(MATERIAL, CODE)
    entry = only_entry(folder)
    target = tmp_path / "target"
    entry.rename(target)
    entry.symlink_to(target)
    assert cache.load(MATERIAL) is None
    assert target.exists()
    assert not entry.is_symlink()


@posix_only
def test_writing_replaces_a_link_and_leaves_its_target_alone(folder, tmp_path):
    cache.store(MATERIAL, CODE)
    entry = only_entry(folder)
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    entry.unlink()
    entry.symlink_to(target)
    cache.store(MATERIAL, CODE)
    assert target.read_bytes() == b"precious"
    assert not entry.is_symlink()
    assert cache.load(MATERIAL) == CODE


@posix_only
def test_an_entry_others_may_write_to_is_refused(folder):
    cache.store(MATERIAL, CODE)
    only_entry(folder).chmod(0o666)
    assert cache.load(MATERIAL) is None


@posix_only
def test_a_pipe_or_a_folder_in_place_of_an_entry_does_no_harm(folder):
    cache.store(MATERIAL, CODE)
    entry = only_entry(folder)
    entry.unlink()
    os.mkfifo(entry)
    assert cache.load(MATERIAL) is None  # and does not wait for a writer
    entry.mkdir()
    assert cache.load(MATERIAL) is None
    cache.store(MATERIAL, CODE)
    assert cache.load(MATERIAL) == CODE


@root_only
def test_a_folder_or_entry_of_somebody_else_is_not_used(folder):
    cache.store(MATERIAL, CODE)
    entry = only_entry(folder)
    os.chown(entry, 12345, -1)
    assert cache.load(MATERIAL) is None
    cache.store(MATERIAL, CODE)
    os.chown(folder, 12345, -1)
    assert cache.load(MATERIAL) is None
    os.chown(folder, 0, -1)
    assert cache.load(MATERIAL) == CODE


@posix_only
def test_a_read_only_folder_means_memory(monkeypatch):
    with ordinary_user() as place:
        folder = place / "objects"
        monkeypatch.setenv("MANIPULA_CACHE_DIR", str(folder))
        folder.mkdir()
        folder.chmod(0o500)
        cache.store(MATERIAL, CODE)
        assert list(folder.iterdir()) == []
        assert cache.load(MATERIAL) == CODE


def test_a_file_in_place_of_the_folder_means_memory(folder):
    folder.write_text("not a folder")
    cache.store(MATERIAL, CODE)
    assert cache.load(MATERIAL) == CODE
    assert folder.read_text() == "not a folder"


def test_the_disk_refusing_to_write_leaves_nothing_behind(folder, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    cache.store(MATERIAL, CODE)
    assert list(folder.iterdir()) == []
    assert cache.load(MATERIAL) == CODE  # from memory


def test_off_means_off(folder, monkeypatch):
    cache.store(MATERIAL, CODE)
    monkeypatch.setenv("MANIPULA_CACHE", "off")
    assert cache.load(MATERIAL) is None
    cache.store(b"other", CODE)
    monkeypatch.delenv("MANIPULA_CACHE")
    assert cache.load(b"other") is None
    assert cache.load(MATERIAL) == CODE


def test_the_folder_stays_within_its_budget_and_the_oldest_goes_first(folder, monkeypatch):
    size = cache.HEADER_SIZE + len(CODE)
    monkeypatch.setattr(cache, "DISK_BUDGET", 4 * size)
    monkeypatch.setattr(cache, "DISK_SPARE", 0)
    for number in range(4):
        cache.store(b"%d" % number, CODE)
        os.utime(sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)[-1], (number + 1, number + 1))
    if os.utime in os.supports_fd:
        assert cache.load(b"0") == CODE  # used: no longer the oldest
    cache.store(b"4", CODE)
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 4 * size
    if os.utime in os.supports_fd:
        assert [cache.load(b"%d" % n) is not None for n in range(5)] == [True, False, True, True, True]


def test_an_eviction_makes_room_for_more_than_one_entry(folder, monkeypatch):
    """A full folder is not looked through for every entry, and stays within its budget."""
    size, looked = cache.HEADER_SIZE + len(CODE), []
    entries = Folder.entries
    monkeypatch.setattr(cache, "DISK_BUDGET", 160 * size)
    monkeypatch.setattr(cache, "DISK_SPARE", 40 * size)
    monkeypatch.setattr(Folder, "entries", lambda self: looked.append(1) or entries(self))
    for number in range(400):
        cache.store(b"%d" % number, CODE)
        assert number % 20 or sum(file.stat().st_size for file in folder.iterdir()) <= 160 * size
    assert 3 < len(looked) < 200
    assert cache.load(b"399") == CODE


def test_leftovers_of_dead_writers_are_removed(folder, monkeypatch):
    cache.store(MATERIAL, CODE)
    old, new = folder / "dead.tmp", folder / "busy.tmp"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (1, 1))
    monkeypatch.setattr(cache, "_free", {})  # as in the next process
    cache.store(b"another", CODE)
    assert not old.exists()
    assert new.exists()


def test_memory_stays_within_its_budget(folder, monkeypatch):
    folder.write_text("no folder")
    monkeypatch.setattr(cache, "_memory", BoundedCache(3 * len(CODE), len))
    for number in range(5):
        cache.store(b"%d" % number, CODE)
    assert [cache.load(b"%d" % n) is not None for n in range(5)] == [False, False, True, True, True]


def test_many_writers_at_once_leave_whole_entries(folder):
    codes = [bytes([k]) * 5000 for k in range(6)]
    seen: list[bytes | None] = []

    def work(k: int) -> None:
        for _ in range(30):
            cache.store(MATERIAL, codes[k])
            seen.append(cache.load(MATERIAL))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(seen) <= set(codes)
    assert [file.suffix for file in folder.iterdir()] == [".o"]


def test_places_follow_the_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("MANIPULA_CACHE_DIR")
    if os.name == "posix" and sys.platform != "darwin":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert cache.default_folder() == tmp_path / "xdg" / "manipula" / "objects"
        monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert cache.default_folder() == tmp_path / ".cache" / "manipula" / "objects"
    else:
        folder = cache.default_folder()
        assert folder is None or folder.is_absolute()


PROGRAM = """
import ctypes, sys
from manipula.native.store import object_cache as cache
from manipula.native.llvm_text import ModuleText

def text():
    print("compiled")
    return ModuleText("answer", "define double @answer() { ret double 42.5 }")

code = cache.load_or_compile(b"answer", ["answer"], text)
print(ctypes.CFUNCTYPE(ctypes.c_double)(code["answer"])())
"""


def run_program(environment):
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_second_process_runs_the_code_of_the_first(folder):
    environment = {**os.environ, "MANIPULA_CACHE_DIR": str(folder)}
    assert run_program(environment) == ["compiled", "42.5"]
    assert run_program(environment) == ["42.5"]


def test_code_that_cannot_be_linked_is_compiled_again(folder):
    cache.store(MATERIAL, b"no object code at all")

    def text():
        return ModuleText("again", "define void @again() { ret void }")

    assert cache.load_or_compile(MATERIAL, ["again"], text)["again"] != 0
    assert cache.load(MATERIAL) != b"no object code at all"
