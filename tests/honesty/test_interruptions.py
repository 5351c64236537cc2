"""Ctrl-C while machine code runs; children that are forked, and programs that end, while it is made.

Every case runs in a process of its own, with Python's own handler of SIGINT whatever the parent did with it. The work would take
hours, so a process that ends has been interrupted. Nothing here depends on how fast the machine is: a signal counts only when the
call that it shall interrupt is under way, and is sent again until then.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and fork as POSIX has them")
PATIENCE = 300.0  # s until a process counts as hanging, on a machine that has much else to do

HEAD = """
import gc, os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import manipula as mp
from manipula import native
"""

SPIN = """
def spin(x, steps, w):
    done = native.repeat(lambda i, y: y + 1e-9 * w * y, (x,), steps, record=lambda i, y: y, every=10**7)
    return {"last": done.state[0], "samples": done.samples}

kernel = native.compile_function(spin, {"x": (3,), "steps": (), "w": ()}, shared=("steps",))
few, many = 10.0, 1e12
"""

INTERRUPTED = """
import time
from manipula.native.calling import threads

heard = 0

def inside(frame):
    while frame is not None and frame.f_code is not threads.share.__code__:
        frame = frame.f_back
    return frame is not None

def handle(number, frame):
    global heard
    if inside(frame):
        heard += 1
        signal.default_int_handler(number, frame)

signal.signal(signal.SIGINT, handle)

def send(count, ready):
    ready()
    while heard < count:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.002)

def interrupted(work, count=1, ready=lambda: None):
    global heard
    heard = 0
    sender = threading.Thread(target=send, args=(count, ready), daemon=True)
    sender.start()
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sender.join()
    return False
"""


def run(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HEAD + textwrap.dedent(program)],
        capture_output=True, text=True, timeout=PATIENCE, check=False, env={**os.environ, **variables},
    )  # fmt: skip


def passes(program: str, **variables: str) -> None:
    done = run(program, **variables)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr[-2000:])
    assert done.stdout.split()[-1:] == ["good"]


@pytest.mark.parametrize(
    "call",
    [
        "kernel(np.ones(3), many, 1.0)",
        "kernel(np.ones((500, 3)), many, 1.0, threads=2)",
        "kernel(np.ones((500, 3)), many, np.ones(500), threads=1)",
        "native.compile_graph(kernel.graph, width=1)(np.ones((5, 3)), many, 1.0)",
    ],
    ids=["one run", "batch on two threads", "batch on one thread", "rows one by one"],
)
def test_a_long_run_is_interrupted_and_python_lives_on(call):
    passes(
        SPIN
        + INTERRUPTED
        + f"""
before = kernel(np.ones((4, 3)), few, 1.0)[0]
assert interrupted(lambda: {call})
gc.collect()
rubbish = [np.ones(n) for n in range(1, 20000, 7)]          # a thread that still wrote would write into these
assert all((r == 1.0).all() for r in rubbish)
assert np.array_equal(kernel(np.ones((4, 3)), few, 1.0)[0], before)   # and the next call is a whole one
print("good")
"""
    )


def test_a_large_batch_without_loops_is_interrupted():
    passes(
        INTERRUPTED
        + """
model = mp.compile(mp.load("panda"))
q = np.zeros((200000, 7))
expected = model.mass_matrix(q[:70])

def work():
    while True:
        model.mass_matrix(q, threads=2)

for _ in range(4):
    assert interrupted(work)
    gc.collect()
assert np.array_equal(model.mass_matrix(q[:70]), expected)
print("good")
"""
    )


def test_a_loop_until_convergence_is_interrupted():
    passes(
        INTERRUPTED
        + """
def search(x, most):
    (y,), count = native.until(lambda y: (y * (1.0 + 1e-16),), (x,), lambda y: y > 1e300, most)
    return y, count

kernel = native.compile_function(search, {"x": (), "most": ()})
assert kernel(1.0, 5.0)[1] == 5.0
assert interrupted(lambda: kernel(1.0, 1e300))
assert interrupted(lambda: kernel(np.ones(9), 1e300))
assert kernel(1.0, 7.0)[1] == 7.0
print("good")
"""
    )


@pytest.mark.parametrize(("integrator", "step"), [("rk4", 1e-5), ("dop853", 1e-2)])
def test_a_simulation_is_interrupted(integrator, step):
    passes(
        INTERRUPTED
        + f"""
