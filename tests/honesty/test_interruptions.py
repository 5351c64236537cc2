"""Ctrl-C while machine code runs, and children that are forked while it is made.

Every case runs in a process of its own, with Python's own handler of SIGINT whatever the parent did with it. The work would take
hours, so a process that ends has been interrupted.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and fork as POSIX has them")
PATIENCE = 30.0  # s until a process counts as hanging

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

def later():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

def interrupted(work):
    threading.Thread(target=later, daemon=True).start()
    try:
        work()
    except KeyboardInterrupt:
        return True
    return False
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HEAD + textwrap.dedent(program)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


def passes(program: str) -> None:
    done = run(program)
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


def test_a_second_interruption_waits_too():
    passes(
        SPIN
        + INTERRUPTED
        + """
def twice():
    time.sleep(0.3)
    for _ in range(20):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.001)
    done.set()

kernel(np.ones((4, 3)), few, 1.0)
done = threading.Event()
threading.Thread(target=twice, daemon=True).start()
heard = 0
while not done.is_set():
    try:
        kernel(np.ones((500, 3)), many, 1.0, threads=2)
    except KeyboardInterrupt:
        heard += 1
    except BaseException as other:
        raise SystemExit(repr(other))
    if heard and not done.is_set():
        try:
            done.wait(5)
        except KeyboardInterrupt:
            heard += 1
assert heard
print("good")
"""
    )


def test_a_program_that_ends_does_not_wait_for_its_threads():
    """A daemon thread is inside a run of hours when the main program is through."""
    passes(
        SPIN
        + """
import time
kernel(np.ones(3), few, 1.0)
threading.Thread(target=lambda: kernel(np.ones(3), many, 1.0), daemon=True).start()
time.sleep(0.2)
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


def test_a_forked_child_compiles_while_its_parent_does():
    passes(
        """
import time, warnings
warnings.simplefilter("ignore")

def fresh(k):
    return native.compile_function(lambda x: sum(np.sin(x[j % 3] * (k + j)) * x[j % 2] for j in range(300)), {"x": (3,)}, name=f"f{k}")

os.environ["MANIPULA_CACHE"] = "off"
shared = fresh(1)
stop = threading.Event()

def compile_on():
    k = 2
    while not stop.is_set():
        fresh(k)(np.ones((9, 3)))
        k += 1

threads = [threading.Thread(target=compile_on, daemon=True), threading.Thread(target=lambda: shared(np.ones(3)), daemon=True)]
for thread in threads:
    thread.start()
time.sleep(0.05)
for attempt in range(5):
    child = os.fork()
    if child == 0:
        signal.alarm(20)                                   # a child that hangs dies
        good = np.isfinite(shared(np.ones((9, 3)))).all() and np.isfinite(fresh(1000)(np.ones((9, 3)))).all()
        os._exit(0 if good else 1)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status
stop.set()
print("good")
"""
    )


def test_no_lock_stays_held_in_a_child():
    """Every lock of the compiler is held by another thread while the process forks."""
    passes(
        """
import time, warnings
warnings.simplefilter("ignore")
from manipula.native.store import cache
from manipula.native.calling import ufunc
kernel = native.compile_function(lambda x: x * 2.0, {"x": (3,)})
locks = [kernel._lock, cache._memory_lock, ufunc._self_test_lock]
held, free = threading.Barrier(len(locks) + 1), threading.Event()

def hold(lock):
    with lock:
        held.wait()
        free.wait()

for lock in locks:
    threading.Thread(target=hold, args=(lock,), daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
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
