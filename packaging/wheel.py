#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wheel.py DIRECTORY VERSION MACHINE: a wheel of what `make bindist` made in DIRECTORY.

The parts lie in the package as in the archive, so that they find each other. A wheel is a zip file with
three files about itself (PEP 427): nothing but Python is needed, and no network.
"""
import base64
import hashlib
import os
import sys
import zipfile

here = os.path.dirname(os.path.abspath(__file__))
tree, version, machine = sys.argv[1:]
python = os.path.join(tree, "share", "cutrace", "python", "cutrace.py")
tag = "py3-none-manylinux_2_28_%s" % machine  # as old a C library as the tools need
about = "cutrace-%s.dist-info/" % version
metadata = """Metadata-Version: 2.1
Name: cutrace
Version: %s
Summary: A CUDA profiler that needs nothing but LD_PRELOAD
License: MIT
Requires-Python: >=3.6
Description-Content-Type: text/markdown

""" % version
wheel = """Wheel-Version: 1.0
Generator: cutrace
Root-Is-Purelib: false
Tag: %s
""" % tag
scripts = """[console_scripts]
cutrace = cutrace.__main__:main
cutrace-report = cutrace.report:main
"""


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


parts = {
    "cutrace/__init__.py": read(python),
    "cutrace/__main__.py": read(here, "wheel_main.py"),
    "cutrace/report.py": read(here, "wheel_report.py"),
    "cutrace/bin/cutrace": read(tree, "bin", "cutrace"),
    "cutrace/bin/cutrace-report": read(tree, "bin", "cutrace-report"),
    "cutrace/lib/libcutrace.so": read(tree, "lib", "libcutrace.so"),
    about + "METADATA": metadata.encode() + read(tree, "doc", "README.md"),
    about + "WHEEL": wheel.encode(),
    about + "entry_points.txt": scripts.encode(),
    about + "licenses/LICENSE": read(tree, "doc", "LICENSE"),
}
licenses = os.path.join(tree, "share", "licenses")
for name in sorted(os.listdir(licenses)):
    parts[about + "licenses/" + name] = read(licenses, name)

rows = []
for name, content in parts.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    rows.append("%s,sha256=%s,%d\n" % (name, digest, len(content)))
parts[about + "RECORD"] = "".join(rows + [about + "RECORD,,\n"]).encode()

path = "cutrace-%s-%s.whl" % (version, tag)
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
    for name, content in parts.items():
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if name.startswith("cutrace/bin/") else 0o100644) << 16
        out.writestr(entry, content)
print(path)
