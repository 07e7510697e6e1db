#!/bin/bash
# SPDX-License-Identifier: MIT
# Reports in all formats: JSON is what its schema says, CSV is what a reader of CSV takes it for, the
# locale changes nothing, hostile names stay inert. Runs in the build directory.
. "${srcdir:-.}/tests/golden/check.sh"
schema=$srcdir/doc/cutrace-report.schema.json

profiles="basic multi full uncertain none hostile stacks"
make_profiles $profiles
# Those of a summary; what else there is has tests of its own.
reports="summary kernels copies graphs apis shapes losses info streams cuda_api_sum \
    advice ranks lines stacks cuda_gpu_kern_sum cuda_gpu_kern_gb_sum cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum cuda_gpu_sum"

# Nothing that a terminal acts upon, and valid UTF-8.
inert()
{
    if LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80[\x8e\x8f\xaa-\xae]|\xc2[\x80-\x9f]' "$1"; then
        fail "$2: raw control characters"
    fi
    iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || fail "$2: no UTF-8"
}

for name in $reports; do
    for format in table csv tsv json ndjson; do
        for profile in full hostile; do
            "$report" $name --format $format $profile.bin >out 2>err || fail "$name $format: status $?"
            inert out "$name $format $profile"
            inert err "$name $format $profile"
        done
    done
done

# Numbers do not depend on the locale: one with commas, if it can be made.
if localedef -i de_DE -f UTF-8 "$dir/de_DE.UTF-8" >/dev/null 2>&1; then
    for format in table nvprof csv tsv json ndjson; do
        "$report" summary --format $format basic.bin >plain
        LOCPATH=$dir LC_ALL=de_DE.UTF-8 "$report" summary --format $format basic.bin >comma
        cmp -s plain comma || fail "$format depends on the locale"
    done
else
    echo "SKIP another locale: localedef makes none here"
fi

command -v python3 >/dev/null || { echo "SKIP readers of JSON and CSV: python3 is not there"; exit $failed; }
for name in $reports; do
    for profile in $profiles; do
        "$report" $name --format json $profile.bin >"$name.$profile.json"
        "$report" $name --format csv $profile.bin >"$name.$profile.csv" 2>/dev/null
        "$report" $name --format tsv $profile.bin >"$name.$profile.tsv" 2>/dev/null
        "$report" $name --format ndjson $profile.bin >"$name.$profile.ndjson" 2>/dev/null
    done
done
"$report" kernels --per gpu --sort=-calls --top 1 --filter e --format json multi.bin basic.bin >x.json
traces="named hostile"
make_traces
for format in json csv tsv ndjson; do
    "$report" kernels --per stream --format $format named.trace hostile.trace >of-traces.$format 2>/dev/null
done
python3 - "$schema" <<'END' || failed=1
import csv, glob, json, sys

try:
    import jsonschema
    validator = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
except ImportError:
    validator = None
    print('SKIP the schema: python3-jsonschema is not there')

failed = 0

def check(good, what):
    global failed
    if not good:
        print('FAIL:', what)
        failed = 1

def same(cell, value):
    if value is None:
        return cell == ''
    if isinstance(value, str):
        return cell.lstrip("'") == value.replace(';', '\\x3b').lstrip("'")
    return float(cell) == float(value) and ('.' in cell) == isinstance(value, float)

files = sorted(glob.glob('*.json'))
for path in files:
    document = json.load(open(path, encoding='utf-8'))
    if validator:
        errors = list(validator.iter_errors(document))
        check(not errors, f'{path}: {errors[:1]}')
    if path == 'x.json':
        continue
    # The others say the same.
    lines = [json.loads(line) for line in open(path.replace('.json', '.ndjson'), encoding='utf-8')]
    rows = [row for table in document['tables'] for row in table['rows']]
    check(lines == rows, f'{path}: NDJSON differs')
    text = open(path.replace('.json', '.csv'), encoding='utf-8', newline='').read()
    tables = text.split('\n\n')
    check(len(tables) == len(document['tables']), f'{path}: CSV has other tables')
    for part, table in zip(tables, document['tables']):
        read = list(csv.reader(part.splitlines()))
        keys = [column['key'] for column in table['columns']]
        check(read[0] == keys, f'{path}: CSV has other columns')
        check(len(read) == 1 + len(table['rows']), f'{path}: CSV has other rows')
        for cells, row in zip(read[1:], table['rows']):
            check(list(row) == keys and len(cells) == len(keys) and
                  all(map(same, cells, row.values())), f'{path}: {cells} and {row}')
            check(not any(cell[:1] in '=+-@' and cell for cell in cells if not
                          cell.lstrip('-').replace('.', '').isdigit()), f'{path}: a formula in {cells}')
    for line in open(path.replace('.json', '.tsv'), encoding='utf-8'):
        check(line == '\n' or line.count('\t') + 1 in {len(t['columns']) for t in document['tables']},
              f'{path}: TSV: {line!r}')
check(len(files) > 90, 'there is nothing to check')
sys.exit(failed)
END
exit $failed
