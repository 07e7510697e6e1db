# SPDX-License-Identifier: MIT
#
# Completion of cutrace-report's command line, made of options.def, reports.def, formats.def and the
# choices in parse_options.c: awk -v shell=bash|zsh, behind tools/completion.awk

# "name", of CT_X(ID, "name", ...
function name_of(line) {
    match(line, /"[^"]*"/)
    return substr(line, RSTART + 1, RLENGTH - 2)
}

# static const struct ct_option_choice NAME[] = { {"a", ...}, ... };
/^static const struct ct_option_choice / {
    choice = $5
    sub(/\[.*/, "", choice)
}
choice != "" {
    rest = $0
    while (match(rest, /\{"[a-z]+"/)) {
        choices[choice] = choices[choice] (choices[choice] == "" ? "" : " ") substr(rest, RSTART + 2, RLENGTH - 3)
        rest = substr(rest, RSTART + RLENGTH)
    }
    if ($0 ~ /\};$/) choice = ""
}

/^CT_OPTION_ROW\(/ {
    n++
    option[n] = name_of($0)
    rest = $0
    sub(/^[^"]*"[^"]*", */, "", rest)
    letter[n] = rest ~ /^'/ ? substr(rest, 2, 1) : ""
    sub(/^[^,]*, */, "", rest)
    argument[n] = rest ~ /^"/ ? name_of(rest) : ""
    if (match($0, /[a-z]+_choices/)) takes[n] = substr($0, RSTART, RLENGTH)
    waits = 1
}
waits && match($0, /"[^"]*"\)$/) {
    help[n] = substr($0, RSTART + 1, RLENGTH - 3)
    waits = 0
}
/^CT_OPTION_ROW\(.*NULL\)$/ { hidden[n] = 1; waits = 0 }
/^CT_REPORT\(/ { reports = reports (reports == "" ? "" : " ") name_of($0) }
/^CT_FORMAT\(/ { formats = formats (formats == "" ? "" : " ") name_of($0) }

function words(i) {
    return takes[i] != "" ? choices[takes[i]] : option[i] == "format" ? formats : ""
}

function bash(    i, all, taking) {
    for (i = 1; i <= n; i++) {
        if (hidden[i]) continue
        all = all " --" option[i] (letter[i] == "" ? "" : " -" letter[i])
        if (argument[i] != "") taking = taking (taking == "" ? "" : "|") forms(i)
    }
    print "# Completion of cutrace-report for bash, made from its tables."
    print ""
    print "_cutrace_report()"
    print "{"
    print "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}"
    print "    COMPREPLY=()"
    print "    [[ $current == = ]] && current="
    print "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}"
    print "    case $before in"
    for (i = 1; i <= n; i++)
        if (words(i) != "")
            print "    " forms(i) ") mapfile -t COMPREPLY < <(compgen -W '" words(i) "' -- \"$current\") && return ;;"
        else if (argument[i] == "FILE")
            print "    " forms(i) ") mapfile -t COMPREPLY < <(compgen -f -- \"$current\")" \
                " && compopt -o filenames 2>/dev/null; return ;;"
    print "    " taking ") return ;;"
    print "    esac"
    print "    if [[ $current == -* ]]; then"
    print "        mapfile -t COMPREPLY < <(compgen -W '" substr(all, 2) "' -- \"$current\")"
    print "        return"
    print "    fi"
    print "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")"
    print "    compopt -o filenames 2>/dev/null"
    print "    ((COMP_CWORD > 1)) || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W '" reports "' -- \"$current\")"
    print "}"
    print ""
    print "complete -F _cutrace_report cutrace-report"
}

function zsh(    i, value, tail, sign) {
    print "#compdef cutrace-report"
    print "# Completion of cutrace-report for zsh, made from its tables."
    print ""
    print "_arguments -s -S \\"
    for (i = 1; i <= n; i++) {
        if (hidden[i]) continue
        value = argument[i] == "" ? "" : ":" quoted(argument[i]) ":" \
            (words(i) != "" ? "(" words(i) ")" : argument[i] == "FILE" ? "_files" : "")
        tail = "'[" quoted(help[i]) "]" value "'"
        sign = argument[i] == "" ? "" : "="
        if (letter[i] != "")
            print "    '(-" letter[i] " --" option[i] ")'{-" letter[i] (sign == "" ? "" : "+") ",--" option[i] sign "}" tail " \\"
        else
            print "    '--" option[i] sign substr(tail, 2) " \\"
    }
    print "    '1:report or file:{_alternative \"reports:report:(" reports ")\" \"files:file:_files\"}' \\"
    print "    '*:file:_files'"
}
