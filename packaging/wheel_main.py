# SPDX-License-Identifier: MIT
"""python -m cutrace [OPTION...] PROGRAM: the launcher, which runs a script by this Python."""
import os
import sys


def run(name, arguments):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    try:
        os.execv(path, [path, *arguments])
    except OSError as error:
        sys.exit("cutrace: %s: %s" % (path, error.strerror))


def main():
    words = sys.argv[1:]
    if words[:1] not in (["ctl"], ["stats"], ["export"], ["profile"]):
        words = ["--python", sys.executable, *words]
    run("cutrace", words)


if __name__ == "__main__":
    main()
