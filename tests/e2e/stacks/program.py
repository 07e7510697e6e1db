# SPDX-License-Identifier: MIT
"""Launches kernels from everywhere in Python, each known by a name of its own, and writes down for
each the stack that Python itself tells there: a line of JSON, name and frames, outermost first.

program.py TRUTH LAUNCHES SEED
"""
import ctypes
import functools
import gc
import json
import random
import sys
import threading
import traceback

from simulated import cuda, kernel_of, must, start

truth = open(sys.argv[1], "w", encoding="utf-8", errors="surrogateescape")
launches, seed = int(sys.argv[2]), int(sys.argv[3])
random.seed(seed)
sys.setrecursionlimit(5000)
threading.stack_size(64 << 20)

libraries = cuda, ctypes.PyDLL("libcuda.so.1")  # without the GIL, and with
lock = threading.Lock()
count = [0]
written = []


def kernel():
    """A new one, and its name."""
    with lock:
        count[0] += 1
        name = "k%d" % count[0]
    return name, kernel_of(name.encode())


def note(name):
    """The stack of who calls this."""
    qualified = sys.version_info >= (3, 11)
    frames = []
    walked = list(traceback.walk_stack(sys._getframe(1)))
    summary = traceback.extract_stack(sys._getframe(1)) if len(walked) < 100 else None
    for frame, line in walked:
        code = frame.f_code
        frames.append([code.co_qualname if qualified else code.co_name, code.co_filename, line or 0])
    frames.reverse()
    if summary:
        assert [(f[1], f[2]) for f in frames] == [(s.filename, s.lineno) for s in summary]
    with lock:
        truth.write(json.dumps([name, frames]) + "\n")


def arguments(f):
    return f, 1, 1, 1, 32, 1, 1, 0, None, None, None


def launch():
    (name, f), library = kernel(), random.choice(libraries)
    note(name), must(library.cuLaunchKernel(*arguments(f)))


# ---- ways to come there ----

def recursion(depth=None):
    depth = random.randrange(30) if depth is None else depth
    if depth:
        recursion(depth - 1)
    else:
        launch()


def generator():
    def inner():
        launch()
        yield 1
        launch()
        yield 2

    def outer():
        yield from inner()

    for _ in outer():
        pass
    next(x for x in [launch()] or [0])


def coroutine():
    async def inner():
        launch()

    async def outer():
        await inner()

    try:
        outer().send(None)
    except StopIteration:
        pass


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper


@decorated
@decorated
def decorators():
    launch()


class Class:
    def __init__(self):
        launch()

    def __enter__(self):
        launch()
        return self

    def __exit__(self, *args):
        launch()

    def __del__(self):
        launch()

    @property
    def value(self):
        launch()
        return 1

    def __lt__(self, other):
        launch()
        return True

    def __call__(self):
        launch()


def methods():
    with Class() as c:
        c.value
        c()
        sorted([c, c])
    del c


def callbacks():
    list(map(lambda _: launch(), [1]))
    functools.reduce(lambda a, b: launch(), [1, 2])
    [launch() for _ in [1]]
    called = ctypes.CFUNCTYPE(None)(launch)
    called()


def executed():
    """Code that is freed at once; its like has other lines, names or files."""
    kind = random.randrange(3)
    lines = random.randrange(40)
    if kind == 0:
        exec("\n" * lines + "launch()", {"launch": launch})
    elif kind == 1:
        name = "made%d" % random.randrange(1000)
        scope = {"launch": launch}
        exec("def %s():\n%s    launch()\n" % (name, "\n" * lines), scope)
        scope[name]()
        scope.clear()
    else:
        name = "<cell %d>" % random.randrange(1000)
        exec(compile("if 1:\n" + "\n" * lines + "    launch()", name, "exec"), {"launch": launch})
    if not random.randrange(10):
        gc.collect()


def lambdas():
    (lambda: (lambda: launch())())()
    eval("launch()")


def exceptions():
    try:
        raise ValueError
    except ValueError:
        launch()
    finally:
        launch()


def bodies():
    class Body:
        launch()
    str.join("", (launch() or "" for _ in [1]))


def strange_names():
    scope = {"launch": launch}
    exec(compile("def \u00e4\u4e2d():\n    launch()\n\u00e4\u4e2d()", "\u4e2d \U0001f600\udcff;.py", "exec"),
         scope)


def of_many_lines():
    return (launch(),
            launch(),
            [
                launch()
            ])


ways = [recursion, generator, coroutine, decorators, methods, callbacks, executed, executed, executed,
        lambdas, exceptions, bodies, strange_names, of_many_lines]


def at_random(depth=0):
    if depth < 4 and random.random() < 0.5:
        at_random(depth + 1)
    random.choice(ways)()


def many(context, share):
    must(cuda.cuCtxSetCurrent(context))
    for _ in range(share):
        at_random()


def main():
    context = start()
    launch()
    recursion(1000)
    recursion(2500)
    threads = [threading.Thread(target=many, args=(context, launches // 4)) for _ in range(3)]
    for t in threads:
        t.start()
    many(context, launches // 4)
    for t in threads:
        t.join()
    recursion(1000)
    must(cuda.cuCtxSynchronize())
    print("all are launched" if count[0] >= launches else "launches are missing")


main()
truth.close()
