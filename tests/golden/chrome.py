# SPDX-License-Identifier: MIT
"""chrome.py DOCUMENT ROWS: whether a document is Trace Event JSON and says what the report "trace"
says of the same traces, in ROWS, as ndjson.

The rules are those of the document "Trace Event Format": which members the events of a phase need,
what binds an arrow to its slices, which values there are for displayTimeUnit."""
import collections
import json
import sys

NEEDED = {
    'X': {'name': str, 'cat': str, 'ts': float, 'dur': float, 'pid': int, 'tid': int, 'args': dict},
    's': {'name': str, 'cat': str, 'ts': float, 'pid': int, 'tid': int, 'id': int},
    'f': {'name': str, 'cat': str, 'ts': float, 'pid': int, 'tid': int, 'id': int, 'bp': str},
    'i': {'name': str, 'cat': str, 'ts': float, 'pid': int, 'tid': int, 's': str},
    'M': {'name': str, 'pid': int, 'args': dict},
}
METADATA = {'process_name': 'name', 'thread_name': 'name', 'process_sort_index': 'sort_index',
            'thread_sort_index': 'sort_index', 'cutrace': None}


def check(good, what, event=''):
    if not good:
        sys.exit('FAIL: %s: %s %s' % (sys.argv[1], what, event))


def once(pairs):
    keys = [key for key, value in pairs]
    check(len(keys) == len(set(keys)), 'a member twice', keys)
    return dict(pairs)


def check_members(event):
    needed = NEEDED.get(event['ph'])
    check(needed, 'a phase that is not used here', event)
    for key, kind in needed.items():
        value = event.get(key)
        good = isinstance(value, (int, float)) if kind is float else isinstance(value, kind)
        check(good and not isinstance(value, bool), 'no %s, or of the wrong type' % key, event)
        check(kind not in (int, float) or value >= 0, key + ' is negative', event)


def name_lines(events):
    """The processes and threads that have a name."""
    named = set()
    for event in events:
        if event['ph'] != 'M':
            continue
        check(event['name'] in METADATA, 'metadata that nobody knows', event)
        member = METADATA[event['name']]
        check(not member or member in event['args'], 'metadata without their value', event)
        if event['name'] in ('process_name', 'thread_name'):
            line = event['pid'], event['tid'] if event['name'] == 'thread_name' else None
            check(line not in named, 'a line that was named before', event)
            named.add(line)
    return named


def microseconds(event, key):
    """Whole nanoseconds: decimals are not cut by the reader's doubles."""
    return round(event[key] * 1000)


def bind(event, slices):
    """The slices that an end of an arrow is in."""
    at = microseconds(event, 'ts')
    return [s for s in slices[event['pid'], event['tid']]
            if microseconds(s, 'ts') <= at <= microseconds(s, 'ts') + microseconds(s, 'dur')]


def check_arrows(events, slices):
    ends = collections.defaultdict(list)
    for event in events:
        if event['ph'] in 'sf':
            ends[event['cat'], event['name'], event['id']].append(event)
            check(bind(event, slices), 'an arrow that ends beside all slices', event)
            check(event['ph'] == 's' or event['bp'] == 'e', 'an arrow to the next slice', event)
    for arrow, both in ends.items():
        starts = [e for e in both if e['ph'] == 's']
        check(len(starts) <= 1, 'an arrow with several starts', arrow)
        check(not starts or len(both) > 1, 'an arrow without an end', arrow)
        for end in both:
            check(not starts or end['ts'] >= starts[0]['ts'], 'an arrow back in time', end)
    return sum(len(both) - 1 for both in ends.values() if any(e['ph'] == 's' for e in both))


def is_range(event):
    return event['ph'] in 'Xi' and event['cat'] == 'user_annotation'


def check_nesting(line):
    """Slices of a line, (start, -duration), are beside each other or inside: speedscope drops those that cross."""
    ends = []
    for start, minus in sorted(line):
        while ends and ends[-1] <= start:
            ends.pop()
        check(not ends or start - minus <= ends[-1], 'slices that cross', (start, minus))
        ends.append(start - minus)