robot = mp.planar([0.5, 0.4], masses=[2.0, 1.0])

def simulate(steps):
    duration = steps * {step}
    s = mp.Scenario(robot, q0=[0.3, 0.2], duration=duration, step={step}, sample=duration / 10 if steps < 1000 else 1000 * {step}, integrator="{integrator}")
    return mp.simulate(s)

simulate(100)
assert interrupted(lambda: simulate(190_000_000))
assert simulate(100).status == "finished"
print("good")
"""
    )


def test_more_interruptions_wait_too():
    """The caller leaves when the other threads have, however often it is interrupted meanwhile."""
    passes(
        SPIN
        + INTERRUPTED
        + """
begun, left = threading.Semaphore(0), []

def slow_to_leave():
    begun.release()
    while heard < 20:
        time.sleep(0.001)
    left.append(True)

stop = threads.StopFlag()
assert interrupted(lambda: threads.share(slow_to_leave, 2, stop, join_in=False), 20, lambda: begun.acquire() and begun.acquire())
assert stop.raised and left == [True, True] and heard >= 20
assert interrupted(lambda: kernel(np.ones((500, 3)), many, 1.0, threads=2))
print("good")
"""
    )


def test_a_program_that_ends_does_not_wait_for_its_threads():
    """A daemon thread is inside a run of hours when the main program is through."""
    passes(
        SPIN
        + """
import time
from manipula.native.calling import threads
kernel(np.ones(3), few, 1.0)
threading.Thread(target=lambda: kernel(np.ones(3), many, 1.0), daemon=True).start()
while not any(future.running() for _, futures in list(threads._active.values()) for future in futures):
    time.sleep(0.001)
print("good", flush=True)
"""
    )


def test_other_callers_go_on_when_one_is_interrupted():
    passes(
        SPIN
        + INTERRUPTED
        + """
expected = kernel(np.ones((40, 3)), 3e6, 1.0)[0]
found = []
other = threading.Thread(target=lambda: found.append(kernel(np.ones((40, 3)), 3e6, 1.0, threads=1)[0]))
other.start()
assert interrupted(lambda: kernel(np.ones((500, 3)), many, 1.0, threads=2))
other.join()
assert np.array_equal(found[0], expected)
print("good")
"""
    )


COMPILE_ON = """
import warnings
warnings.simplefilter("ignore")
os.environ["MANIPULA_CACHE"] = "off"

def fresh(k, terms=300):
    return native.compile_function(lambda x: sum(np.sin(x[j % 3] * (k + j)) * x[j % 2] for j in range(terms)), {"x": (3,)}, name=f"f{k}")

stop, begun = threading.Event(), threading.Semaphore(0)

def compile_on(first, terms=300):
    k = first
    while not stop.is_set():
        kernel = fresh(k, terms)
        begun.release()
        kernel(np.ones((9, 3)))
        k += 1
"""


def test_a_forked_child_compiles_while_its_parent_does():
    passes(
        COMPILE_ON
        + """
shared = fresh(1)
for thread in [threading.Thread(target=compile_on, args=(2,), daemon=True), threading.Thread(target=lambda: shared(np.ones(3)), daemon=True)]:
    thread.start()
for attempt in range(3):
    begun.acquire()
    child = os.fork()
    if child == 0:
        signal.alarm(200)                                  # a child that hangs dies
        good = np.isfinite(shared(np.ones((9, 3)))).all() and np.isfinite(fresh(1000)(np.ones((9, 3)))).all()
        os._exit(0 if good else 1)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status
stop.set()
print("good")
"""
    )


INSIDE_LLVM = """
import llvmlite.binding as llvm
working = threading.Event()
machine_code = llvm.TargetMachine.emit_object

def emit_object(machine, module):
    working.set()
    for _ in range(3):                                     # longer inside LLVM than outside
        code = machine_code(machine, module)
    return code

