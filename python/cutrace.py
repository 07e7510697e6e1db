# SPDX-License-Identifier: MIT
"""What a Python program may ask of cutrace while it runs under it.

    import cutrace

    with cutrace.profile():         # with CUTRACE_START=off: record this, and nothing else
        step()
        torch.cuda.synchronize()
    print(cutrace.stats())          # a table of what ran
    for kernel in cutrace.stats():
        print(kernel.name, kernel.calls, kernel.total_ns)

One file, which needs nothing but the standard library. In a process without libcutrace.so preloaded
`available` is False: pause(), resume(), profile() and range() do nothing then, flush() does nothing, and
there are no statistics. All functions may be called from any thread. include/cutrace/cutrace.h
describes what is behind them.
"""

import collections
import contextlib
import ctypes
import errno
import os

# But for range(), which would hide Python's own.
__all__ = ["Kernel", "Kernels", "available", "flush", "is_recording", "pause", "profile", "resume", "stats"]


class _Kernel(ctypes.Structure):
    """struct cutrace_kernel"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("device", ctypes.c_int32),
        ("reserved", ctypes.c_uint32),
        ("calls", ctypes.c_uint64),
        ("timed", ctypes.c_uint64),
        ("total_ns", ctypes.c_uint64),
        ("min_ns", ctypes.c_uint64),
        ("max_ns", ctypes.c_uint64),
        ("uncertainty_ns", ctypes.c_uint64),
        ("estimated_ns", ctypes.c_uint64),
        ("upper_bounds", ctypes.c_uint64),
    ]


Kernel = collections.namedtuple(
    "Kernel",
    [name for name, _ in _Kernel._fields_ if name != "reserved"],
)
Kernel.__doc__ = """Statistics of a kernel so far, times in nanoseconds.

name            as the compiler made it (mangled)
device          CUDA's number; -1: the sum of all
calls           launches while recording, with a time or without
timed           of these, those that have a time by now; 0: so are the next four
total_ns, min_ns, max_ns
uncertainty_ns  what the mean, total_ns / timed, may be wrong by, either way
estimated_ns    of all calls, where some have no time
upper_bounds    of the timed: times that are so much at most
"""

def _duration(ns):
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= factor:
            return "%.2f %s" % (ns / factor, unit)
    return "%d ns" % ns


def _row(k):
    """Signs are the report's: * an estimate, < at most so much, ~ less than twice its doubt."""
    if not k.timed:
        return "%11s  %9d  %10s  %s" % ("-", k.calls, "-", k.name)
    mean = k.total_ns / k.timed
    sign = "<" if 20 * k.upper_bounds > k.timed else "~" if 2 * k.uncertainty_ns > mean else ""
    total = ("*" if k.timed < k.calls else "") + _duration(k.estimated_ns)
    return "%11s  %9d  %10s  %s" % (total, k.calls, sign + _duration(mean), k.name)


class Kernels(list):
    """Kernels, which print as a table."""

    def __str__(self):
        if not self:
            return "no kernel has run" if available else "libcutrace.so is not preloaded"
        heading = "%11s  %9s  %10s  %s" % ("Time", "Calls", "Avg", "Name")
        return "\n".join([heading] + [_row(k) for k in self])


_process = ctypes.CDLL(None)
available = hasattr(_process, "cutrace_v1_pause")

_arguments = {
    "pause": [],
    "resume": [],
    "is_recording": [],
    "flush": [ctypes.c_uint],
    "range_push": [ctypes.c_char_p],
    "range_pop": [],
    "kernel": [ctypes.c_char_p, ctypes.POINTER(_Kernel), ctypes.c_size_t],
    "next_kernel": [
        ctypes.POINTER(ctypes.c_uint32),
        ctypes.POINTER(_Kernel),
        ctypes.c_size_t,
    ],
}


def _call(name, *arguments):
    function = getattr(_process, "cutrace_v1_" + name)
    function.argtypes = _arguments[name]
    function.restype = ctypes.c_int
    return function(*arguments)


def _check(error):
    """ECANCELED, of a process in which nothing is recorded, is as if cutrace were not there."""
    if error not in (0, errno.ECANCELED):
        raise OSError(error, "cutrace: " + os.strerror(error))


def pause():
    """Stops recording in the whole process, as torch.cuda.profiler.stop() does."""
    if available:
        _check(_call("pause"))


def resume():
    """Starts recording in the whole process, as torch.cuda.profiler.start() does."""
    if available:
        _check(_call("resume"))


def is_recording():
    """Whether recording is on."""
    return available and _call("is_recording") == 1


def flush(timeout=10.0):
    """Has all that is complete on the GPU put into the figures, and these into the files.

    It does not wait for the GPU: synchronise before. Raises TimeoutError when it was not done
    after so many seconds, and OSError when the profile cannot be written.
    """
    if available:
        error = _call("flush", int(max(0, min(timeout * 1000, 2**32 - 1))))
        _check(0 if error == errno.ENODATA else error)


def _kernel(k):
    return Kernel(*(os.fsdecode(v) if isinstance(v, bytes) else v
                    for v in (getattr(k, field) for field in Kernel._fields)))


def _each():
    cursor, k = ctypes.c_uint32(0), _Kernel()
    while True:
        error = _call("next_kernel", ctypes.byref(cursor), ctypes.byref(k), ctypes.sizeof(k))
        if error in (errno.ENOENT, errno.ECANCELED):
            return
        _check(error)
        yield _kernel(k)


def stats(name=None):
    """The Kernel of that name over all devices, None if there is none so far; without a name a
    list of all kernels, each device's apart, most time first, which prints as a table. What is
    complete on the GPU by now is in them: it is flushed before, for which a second is waited at most."""
    if not available:
        return Kernels() if name is None else None
    _call("flush", 1000)  # whatever it returns: the figures are there without a file, too
    if name is None:
        return Kernels(sorted(_each(), key=lambda k: -k.estimated_ns))
    k = _Kernel()
    error = _call("kernel", os.fsencode(name), ctypes.byref(k), ctypes.sizeof(k))
    if error in (errno.ENOENT, errno.ECANCELED):
        return None
    _check(error)
    return _kernel(k)


@contextlib.contextmanager
def profile():
    """Records what is launched inside, whatever was set before, which holds again afterwards."""
    before = is_recording()
    resume()
    try:
        yield
    finally:
        if not before:
            pause()


def _utf8(name):
    return name if isinstance(name, bytes) else str(name).encode("utf-8", "replace")


@contextlib.contextmanager
def range(name):
    """A range of the calling thread: how long it took, and what was called and ran on the GPU in
    it. It is in the same tables and timelines as those of torch.cuda.nvtx, in the domain "cutrace".
    Also a decorator of functions."""
    pushed = available and _call("range_push", _utf8(name)) == 0
    try:
        yield
    finally:
        if pushed:
            _call("range_pop")
