# SPDX-License-Identifier: MIT
"""modules.py TRUTH: launches from modules in others, as PyTorch's call each other; writes down how many are in
each module, by its path."""
import gc
import json
import sys
import threading

from simulated import cuda, kernel_of, must, start

truth, f = [], []
inside = threading.local()  # the objects whose methods run, outermost first
paths = {}  # those and a type -> its objects in there, in the order in which they launch


def launch():
    path = ()
    for o in getattr(inside, "objects", ()):
        alike = paths.setdefault((path, type(o).__name__), [])
        if id(o) not in alike:
            alike.append(id(o))
        path += ((type(o).__name__, alike.index(id(o))),)
    truth.append(path)
    must(cuda.cuLaunchKernel(f[0], 1, 1, 1, 32, 1, 1, 0, None, None, None))


def entered(function):
    """The method's object is inside while it runs, once for all of its methods."""
    def run(o, *args):
        objects = inside.__dict__.setdefault("objects", [])
        is_new = not objects or objects[-1] is not o
        objects.extend([o] if is_new else [])
        try:
            return function(o, *args)
        finally:
            del objects[len(objects) - is_new:]
    return run


class Module:
    def _wrapped_call_impl(self, *args):
        return self._call_impl(*args)

    def _call_impl(self, *args):
        return entered(type(self).forward)(self, *args)

    __call__ = _wrapped_call_impl


class Linear(Module):
    def forward(self):
        launch()
        self.helper()

    def helper(self):
        launch()


class Attention(Module):
    def __init__(self):
        self.query, self.key, self.out = Linear(), Linear(), Linear()

    def forward(self):
        self.query()
        self.key()
        launch()
        self.out()


class Captured(Module):
    """self is shared with a closure."""
    def __init__(self):
        self.inner = Linear()

    def forward(self, again=1):
        first, second = 1, again
        def closure():
            launch()
            return self.inner(), first
        closure()
        [self.inner() for _ in range(second)]
        launch()


class Super(Captured):
    def forward(self):
        launch()
        super().forward(2)


class Layer(Module):
    def __init__(self, n):
        self.attention, self.captured, self.n = Attention(), (Captured() if n % 2 else Super()), n

    def forward(self):
        self.attention()
        self.captured()
        launch()


class Again(Module):
    """In itself, by way of another one."""
    def __init__(self, depth):
        self.inner = Again(depth - 1) if depth else None

    def forward(self):
        launch()
        if self.inner:
            self.inner()
            self.inner()


class Model(Module):
    def __init__(self):
        self.layers = [Layer(i) for i in range(5)]
        self.head, self.again = Linear(), Again(4)

    def forward(self):
        for layer in self.layers:
            layer()
        self.head()
        self.again()
        self.method()
        Static.forward(self)
        Other.forward(3)
        Other.forward(None)
        forward()
        Renamed().forward(1)
        Keyword.forward(self=self)
        Deleted()()

    def method(self):
        """No module's, but in one."""
        launch()


class Static:
    @staticmethod
    def forward(ctx):
        launch()


class Other:
    @staticmethod
    def forward(module):
        launch()

    def no_forward(self):
        launch()


class Renamed:
    def forward(this, x):
        launch()


class Keyword:
    def forward(*, self):
        launch()


class Deleted(Module):
    def forward(self):
        launch()
        del self
        launch()


def forward():
    launch()


class Called:
    def __call__(self):
        entered(lambda o: launch())(self)


class Direct:
    """self is in a closure's cell alone, up to 3.10 behind other arguments'."""
    def forward(self, a, b=2):
        def closure():
            entered(lambda o: (launch(), a, b))(self)
        closure()


class Slow(Module):
    def forward(self):
        for _ in range(2):
            yield entered(lambda o: launch())(self)


def made_again():
    """Objects that are freed, and others, of this type or that, where they were."""
    for i in range(300):
        one = Linear() if i % 3 else Called()
        one()
        del one
    for i in range(40):
        scope = {}
        exec("def forward(self):\n    launch()", {"launch": launch}, scope)
        type("Made%d" % i, (Module,), scope)()()
        scope.clear()
        gc.collect()


def same_code():
    """Classes that share their method, each freed before the next one is made."""
    for i in range(40):
        type("Short%d" % i, (Linear,), {})()()
        gc.collect()


def garbage():
    for i in range(50):
        made = [Model() for _ in range(3)]
        del made


def generators():
    for _ in Slow()():
        pass


def in_thread(context, model):
    must(cuda.cuCtxSetCurrent(context))
    for _ in range(3):
        model()


def main():
    context, model = start(), Model()
    f.append(kernel_of(b"kernel"))
    launch()
    for _ in range(3):
        model()
    garbage()
    model()
    other = Model()
    other()
    Called()()
    called = Called()
    called()
    Direct().forward(1)
    Other().no_forward()
    t = threading.Thread(target=in_thread, args=(context, model))
    t.start()
    t.join()
    made_again()
    same_code()
    generators()
    must(cuda.cuCtxSynchronize())


main()
# An object has a number where there are several of its type.
several = set()
for path in truth:
    several.update((path[:i], path[i][0]) for i in range(len(path)) if path[i][1])
launches = {}
for path in truth:
    spelled = ["%s[%d]" % p if (path[:i], p[0]) in several else p[0] for i, p in enumerate(path)]
    for i in range(len(path)):
        outer = "/".join(spelled[:i + 1])
        launches[outer] = launches.get(outer, 0) + 1
json.dump(launches, open(sys.argv[1], "w"))
