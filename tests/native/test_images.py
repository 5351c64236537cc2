"""Object code as an image: it computes what LLVM's own linker gives, and LLVM is not loaded where all code is on disk."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manipula import native
from manipula.errors import CompileError
from manipula.native import host as hosts
from manipula.native.binary_interface import BATCH, STOPPABLE, WORKSPACE
from manipula.native.llvm import images
from manipula.native.llvm.compiler import module_text
from manipula.native.llvm.images import image_of, is_image, load_image
from manipula.native.llvm.objects import compile_object, load_object
from manipula.native.llvm_text import ModuleText
from manipula.native.store import object_cache as cache

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine != "x86_64", reason="images are made of objects of Linux on x86-64"
)

CALLS = """
declare double @manipula_math_libm_sin(double)
declare double @manipula_math_libm_pow(double, double)
@numbers = private unnamed_addr constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0], align 64
@places = constant [2 x ptr] [ptr @numbers, ptr @inner]
define double @inner(double %x) noinline {
  %y = call double @manipula_math_libm_sin(double %x)
  ret double %y
}
define double @outer(double %x, i64 %k) {
  %first = load ptr, ptr @places
  %place = getelementptr double, ptr %first, i64 %k
  %number = load double, ptr %place
  %slot = getelementptr ptr, ptr @places, i64 1
  %function = load ptr, ptr %slot
  %y = call double %function(double %x)
  %z = call double @manipula_math_libm_pow(double %y, double %number)
  ret double %z
}
define i64 @chosen(i64 %k) {
  switch i64 %k, label %other [i64 0, label %a i64 1, label %b i64 2, label %c i64 3, label %d i64 4, label %e i64 5, label %f]
a: ret i64 71
b: ret i64 13
c: ret i64 99
d: ret i64 5
e: ret i64 1234567
f: ret i64 -8
other: ret i64 0
}
"""


def test_addresses_tables_and_calls_of_the_library_are_found() -> None:
    image = image_of(compile_object(ModuleText("calls", CALLS)))
    assert image is not None
    head = json.loads(image[12 : 12 + int.from_bytes(image[8:12], "little")])
    assert {name for _, name in head["external"]} == {"manipula_math_libm_sin", "manipula_math_libm_pow"}
    assert head["absolute"]  # the numbers and the inner function, by address
    code = load_image(image, ["outer", "chosen"])
    outer = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)(code["outer"])
    for k, power in enumerate((1.0, 2.0, 4.0, 8.0)):
        assert outer(0.7, k) == float(np.power(np.sin(0.7), power))
    chosen = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code["chosen"])
    assert [chosen(k) for k in range(-1, 7)] == [0, 71, 13, 99, 5, 1234567, -8, 0]


def test_an_image_gives_the_bits_of_the_linker() -> None:
    """Every elementary function, a loop, a table and a long graph that is cut into functions."""

    def f(x: Any) -> Any:
        y = np.sin(x) + np.tanh(x) * np.exp(-x * x) + np.arctan2(x, 1.0 + x * x)
        z = native.repeat(lambda i, y: y * 0.5 + native.interpolate([0.0, 1.0, 3.0], [1.0, 0.0, 2.0])(y), (y[0],), 9.0)
        for _ in range(300):
            y = y * np.cos(y) + 0.1 * y[::-1]
        return y + z.state[0]

    graph = native.trace(f, {"x": (3,)})
    object_code = compile_object(module_text(graph, 4))
    names = ("batch", WORKSPACE, STOPPABLE)
    image = image_of(object_code)
    assert image is not None
    assert is_image(image)
    assert not is_image(object_code)
    x = np.random.default_rng(0).normal(size=(40, 3))
    found = []
    for code in (load_object(object_code, names), load_image(image, names)):
        out, space = np.empty_like(x), np.empty(ctypes.c_int64.from_address(code[WORKSPACE]).value + 8)
        space = space[-space.ctypes.data // 8 % 8 :]
        pointers, strides = (ctypes.c_void_p * 2)(x.ctypes.data, 0), (ctypes.c_int64 * 2)(3, 0)
        BATCH(code["batch"])(
            pointers, strides, (ctypes.c_void_p * 1)(out.ctypes.data), (ctypes.c_int64 * 1)(3), 40, space.ctypes.data
        )
        found.append(out)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[1], graph.evaluate(x), rtol=1e-12)


def test_memory_of_code_can_be_read_and_run_only_and_is_given_back() -> None:
    image = image_of(compile_object(ModuleText("one", "define double @one() { ret double 42.5 }")))
    assert image is not None
    code = load_image(image, ["one"])

    def mapped() -> list[str]:
        with open("/proc/self/maps") as lines:
            spans = [(line.split()[0].split("-"), line.split()[1]) for line in lines]
        return [mode for (low, high), mode in spans if int(low, 16) <= address < int(high, 16)]

    address = code["one"]
    assert mapped() == ["r-xp"]
    owner = code._owner
    (release,) = [x for x in images.weakref.finalize._registry if x.peek() and x.peek()[0] is owner]  # pyright: ignore[reportAttributeAccessIssue]
    assert not release.atexit
    assert release() == 0
    assert mapped() == []


@pytest.mark.parametrize(
    "text",
    [
        "@changed = global i64 3\ndefine i64 @f() { %x = load i64, ptr @changed ret i64 %x }",
        "@mine = thread_local global i64 3\ndefine ptr @f() { ret ptr @mine }",
    ],
)
def test_objects_with_what_an_image_cannot_have_are_left_to_the_linker(text: str) -> None:
    assert image_of(compile_object(ModuleText("unusual", text))) is None


def test_damaged_objects_and_images_are_refused() -> None:
    object_code = compile_object(ModuleText("calls", CALLS))
    rng = np.random.default_rng(5)
    assert image_of(b"") is None
    assert image_of(b"no object code at all, and long enough to be looked at as one: " * 4) is None
    for length in rng.integers(0, len(object_code), 60):
        assert image_of(object_code[:length]) is None
    for _ in range(300):  # whatever is changed, nothing but an image or None comes out
        damaged = bytearray(object_code)
        damaged[rng.integers(0, len(damaged))] ^= 1 << int(rng.integers(0, 8))
        found = image_of(bytes(damaged))
        assert found is None or is_image(found)
    image = image_of(object_code)
    assert image is not None
    for wrong in (image[:8], image[:20], images.MAGIC + b"\xff" * 40, image[:12] + b"[" + image[13:]):
        with pytest.raises(CompileError):
            load_image(wrong, ["outer"])
    with pytest.raises(CompileError):
        load_image(image, ["missing"])


def test_without_executable_memory_the_linker_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the object is kept, so that the next process need not compile."""
    monkeypatch.setenv("MANIPULA_CACHE_DIR", str(tmp_path / "objects"))
    monkeypatch.delenv("MANIPULA_CACHE", raising=False)

    def refuse(image: bytes, names: Any) -> None:
        raise CompileError("The system gives no executable memory to this process.")

    monkeypatch.setattr(cache, "load_image", refuse)
    made = []

    def text():
        made.append(1)
        return ModuleText("answer", "define double @answer() { ret double 42.5 }")

    for _ in range(2):
        code = cache.load_or_compile(b"answer", ["answer"], text)
        assert ctypes.CFUNCTYPE(ctypes.c_double)(code["answer"])() == 42.5
    assert made == [1]
    stored = cache.load(b"answer")
    assert stored is not None
    assert not is_image(stored)


