"""The binary interface: how compiled code is called, and what it knows about CPython and NumPy in memory.

**Kernels** (C calling convention, pointers of 64 bits; strides count doubles). Neither entry touches Python: both may run without the
GIL.

``void one(const double *const *inputs, double *const *outputs, double *workspace)``
    One state. ``inputs[i]`` and ``outputs[k]`` point at C-contiguous blocks of the core shapes (``()`` is one double), in the order
    of ``graph.inputs`` and ``graph.outputs``. Outputs must not overlap inputs.

``void batch(const double *const *inputs, const int64_t *input_strides,``
``           double *const *outputs, const int64_t *output_strides, int64_t count, double *workspace)``
    ``count`` ≥ 1 states. Row r of input i starts at ``inputs[i] + r·input_strides[i]``; stride 0 repeats one row. The strides of
    shared inputs are ignored. Each row is C-contiguous. The bits of a row do not depend on ``count``, nor on where it stands.

``workspace`` has as many doubles as the number at the symbol ``manipula_workspace`` says (64-byte aligned, private to the call,
contents undefined; NULL if that is 0). If an input has a run-time length, ``inputs`` has one more entry that points at ``int64_t``
lengths, in the order in which their names appear in the shapes of the inputs. If the number at ``manipula_stoppable`` is not 0,
``inputs`` ends with an entry that points at an ``int64_t``, the stop flag: loops that may take long end when it is 1, and the
outputs are then of no use; while it is 2 they call the function whose address is in the next word, with the ``int32_t`` in the one behind it, which sleeps.

**NumPy calls** the loop of a gufunc, ``void loop(char **args, npy_intp *dimensions, npy_intp *steps, void *context)`` (``gufunc.py``), and
**CPython calls** ``PyObject *entry(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)`` (``fast_entry.py``).

**Objects.** The fast entry reads a handful of fields of Python objects directly. Their places are those of 64-bit CPython with the
GIL and of NumPy 2 (ABI 0x2000000, ``numpy/ndarraytypes.h``); ``supported()`` compares each one with what Python itself says about a sample
object before any machine code is run. Functions are taken from NumPy's C-API tables (capsules ``_ARRAY_API`` and ``_UFUNC_API``; the
positions are part of NumPy's stable ABI) and from the interpreter. Only run-time data ever holds these addresses, never object code.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
import sysconfig
import weakref
from typing import Any

import numpy as np

WORKSPACE = "manipula_workspace"
"""Symbol of a 64-bit number in the object code: the doubles of workspace that the code needs."""

STOPPABLE = "manipula_stoppable"
"""Symbol of a 64-bit number: 0 no loop may take long, 1 only counted loops may, 2 loops of unknown length may."""

ONE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)
"""The entry for one state, as ctypes calls it."""

BATCH = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_void_p)
"""The entry for a batch."""

METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002  # CPython's flags of a function with the signature above
NUMBER_OF_FLOAT64 = 12  # NumPy's, among its types

KNOWN_ARRAY_ABI = 0x2000000

# Positions in NumPy's tables (numpy/__multiarray_api.h, numpy/__ufunc_api.h).
API_ABI_VERSION, API_ARRAY_TYPE, API_FLOAT64_TYPE, API_SCALAR, API_NEW_FROM_DESCR = 0, 2, 31, 60, 94
API_UFUNC_FROM_SIGNATURE = 31

# Byte offsets.
OBJECT_TYPE = 8
FLOAT_VALUE = 16
CTYPES_DATA = 16
ARRAY_DATA, ARRAY_RANK, ARRAY_SHAPE, ARRAY_BASE, ARRAY_DTYPE, ARRAY_FLAGS, ARRAY_WEAK = 16, 24, 32, 48, 56, 64, 72

UFUNC_LOOPS, UFUNC_DATA, UFUNC_NAME, UFUNC_TYPES, UFUNC_DOC, UFUNC_OBJECT = 32, 40, 56, 64, 72, 88

C_CONTIGUOUS, ALIGNED = 0x0001, 0x0100

_immortal: list[object] = []


def entry_name(width: int) -> str:
    """The symbol by which code for so many states side by side is entered."""
    return "one" if width == 1 else "batch"


def aligned_workspace(doubles: int) -> np.ndarray | None:
    """Scratch memory of this many doubles that starts at a multiple of 64 bytes, or ``None`` for none."""
    if doubles == 0:
        return None
    memory = np.empty(doubles + 8)
    return memory[(-data_address(memory) // 8) % 8 :][:doubles]


@functools.cache
def _table(name: str) -> int:
    capsule = getattr(importlib.import_module("numpy._core._multiarray_umath"), name)
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return get_pointer(capsule, None)


def array_api(position: int) -> int:
    """The address at ``position`` of NumPy's array API."""
    return _word(_table("_ARRAY_API") + 8 * position)


