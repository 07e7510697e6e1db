# SPDX-License-Identifier: MIT
"""modules_compare.py TRUTH MODULES [LEAST]: each module's launches are those that the program counted; so many modules."""
import csv
import json
import sys

wanted = json.load(open(sys.argv[1]))
got = {r["module"]: int(r["launches"]) for r in csv.DictReader(open(sys.argv[2]))}
for path in sorted(set(wanted) | set(got)):
    if wanted.get(path) != got.get(path):
        print("%s: %s launches, and not %s" % (path, got.get(path), wanted.get(path)))
print(len(wanted), "modules")
sys.exit(wanted != got or len(wanted) < (int(sys.argv[3]) if sys.argv[3:] else 100))
