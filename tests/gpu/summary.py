#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads summary.bin, as include/cutrace/format.h describes it.

    summary.py FILE...      prints the rows of each file as tab-separated text
    import summary; summary.read(path)

read() returns a Summary: process, devices, rows, apis, nodes and notes as lists of dicts, with
string offsets already turned into strings. A damaged file raises ValueError.
"""
import struct
import sys
import zlib

MAGIC = b"CUTRACE\n"
MAJOR = 1
HEADER_BYTES = 4096
STRINGS, PROCESS, DEVICES, ROWS, SHAPES, BUCKETS, APIS, STREAMS, NODES, NOTES = range(1, 11)
LINES, FRAMES, STACKS, MODULES, INSIDE, OBJECTS, ADDRESSES = range(24, 31)
KINDS = {1: "kernel", 2: "copy", 3: "set", 4: "graph", 5: "prefetch"}
DIRECTIONS = ["HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"]
LOSSES = ["captured", "sampled", "excluded", "no event", "ring full", "deep queue",
          "programmatic", "unsafe", "event error", "context gone", "unfinished",
          "mixed batch", "no start", "inside", "shared"]
DID_NOT_RUN = {"captured"}
ROOM_FOR_LOSSES = 16

# Per section: struct layout (of this version of the format) and the members' names. A name that
# starts with $ is an offset into the strings.
LAYOUTS = {
    PROCESS: ("IIQQIIIIQQ", "pid parent_pid start_unix_ns duration_ns $command $host flags "
              "driver_version off_operations written"),
    DEVICES: ("II16sQIIIIIIIIIIIIIIII", "ordinal $name uuid memory_bytes sm_count clock_khz "
              "compute_major compute_minor calibration bias_busy_ns gap_busy_ns submit_ns "
              "uncertainty_ns idle_uncertainty_ns copy_floor_ns set_floor_ns "
              "bias_ready_ns bias_copy_ns bias_wait_ns beside_ns"),
    ROWS: ("IIIIQQ%dQQQQdQQQQQQIIIIQIIdQQQIIQdddddd" % ROOM_FOR_LOSSES, "kind detail device $name timed errors "
           + " ".join("lost%d" % i for i in range(ROOM_FOR_LOSSES)) +
           " total_ns min_ns max_ns square_ns2 raw_total_ns raw_min_ns raw_max_ns bytes "
           "timed_bytes overlapped registers static_shared_bytes shape_first shape_count "
           "shape_other bucket_first bucket_count raw_square_ns2 doubt_ns marked legacy_waits "
           "raw_bucket_first raw_bucket_count estimated estimated_ns estimated_square_ns2 "
           "variance_ns2 third_ns3 freedom_ns4 with_others_ns2"),
    SHAPES: ("IIIIIIQQ", "grid_x grid_y grid_z block_x block_y block_z dynamic_shared_bytes count"),
    APIS: ("IIQQQQQQdII", "$name flags calls errors total_ns min_ns max_ns sampled square_ns2 "
           "bucket_first bucket_count"),
    STREAMS: ("QQQIIiIQQQQ", "id operations waits device flags priority special timed first_ns "
              "last_ns busy_ns"),
    NODES: ("IIQQQQQdQQIIQ", "graph_row $name count timed total_ns min_ns max_ns square_ns2 "
            "raw_total_ns doubt_ns kind detail bytes"),
    NOTES: ("IIQ", "kind $text count"),
    LINES: ("IIII", "$file $function line reserved"),
    FRAMES: ("IIII", "parent line module reserved"),
    STACKS: ("IIQQQ", "row frame count timed total_ns"),
    INSIDE: ("IIQQQ", "node frame count timed total_ns"),
    OBJECTS: ("II", "$path $build_id"),
    ADDRESSES: ("IIQ", "line object offset"),
}


class Summary:
    def __init__(self):
        self.process, self.devices, self.rows, self.shapes = [], [], [], []
        self.apis, self.streams, self.nodes, self.notes = [], [], [], []
        self.lines, self.frames, self.stacks, self.inside = [], [], [], []
        self.objects, self.addresses = [], []

    @property
    def finished(self):
        return bool(self.process and self.process[0]["flags"] & 1)


def _commits(data, order):
    """The slots that are intact, newest first."""
    found = []
    for slot in range(2):
        raw = data[16 + 32 * slot:16 + 32 * (slot + 1)]
        sequence, offset, size, payload_crc, crc = struct.unpack(order + "QQQII", raw)
        if sequence and zlib.crc32(raw[:28]) == crc:
            found.append((sequence, offset, size, payload_crc))
    return sorted(found, reverse=True)


def _payload(data, order):
    for _, offset, size, payload_crc in _commits(data, order):
        payload = data[offset:offset + size]
        if len(payload) == size and zlib.crc32(payload) == payload_crc:
            return payload
    raise ValueError("no intact payload")


def _open(path):
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < HEADER_BYTES or data[:8] != MAGIC:
        raise ValueError("not a cutrace profile")
    order = "<" if data[8:12] == b"\x04\x03\x02\x01" else ">"
    if struct.unpack_from(order + "H", data, 12)[0] != MAJOR:
        raise ValueError("another version of the format")
    return data, order


def _sections(payload, order):
    count, entry_bytes = struct.unpack_from(order + "II", payload, 0)
    for i in range(count):
        yield struct.unpack_from(order + "IIQQ", payload, 8 + i * entry_bytes)


def _elements(payload, order, section, strings):
    kind, element_bytes, count, offset = section
    layout, names = LAYOUTS[kind]
    names, size = names.split(), struct.calcsize(order + layout)
    for i in range(count):
        raw = payload[offset + i * element_bytes:offset + (i + 1) * element_bytes]
        values = struct.unpack(order + layout, raw[:size].ljust(size, b"\0"))
        yield {n.lstrip("$"): strings(v) if n[0] == "$" else v for n, v in zip(names, values)}


def _finish_row(row):
    lost = [row.pop("lost%d" % i) for i in range(ROOM_FOR_LOSSES)]
    row["kind"] = KINDS.get(row["kind"], "unknown")
    row["lost"] = {(LOSSES[i] if i < len(LOSSES) else "loss %d" % i): n
                   for i, n in enumerate(lost) if n}
    row["ran"] = row["timed"] + sum(n for reason, n in row["lost"].items()
                                    if reason not in DID_NOT_RUN)
    if row["kind"] == "copy":
        row["name"] = DIRECTIONS[row["detail"]]


def _finish_node(node):
    node["kind"] = KINDS.get(node["kind"] or 1, "unknown")
    if node["kind"] == "copy":
        node["name"] = DIRECTIONS[node["detail"]]
    elif node["kind"] == "set":
        node["name"] = "memset"


def read(path):
    data, order = _open(path)
    payload = _payload(data, order)
    sections = list(_sections(payload, order))
    text = b""
    for kind, _, count, offset in sections:
        if kind == STRINGS:
            text = payload[offset:offset + count]

    def strings(at):
        return text[at:text.index(b"\0", at)].decode("utf-8", "replace")

    summary = Summary()
    lists = {PROCESS: summary.process, DEVICES: summary.devices, ROWS: summary.rows,
             SHAPES: summary.shapes, APIS: summary.apis, STREAMS: summary.streams,
             NODES: summary.nodes, NOTES: summary.notes, LINES: summary.lines,
             FRAMES: summary.frames, STACKS: summary.stacks, INSIDE: summary.inside,
             OBJECTS: summary.objects, ADDRESSES: summary.addresses}
    for section in sections:
        if section[0] in lists:
            lists[section[0]].extend(_elements(payload, order, section, strings))
    for row in summary.rows:
        _finish_row(row)
    for node in summary.nodes:
        _finish_node(node)
    return summary


def main():
    for path in sys.argv[1:]:
        summary = read(path)
        for p in summary.process:
            print("process\t%d\t%s\t%s" % (p["pid"], p["command"],
                                           "finished" if summary.finished else "not finished"))
        for r in summary.rows:
            print("\t".join(str(x) for x in (r["kind"], r["name"], r["ran"], r["timed"],
                                             r["total_ns"], r["min_ns"], r["max_ns"], r["bytes"],
                                             r["lost"] or "")))
        for a in summary.apis:
            print("api\t%s\t%d\t%d" % (a["name"], a["calls"], a["errors"]))
        for n in summary.notes:
            print("note\t%s\t%d" % (n["text"], n["count"]))


if __name__ == "__main__":
    main()