llvm.TargetMachine.emit_object = emit_object
"""


@pytest.mark.parametrize("way", ["", "raise SystemExit(0)"])
def test_a_program_ends_while_its_threads_compile(way):
    """LLVM's memory goes when the process ends, and a daemon thread is inside LLVM at that moment."""
    passes(
        COMPILE_ON
        + INSIDE_LLVM
        + f"""
for first in (1, 1001):
    threading.Thread(target=compile_on, args=(first, 100), daemon=True).start()
working.wait()
print("good", flush=True)
{way}
"""
    )


def test_many_programs_end_while_their_threads_compile():
    """The same, twenty times: every child is a program of its own that ends as any other does."""
    passes(
        COMPILE_ON
        + INSIDE_LLVM
        + """
import sys
fresh(1, 20)(np.ones((9, 3)))
working.clear()
for attempt in range(20):
    child = os.fork()
    if child == 0:
        threading.Thread(target=compile_on, args=(2, 20), daemon=True).start()
        working.wait()
        sys.exit(0)
    status = os.waitpid(child, 0)[1]
    assert status == 0, (attempt, status)
print("good")
"""
    )


def test_the_end_waits_for_the_compiler_and_keeps_it():
    """Whoever holds a lock of the compiler is waited for; whoever asks after the end gets none."""
    passes(
        COMPILE_ON
        + """
import atexit, sys, time
from manipula.native import locks
import manipula.native.llvm.objects
assert len(locks.GUARDED) == 2, "llvmlite's own lock is one of them"
holding, ending = threading.Event(), threading.Event()

def hold():
    with locks.GUARDED[-1]:
        holding.set()
        ending.wait()
        time.sleep(0.05)
        os.write(1, b"go")
    with locks.COMPILING:
        os.write(1, b"wrong")

atexit.register(ending.set)
threading.Thread(target=hold, daemon=True).start()
holding.wait()
atexit._run_exitfuncs()
os.write(1, b"od")
time.sleep(0.05)
"""
    )


def test_the_compiler_is_imported_behind_its_lock():
    """A process forked while another thread imports would wait for ever; a fork waits for this lock."""
    passes(
        """
import sys
from manipula.native import locks
seen, outside = [], []

class Finder:
    def find_spec(name, path=None, target=None):
        if name.startswith(("manipula.native", "llvmlite", "concurrent")):
            (seen if locks.COMPILING._is_owned() else outside).append(name)

sys.meta_path.insert(0, Finder)
f = native.compile_function(lambda x: np.sin(x) * x, {"x": (3,)})
f(np.ones(3)), f(np.ones((9, 3))), f(np.ones((9000, 3)), threads=2)
g = native.compile_function(lambda x: native.until(lambda y: (y * 1.5,), (x,), lambda y: y > 9.0, 9.0).state[0], {"x": ()})
g(1.0), g(np.ones(5))
mp.compile(mp.load("panda")).gravity(np.zeros(7))
assert not outside, outside
assert {"llvmlite.binding", "manipula.native.calling.gufunc", "concurrent.futures"} <= set(seen), seen
print("good")
""",
        MANIPULA_CACHE="off",  # what is on disk is called without the compiler
    )


def test_no_lock_stays_held_in_a_child():
    """Every lock of the compiler is held by another thread while the process forks."""
    passes(
        """
import time, warnings
warnings.simplefilter("ignore")
from manipula.native.store import object_cache
from manipula.native.calling import fast_entry
kernel = native.compile_function(lambda x: x * 2.0, {"x": (3,)})
locks = [kernel._lock, object_cache._memory._lock, fast_entry._self_test_lock]
held, free = threading.Barrier(len(locks) + 1), threading.Event()

def hold(lock):
    with lock.here:
        held.wait()
        free.wait()

for lock in locks:
    threading.Thread(target=hold, args=(lock,), daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(200)
    os.environ["MANIPULA_CACHE_DIR"] = "/dev/null/nowhere"   # entries are remembered in memory, behind its lock
    os._exit(0 if (kernel(np.ones(3)) == 2.0).all() else 1)
status = os.waitpid(child, 0)[1]
free.set()
assert status == 0, status
print("good")
"""
    )


def test_sigint_that_the_parent_ignores_is_no_matter():
    """A background job inherits an ignored SIGINT; these tests set their own handler and pass all the same."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        test_a_long_run_is_interrupted_and_python_lives_on("kernel(np.ones(3), many, 1.0)")
    finally:
        signal.signal(signal.SIGINT, before)
