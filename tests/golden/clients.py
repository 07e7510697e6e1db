# SPDX-License-Identifier: MIT
"""clients.py TRACE...: asks TRACE.sqlite, TRACE.chrome and TRACE.REPORT.csv what clients ask, in words of our own."""
import csv
import json
import sqlite3
import sys

KERNELS = 'CUPTI_ACTIVITY_KIND_KERNEL'
CALLS = 'CUPTI_ACTIVITY_KIND_RUNTIME'

# (who asks, what, whether there have to be rows of the trace "ranges")
QUERIES = [
    ('TensorRT-LLM', 'SELECT k.start, k.end, s.value FROM %s k JOIN StringIds s ON k.demangledName = s.id'
     ' ORDER BY k.start' % KERNELS, True),
    ('TensorRT-LLM', 'SELECT n.start, n.end, COALESCE(n.text, s.value) FROM NVTX_EVENTS n LEFT JOIN StringIds s'
     ' ON n.textId = s.id WHERE n.eventType IN (59, 60) AND n.end IS NOT NULL', True),
    ('TensorRT-LLM', 'SELECT r.globalTid, r.start, k.start, k.end FROM %s r JOIN %s k'
     ' ON r.correlationId = k.correlationId' % (CALLS, KERNELS), True),
    ('pipit', 'SELECT n.start, n.end, name.value, thread.value, (n.globalTid >> 24) & 0xffffff, n.globalTid & 0xffffff'
     ' FROM NVTX_EVENTS n JOIN ThreadNames t ON n.globalTid = t.globalTid JOIN StringIds name ON n.textId = name.id'
     ' JOIN StringIds thread ON t.nameId = thread.id', True),
    ('pipit', 'SELECT r.start, r.end, s.value, r.correlationId, (r.globalTid >> 24) & 0xffffff FROM %s r'
     ' JOIN StringIds s ON r.nameId = s.id JOIN ThreadNames t ON r.globalTid = t.globalTid' % CALLS, True),
    ('pipit', 'SELECT start, end, bytes, copyKind, deviceId, streamId FROM CUPTI_ACTIVITY_KIND_MEMCPY', True),
    ('pipit', 'SELECT start, end, bytes, value, deviceId, streamId FROM CUPTI_ACTIVITY_KIND_MEMSET', False),
    ('nsys-ai', 'SELECT id, name, busLocation, smCount, totalMemory, clockRate, memoryBandwidth, computeMajor'
     ' FROM TARGET_INFO_GPU', True),
    ('nsys-ai', 'SELECT d.cudaId, g.name FROM TARGET_INFO_CUDA_DEVICE d JOIN TARGET_INFO_GPU g ON d.gpuId = g.id', True),
    ('nsys-ai', 'SELECT deviceId, streamId, COUNT(*), SUM(end - start), MIN(start), MAX(end) FROM %s'
     ' GROUP BY deviceId, streamId' % KERNELS, True),
    ('nsys-ai', 'SELECT s.value, m.value, k.gridX, k.blockX, k.registersPerThread, k.staticSharedMemory'
     ' + k.dynamicSharedMemory FROM %s k JOIN StringIds s ON k.shortName = s.id JOIN StringIds m'
     ' ON k.mangledName = m.id' % KERNELS, True),
    ('nsys-ai', 'SELECT e.label, SUM(c.bytes), SUM(c.end - c.start) FROM CUPTI_ACTIVITY_KIND_MEMCPY c'
     ' JOIN ENUM_CUDA_MEMCPY_OPER e ON c.copyKind = e.id GROUP BY c.copyKind', True),
    ('nsys-ai', 'SELECT s.value, COUNT(*) FROM %s r JOIN StringIds s ON r.nameId = s.id'
     " WHERE s.value LIKE '%%Synchronize%%' GROUP BY s.value" % CALLS, False),
    ('nsys-ai', 'SELECT n.text, COUNT(k.start), SUM(k.end - k.start) FROM NVTX_EVENTS n JOIN %s r'
     ' ON n.globalTid = r.globalTid AND r.start BETWEEN n.start AND n.end JOIN %s k'
     ' ON k.correlationId = r.correlationId GROUP BY n.text' % (CALLS, KERNELS), True),
    ('JAX-Toolbox', "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'", True),
    ('JAX-Toolbox', 'SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME', True),
    ('JAX-Toolbox', 'SELECT t.globalTid, s.value FROM ThreadNames t JOIN StringIds s ON t.nameId = s.id', True),
    ('PrettyNCU', 'SELECT duration, startTime, stopTime FROM ANALYSIS_DETAILS', True),
    ('PrettyNCU', 'SELECT name, pid FROM PROCESSES', True),
    ('PrettyNCU', 'SELECT name, value FROM META_DATA_CAPTURE', True),
]

