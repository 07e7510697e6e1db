# SPDX-License-Identifier: MIT
"""perfetto.py TEXT ROWS: whether a trace, as `protoc --decode` prints it, is as Perfetto's schema
has it, and says what the report "trace" says of the same traces, in ROWS, as ndjson.

What the schema says in its comments of packets, tracks, interned data and track events is checked
in the order of the packets: what one refers to came before it."""
import collections
import json
import re
import sys

LINE = re.compile(r'\s*(?:(\w+) \{|(\})|(\w+): (.*))$')


def check(good, what, of=''):
    if not good:
        sys.exit('FAIL: %s: %s %s' % (sys.argv[1], what, of))


def value_of(text):
    """A number, a text or the name of an enumerator."""
    if text.startswith('"'):
        return re.sub(rb'\\([0-7]{3}|.)', lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else
                      {b'n': b'\n', b't': b'\t', b'r': b'\r'}.get(m[1], m[1]),
                      text[1:-1].encode()).decode('utf-8')
    return int(text) if re.fullmatch(r'-?\d+', text) else text


def parse(lines):
    """Messages as dictionaries of lists. A field that the schema lacks has a number for a name."""
    message = collections.defaultdict(list)
    for line in lines:
        name, end, field, text = LINE.match(line.rstrip('\n')).groups()
        if end:
            return message
        check(not (name or field).isdigit(), 'a field that the schema does not have', line)
        message[name or field].append(parse(lines) if name else value_of(text))
    return message


def one(message, field):
    values = message.get(field, [])
    check(len(values) <= 1, 'a field twice: ' + field, message)
    return values[0] if values else None


class Trace:
    """What has been seen so far."""

    def __init__(self):
        self.interned = collections.defaultdict(dict)  # by field, by iid
        self.tracks = {}
        self.owners = set()  # processes and threads that have a track
        self.open = collections.defaultdict(list)  # slices, by track
        self.last = collections.Counter()  # time, by track
        self.slices = []
        self.ranges = 0
        self.flows = collections.defaultdict(list)
        self.cleared = False

    def intern(self, data):
        for field, entries in data.items():
            for entry in entries:
                iid = one(entry, 'iid')
                check(iid, 'an interned entry without a number', entry)
                check(iid not in self.interned[field], 'a number that was given before', entry)
                self.interned[field][iid] = one(entry, 'name') or one(entry, 'str')

    def add_track(self, track):
        uuid, parent = one(track, 'uuid'), one(track, 'parent_uuid')
        check(uuid and uuid not in self.tracks, 'a track twice, or without a number', track)
        check(parent is None or parent in self.tracks, 'a parent that comes later', track)
        check(track.get('name') or track.get('process') or track.get('thread'), 'no name', track)
        for kind in 'process', 'thread':
            owner = one(track, kind)
            if owner:
                owner = one(owner, 'pid'), one(owner, 'tid')
                check(owner not in self.owners, 'a second track of one ' + kind, track)
                self.owners.add(owner)
        self.tracks[uuid] = track

    def find(self, field, iid):
        check(iid in self.interned[field], 'a number that was not given', (field, iid))
        return self.interned[field][iid]

    def begin(self, event, ns, track):
        args = {}
        for a in event['debug_annotations']:
            value = [v for k, v in a.items() if k != 'name_iid']
            check(len(value) == 1 and len(value[0]) == 1, 'an annotation without one value', a)
            name = self.find('debug_annotation_names', one(a, 'name_iid'))
            iid = one(a, 'string_value_iid')
            args[name] = self.find('debug_annotation_string_values', iid) if iid else value[0][0]
        for iid in event['category_iids']:
            category = self.find('event_categories', iid)
        name = self.find('event_names', one(event, 'name_iid'))
        found = {'name': name, 'begin': ns, 'category': category, 'track': track, 'args': args}
        if category == 'range':
            check(all(s['category'] == 'range' for s in self.open[track]), 'two kinds', found)
            self.ranges += 1
        else:
            check(not self.open[track], 'a slice in a slice, of what does not nest', found)
            self.slices.append(found)
        self.open[track].append(found)
        for flow in event['flow_ids']:
            self.flows[flow].append(found)

    def event(self, event, ns):
        track = one(event, 'track_uuid')
        check(track in self.tracks, 'a track that comes later', event)
        check(ns is not None and ns >= self.last[track], 'back in time', event)
        self.last[track] = ns
        if one(event, 'type') == 'TYPE_SLICE_BEGIN':
            self.begin(event, ns, track)
        elif one(event, 'type') == 'TYPE_INSTANT':
            self.find('event_names', one(event, 'name_iid'))
        else:
            check(one(event, 'type') == 'TYPE_SLICE_END', 'an event that is no slice', event)
            check(self.open[track], 'an end without a begin', event)
            self.open[track].pop()['end'] = ns

    def packet(self, packet):
        check(one(packet, 'trusted_packet_sequence_id'), 'a packet without a sequence', packet)
        flags = one(packet, 'sequence_flags') or 0
        self.cleared |= bool(flags & 1)
        uses = 'track_event' in packet or 'interned_data' in packet
        check(not uses or flags, 'interned data that readers are free to forget', packet)
        check(not flags & 2 or self.cleared, 'a state that was not begun', packet)
        if 'interned_data' in packet:
            self.intern(one(packet, 'interned_data'))
        if 'track_descriptor' in packet:
            self.add_track(one(packet, 'track_descriptor'))
        if 'track_event' in packet:
            self.event(one(packet, 'track_event'), one(packet, 'timestamp'))

    def check_flows(self, called):
        """`called`: correlations of the calls that there are. What has none has no arrow."""
        for flow, slices in self.flows.items():
            calls = [s for s in slices if s['category'] == 'api']
            numbers = {s['args']['correlation'] for s in slices}
            check(len(numbers) == 1, 'an arrow between strangers', (flow, numbers))
            check(len(calls) == (numbers <= called), 'an arrow from another call', flow)
            check(not calls or len(slices) > 1, 'an arrow without an end', flow)
            check(all(s['begin'] >= c['begin'] for s in slices for c in calls), 'back in time', flow)


def main():
    trace = Trace()
    for packet in parse(open(sys.argv[1], encoding='utf-8'))['packet']:
        trace.packet(packet)
    rows = [json.loads(line) for line in open(sys.argv[2], encoding='utf-8')]
    check(all(s['category'] == 'range' for t in trace.open.values() for s in t),
          'slices that do not end')
    trace.check_flows({r['correlation'] for r in rows if r['type'] == 'call'})
    # Where two overlap on a line the later one begins when the other has ended.
    said = collections.Counter((s['name'], s['args']['correlation']) for s in trace.slices)
    meant = collections.Counter((r['name'], r['correlation']) for r in rows)
    check(said == meant, 'other slices than rows', (said - meant, meant - said))
    times = {(r['name'], r['correlation'], r['start_ns'] + r['duration_ns']) for r in rows}
    late = [s for s in trace.slices
            if (s['name'], s['args']['correlation'], s['end']) not in times]
    check(all(s['begin'] == s['end'] for s in late), 'an end that no row has', late)
    print('%d slices on %d tracks, %d arrows, %d ranges' % (
        len(rows), len(trace.tracks), len(trace.flows), trace.ranges))


main()
