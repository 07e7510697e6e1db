# SPDX-License-Identifier: MIT
"""python -m cutrace.report [REPORT] [OPTION...] FILE...: cutrace-report."""
import sys

from cutrace.__main__ import run


def main():
    run("cutrace-report", sys.argv[1:])


if __name__ == "__main__":
    main()
