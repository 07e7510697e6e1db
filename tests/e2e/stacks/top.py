# SPDX-License-Identifier: MIT
"""top.py CUTRACE: the keys of `cutrace ctl PID top` for a Python program with stacks, and for one without."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

cutrace = sys.argv[1]
steady = os.path.join(os.path.dirname(os.path.abspath(__file__)), "steady.py")


class Screen:
    def __init__(self, pid):
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "vt100"
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 20, 120, 0, 0))
            os.execl(cutrace, "cutrace", "ctl", "-d", "0.1", str(pid), "top")

    def expect(self, pattern):
        """Waits until the terminal has been sent it; a form feed draws all anew, which it is not sent otherwise."""
        end = time.monotonic() + 30
        while not re.search(pattern, re.sub(r"\x1b[\[(][\d;]*.", " ", self.seen)):
            if time.monotonic() > end or not select.select([self.fd], [], [], 30)[0]:
                sys.exit(f"FAIL: {pattern} does not come: {self.seen[-2000:]}")
            self.seen += os.read(self.fd, 65536).decode(errors="replace")
        self.seen = ""

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        self.type("q")
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        return os.waitpid(self.pid, 0)[1]


def program(stacks):
    environment = dict(os.environ, LD_PRELOAD="libcutrace.so", CUTRACE_STACKS=stacks)
    p = subprocess.Popen([sys.executable, steady], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)
    tell(p)
    return p


def tell(p):
    p.stdin.write("\n")
    p.stdin.flush()
    assert p.stdout.readline() == "launched\n"


with_stacks = program("python")
screen = Screen(with_stacks.pid)
screen.expect("steady")
screen.type("l\f")
screen.expect(r"Own +Name")
screen.type("\f")
screen.expect(r"<module> \(.*steady.py:\d+\)")
screen.type("\f")
screen.expect(r"\| +6\.0\d+us +3 +0ns +step \(")  # with all that it called, which it did not launch itself
screen.type("l\f")
screen.expect(r"Avg +Min +Max +Name")
assert screen.end() == 0
without = program("off")
screen = Screen(without.pid)
screen.expect("steady")
screen.type("l\f")
screen.expect("No stacks are in the profile")
assert screen.end() == 0
for p in with_stacks, without:
    p.stdin.close()
    assert p.wait() == 0
