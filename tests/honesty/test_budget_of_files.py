"""Files that are small and claim to be large: refused before memory is taken, and what is large can be stored."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import manipula as mp
from manipula.errors import BudgetError, DescriptionError
from manipula.simulation.stored import classic
from manipula.simulation.stored.store import FORMATS, load_result
from tampering import header_of, with_header

OLD = {
    "status": "finished",
    "reason": "",
    "statuses": [],
    "reasons": [],
    "error_estimate": None,
    "meta": {},
    "notes": [],
    "digest": "0",
}
CHILD = """
import json, resource, sys
import pyarrow.parquet, mcap.stream_reader, zstandard
from manipula.simulation.stored.store import FORMATS, format_of, load_result
from pathlib import Path
for suffix in FORMATS:
    format_of(Path("x" + suffix))
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (600 << 20), size + (600 << 20)))
for path in sys.argv[1:]:
    try:
        load_result(path)
        print(json.dumps([path, "loaded", ""]))
    except Exception as error:
        print(json.dumps([path, type(error).__name__, str(error)]))
"""


def result() -> mp.Result:
    return mp.Result(np.arange(4.0), {"q": np.ones((4, 2)), "qd": np.ones((4, 2))}, "finished", "")


def claims(folder: Path) -> Iterator[Path]:
    """Files of a few kilobytes that speak of gigabytes."""
    folder.mkdir()
    many = ",".join(f"q[{k}]" for k in range(2000))
    texts = {
        "columns.csv": f"# manipula {json.dumps({**OLD, 'shapes': {'q': [10**9]}})}\nt,q[0]\n0.0,1.0\n",
        "ragged.csv": f"# manipula {json.dumps({**OLD, 'shapes': {'q': [2000]}})}\nt,{many}\n" + "0\n" * 200_000,
        "nested.csv": "# manipula " + "[" * 500_000 + "\nt\n0\n",
        "values.csv": "# manipula [" + "0," * 5_000_000 + "0]\nt\n0\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
        yield folder / name
    shapes = {"much": [10**12, 2], "within the budget": [10**8, 1], "axes": [2] * 40, "negative": [-(10**12), 2]}
    for suffix in FORMATS:
        whole = folder / f"run{suffix}"
        result().save(whole)
        text = header_of(whole)
        entries = json.loads(text)
        for what, shape in shapes.items():
            told = json.dumps({**entries, "shapes": {"t": shape[:1], "q": shape, "qd": shape}})
            path = folder / f"{what}{suffix}"
            path.write_bytes(with_header(whole, told))
            yield path
    member = io.BytesIO()
    np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (10**10, 2)})
    with (
        zipfile.ZipFile(folder / "member.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        np.load(folder / "run.npz") as data,
    ):
        archive.writestr("manipula.npy", npz_member(data["manipula"]))
        archive.writestr("t.npy", npz_member(data["t"]))
        archive.writestr("q.npy", member.getvalue() + b"\0" * 1000)
        archive.writestr("qd.npy", npz_member(data["qd"]))
    yield folder / "member.npz"
    with zipfile.ZipFile(folder / "header.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        member = io.BytesIO()
        np.lib.format.write_array_header_1_0(member, {"descr": "<U70000000", "fortran_order": False, "shape": ()})
        archive.writestr("manipula.npy", member.getvalue() + bytes(280_000_000))
    yield folder / "header.npz"
    head, _, end = classic.planned(
        {"time": 10**9},
        {"manipula": json.dumps(OLD)},
        {"time": classic.Variable(("time",), {}, np.broadcast_to(0.0, 10**9))},
    )
    with (folder / "sparse.nc").open("wb") as stream:
        stream.write(head)
        stream.truncate(end)
    yield folder / "sparse.nc"
    (folder / "short.nc").write_bytes(head)
    yield folder / "short.nc"


def npz_member(value: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, value, allow_pickle=False)
    return out.getvalue()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the memory of a process")
def test_claims_cost_no_memory(tmp_path: Path) -> None:
    paths = [str(path) for path in claims(tmp_path / "claims")]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *paths], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [path for path, *_ in told] == paths
    for path, kind, message in told:
        assert kind in ("BudgetError", "DescriptionError"), (path, kind, message)
        assert "MemoryError" not in message, (path, message)
    kinds = {Path(path).name: kind for path, kind, _ in told}
    assert all(kinds[f"much{suffix}"] == "BudgetError" for suffix in FORMATS)
    assert kinds["sparse.nc"] == kinds["header.npz"] == kinds["values.csv"] == "BudgetError"


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_budget_can_be_raised(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{suffix}"
    result().save(path)
    with pytest.raises(BudgetError, match=r"budget="):
        load_result(path, budget=100)
    assert load_result(path, budget=100_000) == result()


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".mcap"])
def test_what_is_packed_tightly_is_seen_before_it_is_unpacked(suffix: str, tmp_path: Path) -> None:
    large = mp.Result(np.arange(40_000.0), {"q": np.zeros((40_000, 20))}, "finished", "")
    path = tmp_path / f"run{suffix}"
    large.save(path)
    assert path.stat().st_size < large.q.nbytes / 4
    with pytest.raises(BudgetError):
        load_result(path, budget=large.q.nbytes)


def test_a_chunk_that_lies_about_its_size() -> None:
    import zstandard

    from manipula.simulation.stored.mcap_file import _unpacked_size

    packed = zstandard.compress(bytes(10**6))
    assert _unpacked_size(SimpleNamespace(compression="zstd", data=packed, uncompressed_size=10**6)) == 10**6
    with pytest.raises(DescriptionError, match="larger"):
        _unpacked_size(SimpleNamespace(compression="zstd", data=packed, uncompressed_size=10))
    with pytest.raises(DescriptionError, match="compressed"):
        _unpacked_size(SimpleNamespace(compression="lz4", data=packed, uncompressed_size=10**6))


@pytest.mark.skipif(sys.platform == "win32", reason="needs files with holes")
@pytest.mark.parametrize(
    ("samples", "magic"), [(150_000_000, b"CDF\2"), (300_000_000, b"CDF\2"), (600_000_000, b"CDF\5")]
)
def test_variables_beyond_two_and_four_gigabytes(samples: int, magic: bytes, tmp_path: Path) -> None:
    """Their places and lengths, read by SciPy where it knows the format, and by our reader: in a file that is mostly a hole."""
    from scipy.io import netcdf_file

    wanted = {"pose": ("time", "row"), "q": ("time",), "last": ("row",)}
    sizes = {"time": samples, "row": 2}
    variables = {
        name: classic.Variable(dims, {"units": "m"}, np.broadcast_to(0.0, [sizes[d] for d in dims]))
        for name, dims in wanted.items()
    }
    head, begin, end = classic.planned(sizes, {"title": "a hole"}, variables)
    assert head[:4] == magic
    path = tmp_path / "hole.nc"
    with path.open("wb") as stream:
        stream.write(head)
        stream.truncate(end)
        for k, name in enumerate(wanted):
            stream.seek(begin[name] + 8 * (variables[name].data.size - 1))
            stream.write(np.array([k + 0.5], ">f8").tobytes())
    with path.open("rb") as stream:
        layout = classic.read_layout(stream, end, 1 << 20)
        assert {name: (v.shape, v.begin) for name, v in layout.variables.items()} == {
            name: (v.data.shape, begin[name]) for name, v in variables.items()
        }
        assert classic.numbers(stream, layout.variables["last"]).tolist() == [0.0, 2.5]
    if magic == b"CDF\2":
        file = netcdf_file(path, mmap=True)
        assert [float(file.variables[name].data.reshape(-1)[-1]) for name in wanted] == [0.5, 1.5, 2.5]
        file.variables.clear()
        file.close()


def test_large_variables_go_last(tmp_path: Path) -> None:
    """With a small number in place of 4 GiB: one variable beyond it is the last of a CDF-2 file, two make it CDF-5."""
    data = {"a": np.arange(100.0), "b": np.arange(30.0), "c": np.arange(40.0)}
    for limit, magic, last in ((500, b"CDF\2", "a"), (300, b"CDF\5", "c"), (10_000, b"CDF\2", "c")):
        stream = io.BytesIO()
        variables = {name: classic.Variable((f"d{name}",), {}, v) for name, v in data.items()}
        classic.write(stream, {f"d{name}": len(v) for name, v in data.items()}, {}, variables, limit)
        whole = stream.getvalue()
        assert whole[:4] == magic
        layout = classic.read_layout(io.BytesIO(whole), len(whole), 1 << 20)
        assert max(layout.variables, key=lambda name: layout.variables[name].begin) == last
        for name, v in data.items():
            assert np.array_equal(classic.numbers(io.BytesIO(whole), layout.variables[name]), v)