def ufunc_api(position: int) -> int:
    """The address at ``position`` of NumPy's ufunc API."""
    return _word(_table("_UFUNC_API") + 8 * position)


def python_api(name: str) -> int:
    """The address of a function of the interpreter."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def keep_with_ufunc(ufunc: np.ufunc, owned: object, pointers: tuple[int, ...]) -> None:
    """Keep ``owned`` alive as long as ``ufunc``: NumPy stores pointers to a ufunc's loops and names but owns none of them.

    The ufunc has a field for a Python object that it releases at its end. It is used if the fields around it hold the
    five ``pointers`` (loops, data, name, types, documentation) the ufunc was made with; otherwise ``owned`` lives for ever.
    """
    fields = (UFUNC_LOOPS, UFUNC_DATA, UFUNC_NAME, UFUNC_TYPES, UFUNC_DOC)
    as_expected = all(_word(id(ufunc) + field) == pointer for field, pointer in zip(fields, pointers))
    if not as_expected or _word(id(ufunc) + UFUNC_OBJECT) != 0:
        _immortal.append(owned)
        return
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owned))
    ctypes.c_uint64.from_address(id(ufunc) + UFUNC_OBJECT).value = id(owned)


def data_address(array: np.ndarray) -> int:
    """Where the numbers of an array stand in memory; ``array.ctypes.data`` takes five times as long to say so."""
    return _word(id(array) + ARRAY_DATA) if supported() else array.ctypes.data


def _word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def _int(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


@functools.cache
def supported() -> bool:
    """Is this an interpreter and a NumPy whose objects look as assumed here?"""
    if sys.implementation.name != "cpython" or sys.maxsize != 2**63 - 1 or sys.byteorder != "little":
        return False
    free_threaded = sys.version_info >= (3, 13) and sysconfig.get_config_var("Py_GIL_DISABLED")
    if free_threaded or hasattr(sys, "gettotalrefcount"):
        return False  # free-threaded or debug builds lay objects out differently
    try:
        version = ctypes.CFUNCTYPE(ctypes.c_uint)(array_api(API_ABI_VERSION))()
        return version == KNOWN_ARRAY_ABI and _layout_as_expected()
    except (AttributeError, ValueError):
        return False


def _layout_as_expected() -> bool:
    array: Any = np.arange(6.0).reshape(2, 3)
    view, owner = array[:, 1:], np.empty(3)
    number, numpy_number, block = 0.3125, np.float64(0.3125), (ctypes.c_int64 * 4)()
    references = _word(id(owner)) & 0xFFFFFFFF
    holders = [owner, owner]
    weak = weakref.ref(owner)
    at = id(array)
    return all(
        (
            _word(id(owner)) & 0xFFFFFFFF == references + len(holders),
            _word(id(owner) + ARRAY_WEAK) == id(weak) and _word(at + ARRAY_WEAK) == 0,
            _word(at + OBJECT_TYPE) == id(np.ndarray) == array_api(API_ARRAY_TYPE),
            _word(at + ARRAY_DATA) == array.ctypes.data,
            _int(at + ARRAY_RANK) == 2,
            [_word(_word(at + ARRAY_SHAPE) + 8 * k) for k in range(2)] == [2, 3],
            _word(id(view) + ARRAY_BASE) == id(view.base) and _word(id(owner) + ARRAY_BASE) == 0,
            _word(at + ARRAY_DTYPE) == id(np.dtype(np.float64)),
            _int(at + ARRAY_FLAGS) & (C_CONTIGUOUS | ALIGNED) == C_CONTIGUOUS | ALIGNED,
            not _int(id(view) + ARRAY_FLAGS) & C_CONTIGUOUS,
            array_api(API_FLOAT64_TYPE) == id(np.float64),
            ctypes.c_double.from_address(id(number) + FLOAT_VALUE).value == number,
            ctypes.c_double.from_address(id(numpy_number) + FLOAT_VALUE).value == number,
            _word(id(block) + CTYPES_DATA) == ctypes.addressof(block),
        )
    )
