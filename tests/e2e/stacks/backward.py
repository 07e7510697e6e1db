# SPDX-License-Identifier: MIT
"""backward.py ENGINE TRUTH MODULES [alone]: forward and backward passes with the ranges that PyTorch's emit_nvtx() pushes;
writes down where each kernel is from, and how often each module launches. Alone: threads without Python launch all."""
import ctypes
import json
import sys
import threading
import traceback

from simulated import cuda, kernel_of, must, start

engine = ctypes.CDLL(sys.argv[1])  # calls without the GIL, as PyTorch's bindings do
NODE = "[autograd: backward]"
truth, launches, numbers = [], {}, threading.local()
names, count, lock = [], [0], threading.Lock()


class Step(ctypes.Structure):
    _fields_ = [("push", ctypes.c_char_p), ("launch", ctypes.c_void_p), ("pops", ctypes.c_int)]


def kernel():
    with lock:
        count[0] += 1
        name = "k%d" % count[0]
    return name, kernel_of(name.encode()).value


def stack():
    """The caller's."""
    qualified = sys.version_info >= (3, 11)
    frames = [[f.f_code.co_qualname if qualified else f.f_code.co_name, f.f_code.co_filename, line]
              for f, line in traceback.walk_stack(sys._getframe(1))]
    return frames[::-1]


def node(frames):
    return frames + [[NODE] + frames[-1][1:]]


def is_from(name, frames, module=None):
    truth.append([name, frames])
    while module:
        launches[module] = launches.get(module, 0) + 1
        module = module.rpartition("/")[0]


def operation(name, module=None, number=None, pushes=(), tail=b""):
    """A forward one; gives its number, and where it was called."""
    if number is None:
        number = numbers.next = getattr(numbers, "next", -1) + 1
    (k, f), place = kernel(), None
    steps = [Step(b"%s, seq = %d%s" % (p, number, tail), None, 0) for p in pushes]
    steps.append(Step(b"%s, seq = %d%s" % (name, number, tail), f, 1 + len(pushes)))
    for s in steps:
        place = stack(); must(engine.engine_do(ctypes.byref(s)))
    is_from(k, place, module)
    return number, place


def in_engine(steps, thread=b"pt_autograd_0"):
    must(engine.engine_run(context, thread, (Step * len(steps))(*steps), len(steps)))


def backward(name, number, frames, module=None):
    """The steps of a node, whose kernel is from there; and of what the engine does around it."""
    (k, f), (k2, f2) = kernel(), kernel()
    is_from(k, frames, module)
    is_from(k2, [[NODE, "", 0]])
    return [Step(b"autograd::engine::evaluate_function: %s" % name, f2, 0),
            Step(b"%s, seq = %d, op_id = 7, sizes = [[3, 4], []]" % (name, number), None, 0),
            Step(b"aten::mm, op_id = 8", f, 3)]


class Linear:
    def __init__(self, path):
        self.path = path

    def forward(self):
        done = [operation(b"aten::t", self.path, pushes=[b"aten::linear"])]
        done.append(operation(b"aten::addmm", self.path, tail=b", op_id = 12, sizes = [[1]]"))
        return [(number, place, self.path) for number, place in done]


class Model:
    def __init__(self):
        self.layers = [Linear("Model/Linear[%d]" % i) for i in range(3)]

    def forward(self):
        done = []
        for layer in self.layers:
            done += layer.forward()
        number, place = operation(b"aten::relu", "Model")
        return done + [(number, place, "Model")]


def train():
    model = Model()
    for _ in range(20):
        done, steps = model.forward(), []
        for number, place, module in reversed(done):
            steps += backward(b"AddmmBackward0", number, node(place), module)
        in_engine(steps)


def names_of_threads():
    for thread, frame in [(b"pt_autograd_1", NODE), (b"XLA_gpu_12", "[thread XLA_gpu]"), (b"tf_7pool#9/3", "[thread tf_#pool]"),
                          (b"12", "[thread]"), (b"plain", "[thread plain]")]:
        k, f = kernel()
        is_from(k, [[frame, "", 0]])
        in_engine([Step(None, f, 0)], thread)


def unknown():
    """Numbers that no operation had, or that were forgotten since, are of no line."""
    in_engine(backward(b"MulBackward0", 30000, [[NODE, "", 0]]))
    number, _ = operation(b"aten::old")
    operation(b"aten::new", number=number + 32768)
    in_engine(backward(b"OldBackward0", number, [[NODE, "", 0]]))
    in_engine(backward(b"HugeBackward0", 1 << 60, [[NODE, "", 0]]))
    number, place = operation(b"aten::add_")
    in_engine(backward(b"torch::autograd::CopySlices", number, node(place)))


def two_threads():
    """Numbers are a thread's own: one that two have used may be of either."""
    def other():
        must(cuda.cuCtxSetCurrent(context))
        numbers.next = mine - 1
        operation(b"aten::mul")

    mine, place = operation(b"aten::mul")
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    in_engine(backward(b"MulBackward0", mine, [[NODE, "", 0]]))
    operation(b"aten::mul", number=mine)
    in_engine(backward(b"MulBackward0", mine, [[NODE, "", 0]]))


def misnamed():
    """A forward operation that is called as a node would be."""
    number, _ = operation(b"aten::before")
    k, f = kernel()
    s = Step(b"MyBackward, seq = %d" % number, f, 1)
    place = stack(); must(engine.engine_do(ctypes.byref(s)))
    truth.append([k, None])
    in_engine(backward(b"MyBackwardBackward", number, [[NODE, "", 0]]))


def twice():
    """The graph of a backward pass has numbers of its thread's own."""
    number, place = operation(b"aten::pow")
    (k, f), (k2, f2) = kernel(), kernel()
    is_from(k, node(place))
    is_from(k2, node(place))
    in_engine([Step(b"PowBackward0, seq = %d" % number, f, 0), Step(b"aten::mul, seq = 31000", f2, 2)])
    in_engine(backward(b"MulBackward0", 31000, node(node(place))))
    other, _ = operation(b"aten::mul")
    in_engine([Step(b"PowBackward0, seq = %d" % number, None, 0), Step(b"aten::mul, seq = %d" % other, None, 2)])
    in_engine(backward(b"MulBackward0", other, [[NODE, "", 0]]))


@ctypes.CFUNCTYPE(ctypes.c_int)
def hook():
    """Python that a node runs: its lines are known."""
    k, f = kernel()
    s = Step(None, f, 0)
    place = stack(); must(engine.engine_do(ctypes.byref(s)))
    is_from(k, place)
    return 0


def in_main():
    """Nodes of the CPU run in the thread that called backward()."""
    number, place = operation(b"aten::copy_")
    first = Step(b"torch::autograd::CopyBackwards, seq = %d" % number, None, 0)
    k, f = kernel()
    last = Step(None, f, 1)
    must(engine.engine_do(ctypes.byref(first))); hook(); must(engine.engine_do(ctypes.byref(last)))
    is_from(k, node(place))


context = start()
if not sys.argv[4:]:
    train()
    unknown()
    two_threads()
    misnamed()
    twice()
    in_main()
names_of_threads()
must(cuda.cuCtxSynchronize())
json.dump(launches, open(sys.argv[3], "w"))
with open(sys.argv[2], "w") as out:
    for line in truth:
        if line[1]:
            out.write(json.dumps(line) + "\n")