PROGRAM = """
import json, sys
import manipula as mp
from manipula.native import host

model = mp.compile(mp.load("puma560"))
tau = model.inverse_dynamics([0.1] * 6, [0.2] * 6, [0.3] * 6), model.gravity([[0.1] * 6] * 9)
print(json.dumps({"tau": [t.tolist() for t in tau], "host": vars(host.host()), "llvm": "llvmlite.binding" in sys.modules}))
"""


def test_a_process_whose_code_is_on_disk_loads_no_llvm(tmp_path: Path) -> None:
    """What was kept of the processor is what LLVM says of it, and a damaged or foreign answer is not believed."""

    def asked(**more: str) -> dict:
        environment = {k: v for k, v in os.environ.items() if k != "MANIPULA_CACHE"}
        environment |= {"MANIPULA_CACHE_DIR": str(tmp_path / "objects"), **more}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    first, second = asked(), asked()
    assert (first.pop("llvm"), second.pop("llvm")) == (True, False)
    assert first == second
    assert first["host"] == vars(hosts._asked())
    (kept,) = [
        path for path in (tmp_path / "objects").iterdir() if first["host"]["features"].encode() in path.read_bytes()
    ]
    content = kept.read_bytes()
    kept.write_bytes(content.replace(b"+avx", b"-avx", 1))  # the features of another processor
    third = asked()
    assert third.pop("llvm")
    assert third == first
    assert not asked()["llvm"]


def test_what_is_kept_of_the_processor_belongs_to_one_start_of_one_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = hosts._key()
    assert here is not None
    assert here == hosts._key()
    other = tmp_path / "boot_id"
    other.write_text("another start\n")
    monkeypatch.setattr(hosts, "START_OF_SYSTEM", other)
    assert hosts._key() not in (here, None)
    other.unlink()
    assert hosts._key() is None
