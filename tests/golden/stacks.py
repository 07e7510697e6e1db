# SPDX-License-Identifier: MIT
"""stacks.py ROWS COLLAPSED SPEEDSCOPE SCHEMA [RAW]: whether the documents, of pprof's what `go tool pprof -raw` says of it,
have the stacks of ROWS, the report "stacks" as ndjson: all of them, in its order, with time and launches.

SCHEMA is speedscope's, if not empty; its facts that matter to a reader are checked without it."""
import json
import re
import sys


def check(good, *what):
    if not good:
        sys.exit('FAIL: %s' % ' '.join(map(str, what)))


def read_rows(path):
    """(frames from the outermost to the operation, launches, nanoseconds); a frame is (name, file, line)."""
    stacks, above = [], []
    for line in open(path, encoding='utf-8'):
        row = json.loads(line)
        frame = (row['name'], row['file'] or '', row['line'] or 0)
        above = above[:row['depth'] - 1] + [frame]
        if row['file'] is None:
            stacks.append((above, row['launches'], row['total_ns']))
    return stacks


def collapsed(stacks):
    part = lambda text: text.replace(';', ':')
    return [';'.join([f'{part(n)} ({part(f)}:{l})' for n, f, l in frames[:-1]] + [part(frames[-1][0])]) + f' {ns}'
            for frames, _, ns in stacks]


def check_speedscope(path, schema, stacks):
    document = json.load(open(path, encoding='utf-8'))
    if schema:
        import jsonschema
        jsonschema.validate(document, json.load(open(schema)))
    check(document['$schema'] == 'https://www.speedscope.app/file-format-schema.json', path, 'has another schema')
    check(0 <= document['activeProfileIndex'] < len(document['profiles']), path, 'shows no profile')
    frames = [(f['name'], f.get('file', ''), f.get('line', 0)) for f in document['shared']['frames']]
    check(len(set(frames)) == len(frames), path, 'has a frame twice')
    for profile, unit, value in zip(document['profiles'], ['nanoseconds', 'none'], [2, 1]):
        check((profile['type'], profile['unit']) == ('sampled', unit), path, profile['type'], profile['unit'])
        read = [[frames[i] for i in sample] for sample in profile['samples']]
        check(read == [s[0] for s in stacks], path, 'has other stacks:', read)
        check(profile['weights'] == [s[value] for s in stacks], path, 'has other weights:', profile['weights'])
        check(profile['endValue'] - profile['startValue'] == sum(profile['weights']), path, 'ends elsewhere')
    check(len(document['profiles']) == 2, path, 'has other profiles')


def check_pprof(path, stacks):
    parts = re.split('^(?:Samples|Locations|Mappings|Comment.*)(?::|$)\n?', open(path, encoding='utf-8').read(), flags=re.M)
    samples, locations = parts[-3:-1]
    head, _, samples = samples.partition('\n')
    check(head.split() == ['launches/count', 'gpu_kernel_time/nanoseconds[dflt]'], path, head)
    where = {int(n): text for n, text in re.findall(r'^ *(\d+): 0x0 M=1 (.*) s=\d.*$', locations, flags=re.M)}
    spelled = [(*map(int, s[:2]), [where[int(n)] for n in s[2].split()][::-1])
               for s in re.findall(r'^ *(\d+) +(\d+): ([\d ]+)$', samples, flags=re.M)]
    check(len(re.findall(r'^ +device:\[.* \(0\)\]$', samples, flags=re.M)) == len(stacks), path, 'has no labels')
    check(len(spelled) == len(stacks), path, len(spelled), 'samples, not', len(stacks))
    for (launches, ns, read), stack in zip(spelled, stacks):
        check((launches, ns) == stack[1:], path, 'has', launches, ns, 'for', stack)
        for text, (name, file, line) in zip(read, stack[0], strict=True): # newer ones have a column behind the line
            check(f'{name} {file}:{line}' in (text, text.removesuffix(':0')), path, 'has', text, 'for', stack)


rows, lines, speedscope, schema, *raw = sys.argv[1:]
expected = read_rows(rows)
check(expected or 'none' in open(speedscope).read(), 'there is nothing to check')
check(open(lines, encoding='utf-8').read().splitlines() == collapsed(expected), lines, 'has other stacks')
check_speedscope(speedscope, schema, expected)
for path in raw:
    check_pprof(path, expected)