CSV = {
    'nvtx_gpu_proj_trace': ['Name', 'Projected Start (ns)', 'Projected Duration (ns)', 'Orig Start (ns)',
                            'Orig Duration (ns)', 'PID', 'TID', 'NumGPUOps', 'Lvl', 'NumChild', 'RangeId',
                            'ParentId', 'RangeStack'],
    'nvtx_pushpop_trace': ['Start (ns)', 'End (ns)', 'Duration (ns)', 'DurChild (ns)', 'DurNonChild (ns)', 'Name',
                           'PID', 'TID', 'Lvl', 'NumChild', 'RangeId', 'ParentId', 'RangeStack', 'NameTree'],
    'nvtx_gpu_proj_sum': ['Range', 'Style', 'Total Proj Time (ns)', 'Total Range Time (ns)', 'Range Instances',
                          'Proj Avg (ns)', 'Total GPU Ops'],
    'nvtx_pushpop_sum': ['Time (%)', 'Total Time (ns)', 'Instances', 'Range'],
    'cuda_api_trace': ['Start (ns)', 'Duration (ns)', 'Name', 'CorrID', 'Pid', 'Tid'],
    'cuda_kern_exec_trace': ['API Start (ns)', 'Kernel Start (ns)', 'Kernel Dur (ns)', 'Kernel Name'],
    'cuda_gpu_trace': ['Start (ns)', 'Duration (ns)', 'CorrId', 'Strm', 'Name'],
    'cuda_gpu_kern_sum': ['Time (%)', 'Total Time (ns)', 'Instances', 'Name'],
}

bad = False


def check(good, *what):
    global bad
    if not good:
        print('FAIL:', *what)
        bad = True


def ask(trace):
    db = sqlite3.connect(trace + '.sqlite')
    for who, query, needed in QUERIES:
        try:
            rows = db.execute(query).fetchall()
            check(rows or not needed or trace != 'ranges', who, 'finds nothing:', query)
        except sqlite3.Error as error:
            check(False, who, error, query)


def read_csv(trace):
    for report, columns in CSV.items():
        with open('%s.%s.csv' % (trace, report), newline='') as f:
            rows = list(csv.reader(f))
        check(not set(columns) - set(rows[0]), report, 'lacks', set(columns) - set(rows[0]))
        check(all(len(row) == len(rows[0]) for row in rows), report, 'has rows that are none')
        check(len(rows) > 1 or trace != 'ranges', report, 'is empty')


def nested(trace):
    """A stack is its parent's and the range itself; what is in children is not in the range alone."""
    with open(trace + '.nvtx_pushpop_trace.csv', newline='') as f:
        rows = {row['RangeId']: row for row in csv.DictReader(f)}
    for number, row in rows.items():
        above = rows[row['ParentId']]['RangeStack'] if row['ParentId'] in rows else ''
        check(row['RangeStack'] == '%s:%s' % (above, number), 'a stack', row)
        check(int(row['DurChild (ns)']) + int(row['DurNonChild (ns)']) == int(row['Duration (ns)']), 'durations', row)


def frame(trace):
    """As HolisticTraceAnalysis: complete events become rows, those with a stream are the GPU's; and speedscope, which
    takes complete events alone for spans."""
    with open(trace + '.chrome', encoding='utf-8') as f:
        events = json.load(f)['traceEvents']
    whole = [e for e in events if e.get('ph') == 'X' and e.get('dur') is not None and e.get('cat') not in (None, 'Trace')]
    gpu = [e for e in whole if e['args'].get('stream', -1) >= 0]
    host = {e['args'].get('correlation'): e for e in whole if e['cat'] in ('cuda_runtime', 'cuda_driver')}
    check(gpu, trace, 'has nothing on the GPU')
    for e in gpu:
        launch = host.get(e['args']['correlation'])
        check(not launch or launch['ts'] <= e['ts'] + e['dur'], 'a launch behind its kernel', e)
        check('Memcpy' in e['name'] or e['cat'] != 'gpu_memcpy' or 'prefetch' in e['name'], 'a copy of another name', e)
    if trace == 'ranges':
        check(any(e['cat'] == 'user_annotation' for e in whole), 'ranges are no complete events')
        check(not [e for e in events if e['ph'] in 'BE'], 'halves of ranges')


for name in sys.argv[1:]:
    ask(name)
    read_csv(name)
    nested(name)
    frame(name)
sys.exit(bad)
