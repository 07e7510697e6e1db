#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""accuracy-pictures.py: draws doc/accuracy-cases.svg and doc/accuracy-lead.svg.

The points of the second are the medians that tests/data/brackets/figures.py prints.
"""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
INK, FAINT, STAMP, HOST, KERNEL, OTHER, WAIT, FRONT = (
    "#222", "#666", "#c0392b", "#dbe7f6", "#8fc17c", "#cfcfcf", "#fbe7b2", "#e6d5ee")


class Picture:
    def __init__(self, width, height):
        self.size = (width, height)
        self.parts = [f'<rect width="{width}" height="{height}" fill="#fff"/>']

    def box(self, x, y, w, h, fill, label="", dash=False):
        style = ' stroke-dasharray="4 3"' if dash else ""
        self.parts.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{fill}" '
                          f'stroke="#555" stroke-width="0.8"{style}/>')
        if label:
            self.text(x + w / 2, y + h / 2 + 4.5, label, anchor="middle")

    def text(self, x, y, text, anchor="start", fill=INK, size=13, bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{fill}" '
                          f'font-size="{size}"{weight}>{text}</text>')

    def line(self, x1, y1, x2, y2, stroke=INK, width=1.2, dash="", arrow=False):
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        extra += ' marker-end="url(#a)"' if arrow else ""
        self.parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{stroke}" '
                          f'stroke-width="{width}"{extra}/>')

    def stamp(self, x, y, label):
        self.line(x, y - 6, x, y + 34, STAMP, 2.5)
        self.text(x, y - 10, label, anchor="middle", fill=STAMP, size=12)

    def span(self, x1, x2, y, label, below=True):
        self.line(x1, y - 5, x1, y + 5, FAINT)
        self.line(x2, y - 5, x2, y + 5, FAINT)
        self.line(x1, y, x2, y, FAINT)
        self.text((x1 + x2) / 2, y + (16 if below else -6), label, anchor="middle", fill=FAINT,
                  size=12)

    def write(self, name):
        width, height = self.size
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                'font-family="sans-serif">\n'
                '<defs><marker id="a" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
                'markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" fill="#222"/></marker>'
                '</defs>\n')
        with open(f"{HERE}/{name}", "w", encoding="utf-8") as file:
            file.write(head + "\n".join(self.parts) + "\n</svg>\n")


def lanes(p, y, title, lower="GPU"):
    p.text(16, y + 4, title, bold=True, size=14)
    p.text(16, y + 39, "host", fill=FAINT)
    p.text(16, y + 105, lower, fill=FAINT)
    return y + 22, y + 86


def host(p, x, y, launch=110):
    """Three calls; returns when the GPU is told of the start record, the operation, the stop record."""
    p.box(x, y, 62, 26, HOST, "start")
    p.box(x + 62, y, launch, 26, HOST, "launch")
    p.box(x + 62 + launch, y, 62, 26, HOST, "stop")
    return x + 43, x + 62 + launch, x + 105 + launch


def busy(p, y):
    h, g = lanes(p, y, "1  Busy: all was queued before the GPU came to it")
    told = host(p, 70, h, 80)
    p.box(70, g, 400, 28, OTHER, "what was queued before")
    p.box(474, g, 70, 28, FRONT)
    p.box(544, g, 200, 28, KERNEL, "kernel")
    p.box(744, g, 46, 28, FRONT)
    p.stamp(474, g, "start")
    p.stamp(790, g, "stop")
    for at, to in ((told[0], 472), (told[2], 788)):
        p.line(at, h + 26, to, g - 24, FAINT, 0.9, "3 3")
    p.span(474, 790, g + 42, "bracket = kernel + 2.3 us in a short queue, 2.9 us in a long one")


def idle(p, y):
    h, g = lanes(p, y, "2  Idle: the GPU waits for the host")
    told = host(p, 70, h, 250)
    p.stamp(told[0] + 30, g, "start")
    p.box(told[0] + 30, g, told[1] - told[0] + 14, 28, WAIT, "waits")
    x = told[1] + 44
    p.box(x, g, 60, 28, FRONT)
    p.box(x + 60, g, 200, 28, KERNEL, "kernel")
    p.box(x + 260, g, 46, 28, FRONT)
    p.stamp(x + 306, g, "stop")
    p.line(told[0], h + 26, told[0] + 28, g - 22, arrow=True)
    p.line(told[1], h + 26, x - 2, g - 2, arrow=True)
    p.line(told[2], h + 26, told[2] + 30, g - 2, arrow=True)
    p.span(told[0] + 30, x, g + 42, "lead")
    p.span(x, x + 306, g + 42, "kernel + 2.9 us - 1.57 us")


def went_idle(p, y):
    h, g = lanes(p, y, "3  Went idle in between: busy at the start record, idle before the launch was there")
    told = host(p, 70, h, 250)
    p.box(70, g, 156, 28, OTHER, "queued before")
    p.stamp(230, g, "start")
    x = told[1] + 44
    p.box(230, g, x - 230, 28, WAIT, "waits")
    p.box(x, g, 60, 28, FRONT)
    p.box(x + 60, g, 200, 28, KERNEL, "kernel")
    p.box(x + 260, g, 46, 28, FRONT)
    p.stamp(x + 306, g, "stop")
    p.line(told[0], h + 26, 226, g - 22, FAINT, 0.9, "3 3")
    p.line(told[1], h + 26, x - 2, g - 2, arrow=True)
    p.span(230, x, g + 42, "lead: only a common clock tells")
    p.span(x, x + 306, g + 42, "kernel + 2.9 us - 1.57 us")


def overlapped(p, y):
    h, g = lanes(p, y, "4  Overlapped: other work inside", "same stream")
    p.box(70, h, 62, 26, HOST, "start A")
    p.box(132, h, 110, 26, HOST, "launch A")
    p.box(330, h, 62, 26, HOST, "stop A")
    p.box(190, h + 26, 62, 26, "#f6dfdb", "start B", dash=True)
    p.box(252, h + 26, 70, 26, "#f6dfdb", "launch B", dash=True)
    p.text(404, h + 17, "two threads, one stream", fill=FAINT, size=12)
    g += 8
    p.stamp(330, g + 18, "start A")
    p.box(330, g + 18, 60, 28, FRONT)
    p.box(390, g + 18, 150, 28, KERNEL, "kernel A")
    p.box(544, g + 18, 150, 28, OTHER, "kernel B")
    p.box(694, g + 18, 46, 28, FRONT)
    p.stamp(740, g + 18, "stop A")
    p.span(330, 740, g + 60, "bracket A is an upper bound, and marked as such")
    y = g + 98
    p.text(16, y + 14, "other stream", fill=FAINT)
    p.text(16, y + 62, "GPU", fill=FAINT)
    p.box(230, y - 4, 620, 24, OTHER, "kernels and records of another stream")
    p.stamp(300, y + 44, "start")
    p.box(300, y + 44, 60, 28, FRONT)
    p.box(360, y + 44, 200, 28, KERNEL, "kernel")
    p.box(560, y + 44, 46, 28, FRONT)
    p.box(606, y + 44, 70, 28, WAIT, "held up")
    p.stamp(676, y + 44, "stop")
    p.span(300, 676, y + 86, "kernel + 2.9 us, and 0.9 us with one other stream, up to 2 us with four")


def cases():
    p = Picture(900, 850)
    busy(p, 26)
    idle(p, 190)
    went_idle(p, 354)
    overlapped(p, 518)
    y = 832
    for x, fill, label in ((70, OTHER, "other work"), (190, FRONT, "front end"), (300, WAIT, "waiting"),
                           (400, KERNEL, "the operation")):
        p.box(x, y - 12, 16, 14, fill)
        p.text(x + 22, y, label, size=12, fill=FAINT)
    p.line(540, y - 13, 540, y + 3, STAMP, 2.5)
    p.text(550, y, "time stamp", size=12, fill=FAINT)
    p.write("accuracy-cases.svg")


# lead, then 5, 50 and 95 % of what is in the bracket beyond duration and bias: figures.py, "lead";
# without what has fewer than 20 brackets
POINTS = """
-4000 -832 -657 79
-3500 -832 -753 -128
-3000 -849 -800 -51
-2500 -849 -753 -288
-2000 -832 -721 -17
-1500 -817 -610 47
-1000 -785 -610 31
-500 -819 -610 -225
0 -817 -595 -113
500 -705 -416 31
1500 -369 -65 275
2000 107 467 863
2500 623 965 1432
3000 1099 1398 1811
3500 1581 1882 2259
4000 2042 2363 2735
4500 2533 2869 3263
5000 3023 3349 3731
5500 3525 3854 4249
"""


def lead():
    p = Picture(900, 420)

    def at(ns, excess):
        return 90 + (ns + 4000) * 0.078, 330 - excess * 0.068

    for ns in range(-4000, 6001, 1000):
        x, y = at(ns, 0)
        p.line(x, 40, x, 395, "#e4e4e4", 1)
        p.text(x, 410, f"{ns / 1000:+.0f}", anchor="middle", size=12, fill=FAINT)
    for ns in range(-1000, 4001, 1000):
        x, y = at(-4000, ns)
        p.line(x, y, 870, y, "#bbb" if ns == 0 else "#e4e4e4", 1)
        p.text(x - 8, y + 4, f"{ns / 1000:+.0f}", anchor="end", size=12, fill=FAINT)
    line = [(-4000, -600), (970, -600), (5700, 4130)]
    for a, b in zip(line, line[1:]):
        p.line(*at(*a), *at(*b), "#4a76b8", 2.5)
    p.line(*at(-4000, 0), *at(1570, 0), "#4a76b8", 2.5, "7 5")
    for row in POINTS.split("\n"):
        if row:
            ns, low, middle, high = map(int, row.split())
            x, y = at(ns, middle)
            p.line(x, at(ns, low)[1], x, at(ns, high)[1], "#8a8a8a", 1.2)
            p.parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{STAMP}"/>')
    p.text(90, 24, "what a bracket has beyond the duration and 2.9 us, in us", size=13)
    p.text(870, 384, "lead, us", anchor="end", size=13)
    p.text(*at(-3900, 160), "long queue", size=12, fill="#35588f")
    p.text(*at(-3900, -960), "short queue", size=12, fill="#35588f")
    p.text(*at(2850, 1620), "the GPU waits: lead - 1.57", anchor="end", size=12, fill="#35588f")
    p.write("accuracy-lead.svg")


if __name__ == "__main__":
    cases()
    lead()