def check_devices(document, slices):
    """PyTorch's readers look up a slice's device by its number."""
    devices = {d['id']: d for d in document['deviceProperties']}
    check(all(isinstance(d['name'], str) for d in devices.values()), 'a device without a name', devices)
    for event in (e for line in slices.values() for e in line if 'device' in e['args']):
        check(event['args']['device'] in devices, 'a device that is not described', event)


def check_ranges(events, named):
    """Ranges of a line are beside each other or inside; such a line has nothing else."""
    lines = collections.defaultdict(list)
    for event in filter(is_range, events):
        line = event['pid'], event['tid']
        check(line in named, 'ranges on a line without a name', event)
        check(event['ph'] != 'i' or event['s'] in 'gpt', 'a mark of no known scope', event)
        if event['ph'] == 'X':
            start = microseconds(event, 'ts')
            lines[line].append((start, -microseconds(event, 'dur')))
    for line in lines.values():
        check_nesting(line)
    for event in events:
        check(event['ph'] != 'X' or is_range(event) or (event['pid'], event['tid']) not in lines,
              'two kinds', event)
    return sum(map(len, lines.values()))


CATEGORIES = {'kernel': 'kernel', 'copy': 'gpu_memcpy', 'set': 'gpu_memset', 'graph': 'cuda_graph',
              'prefetch': 'gpu_memcpy'}


def check_clients(event):
    """What readers of PyTorch's traces ask of an event (HolisticTraceAnalysis among them)."""
    args = event['args']
    if event['cat'] in ('cuda_runtime', 'cuda_driver'):
        check('stream' not in args, 'a call on a stream', event)
        return
    check(event['cat'] in CATEGORIES.values(), 'a category that PyTorch does not have', event)
    for key in ('correlation', 'device', 'stream'):
        check(isinstance(args.get(key), int), 'no ' + key, event)
    check(event['cat'] != 'gpu_memcpy' or 'bytes' in args, 'a copy without bytes', event)


def name_of(row):
    """The report's names of copies and sets are nvprof's, those here PyTorch's."""
    way = ' (%s -> %s)' % (row.get('source'), row.get('target'))
    if row['type'] == 'set':
        return 'Memset' + (' (%s)' % row['source'] if row['source'] else '')
    if row['type'] == 'copy':
        return 'Memcpy' + row['name'][len('[CUDA memcpy'):-1] + (way if 'None' not in way else '')
    return row['name']


def main():
    document = json.load(open(sys.argv[1], encoding='utf-8'), object_pairs_hook=once)
    rows = [json.loads(line) for line in open(sys.argv[2], encoding='utf-8')]
    check(document.get('displayTimeUnit') in ('ms', 'ns'), 'displayTimeUnit')
    events = document['traceEvents']
    for event in events:
        check_members(event)
    named = name_lines(events)
    slices = collections.defaultdict(list)
    for event in events:
        if event['ph'] == 'X' and not is_range(event):
            check_clients(event)
            slices[event['pid'], event['tid']].append(event)
            check((event['pid'], None) in named, 'a process without a name', event)
            check((event['pid'], event['tid']) in named, 'a thread without a name', event)
    for line in slices.values():
        check_nesting([(microseconds(e, 'ts'), -microseconds(e, 'dur')) for e in line])
        gpu = sorted((microseconds(e, 'ts'), microseconds(e, 'dur')) for e in line if 'stream' in e['args'])
        check(all(a + d <= b for (a, d), (b, _) in zip(gpu, gpu[1:])), 'operations of a line that overlap', gpu)
    check_devices(document, slices)
    said = collections.Counter((e['name'], microseconds(e, 'ts'), microseconds(e, 'dur'),
                                e['args']['correlation']) for e in events
                               if e['ph'] == 'X' and not is_range(e))
    meant = collections.Counter((name_of(r), r['start_ns'], r['duration_ns'], r['correlation'])
                                for r in rows)
    check(said == meant, 'other slices than rows', (said - meant, meant - said))
    print('%d slices on %d lines, %d arrows, %d ranges' % (
        len(rows), len(slices), check_arrows(events, slices), check_ranges(events, named)))


main()
