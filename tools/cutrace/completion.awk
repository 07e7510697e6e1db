# SPDX-License-Identifier: MIT
#
# Completion of cutrace's command line, made of options.def: awk -v shell=bash|zsh, behind tools/completion.awk

# The next of the cells between commas, without its quotes; `rest` begins behind it.
function cell(    text) {
    if (match(rest, /^"[^"]*"/)) {
        text = substr(rest, 2, RLENGTH - 2)
    } else {
        match(rest, /^[^,)]*/)
        text = substr(rest, 1, RLENGTH)
    }
    rest = substr(rest, RLENGTH + 1)
    sub(/^, */, "", rest)
    gsub(/^'|'$/, "", text)
    return text == "NULL" || text == "0" ? "" : text
}

/^CT_OPTION\((LIBRARY|LAUNCHER|REPORT), / {
    rest = substr($0, 11)
    cell(); cell(); cell()
    name = cell()
    if (name == "") next
    n++
    option[n] = name
    letter[n] = cell()
    argument[n] = cell()
    cell()
    help[n] = cell()
    optional[n] = argument[n] ~ /^\[/
    gsub(/\[|\]/, "", argument[n])
}

/^CT_OPTION\(CTL, / {
    rest = substr($0, 11)
    cell(); cell(); cell()
    m++
    ctl[m] = cell()
    ctl_letter[m] = cell()
    ctl_argument[m] = cell()
    cell()
    ctl_help[m] = cell()
}

/^CT_COMMAND\(/ {
    rest = substr($0, 12)
    commands = commands (commands == "" ? "" : " ") cell()
}

function words(choices) {
    gsub(/\|[A-Z]+/, "", choices) # stands for a value
    gsub(/\|/, " ", choices)
    return choices
}

# ---- bash: a pattern of options for each kind of argument ----

function bash(    i, all, taking) {
    for (i = 1; i <= n; i++) {
        all = all " --" option[i] (letter[i] == "" ? "" : " -" letter[i])
        if (argument[i] != "" && !optional[i]) taking = taking (taking == "" ? "" : "|") forms(i)
    }
    print "# Completion of cutrace for bash, made from its table of options."
    print ""
    print "_cutrace_value()"
    print "{"
    print "    case $1 in"
    for (i = 1; i <= n; i++)
        if (argument[i] ~ /\|/)
            print "    " forms(i) ") mapfile -t COMPREPLY < <(compgen -W '" words(argument[i]) "' -- \"$2\") ;;"
        else if (argument[i] == "FILE")
            print "    " forms(i) ") mapfile -t COMPREPLY < <(compgen -f -- \"$2\")" \
                " && compopt -o filenames 2>/dev/null ;;"
    print "    esac"
    print "}"
    print ""
    ctl_bash()
    print "_cutrace()"
    print "{"
    print "    if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == ctl ]]; then"
    print "        _cutrace_ctl"
    print "        return"
    print "    fi"
    print "    local current=${COMP_WORDS[COMP_CWORD]} i word"
    print "    COMPREPLY=()"
    print "    for ((i = 1; i < COMP_CWORD; i++)); do"
    print "        word=${COMP_WORDS[i]}"
    print "        case $word in"
    print "        --) i=$((i + 1)) && break ;;"
    print "        -*)"
    print "            if [[ ${COMP_WORDS[i + 1]} == = ]]; then"
    print "                i=$((i + 2))"
    print "                if ((i >= COMP_CWORD)); then"
    print "                    _cutrace_value \"$word\" \"${current#=}\""
    print "                    return"
    print "                fi"
    print "            elif [[ $word =~ ^(" taking ")$ ]]; then"
    print "                i=$((i + 1))"
    print "                if ((i == COMP_CWORD)); then"
    print "                    _cutrace_value \"$word\" \"$current\""
    print "                    return"
    print "                fi"
    print "            fi ;;"
    print "        *) break ;;"
    print "        esac"
    print "    done"
    print "    if ((i == COMP_CWORD)) && [[ $current == -* && ${COMP_WORDS[i - 1]} != -- ]]; then"
    print "        mapfile -t COMPREPLY < <(compgen -W '" substr(all, 2) "' -- \"$current\")"
    print "    elif declare -F _command_offset >/dev/null; then"
    print "        _command_offset \"$i\""
    print "    elif ((i == COMP_CWORD)); then"
    print "        mapfile -t COMPREPLY < <(compgen -c -f -- \"$current\")"
    print "    else"
    print "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")"
    print "    fi"
    print "    ((COMP_CWORD > 1)) || [[ -z $current || ctl != \"$current\"* ]] || COMPREPLY+=(ctl)"
    print "}"
    print ""
    print "complete -F _cutrace cutrace"
}

# `cutrace ctl`: processes, commands, and its own options
function ctl_bash(    i, all) {
    print "_cutrace_ctl()"
    print "{"
    print "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}"
    print "    case $before in"
    for (i = 1; i <= m; i++) {
        all = all " --" ctl[i] " -" ctl_letter[i]
        if (ctl_argument[i] ~ /\|/)
            print "    -" ctl_letter[i] "|--" ctl[i] ") mapfile -t COMPREPLY < <(compgen -W '" \
                words(ctl_argument[i]) "' -- \"$current\")"
        else if (ctl_argument[i] != "")
            print "    -" ctl_letter[i] "|--" ctl[i] ") COMPREPLY=()"
        if (ctl_argument[i] != "")
            print "        return ;;"
    }
    print "    esac"
    print "    if [[ $current == -* ]]; then"
    print "        mapfile -t COMPREPLY < <(compgen -W '" substr(all, 2) "' -- \"$current\")"
    print "    elif [[ $before =~ ^[0-9]+$ ]]; then"
    print "        mapfile -t COMPREPLY < <(compgen -W '" commands "' -- \"$current\")"
    print "    else"
    print "        mapfile -t COMPREPLY < <(compgen -W \"list $(cutrace ctl list 2>/dev/null | sed '1d; s/ .*//')\" -- \"$current\")"
    print "    fi"
    print "}"
    print ""
}

# ---- zsh: one specification for each option ----

function action(i) {
    if (argument[i] ~ /\|/) return "(" words(argument[i]) ")"
    return argument[i] == "FILE" ? "_files" : ""
}

function value(i) {
    if (argument[i] == "") return ""
    return (optional[i] ? "::" : ":") quoted(argument[i] ~ /\|/ ? "value" : argument[i]) ":" action(i)
}

function zsh(    i, tail, sign) {
    print "#compdef cutrace"
    print "# Completion of cutrace for zsh, made from its table of options."
    print ""
    print "if [[ ${words[2]} == ctl ]]; then"
    print "    shift words"
    print "    ((CURRENT--))"
    print "    _arguments -s -S \\"
    for (i = 1; i <= m; i++) {
        argument[0] = ctl_argument[i]
        sign = argument[0] == "" ? "" : "="
        print "        '(-" ctl_letter[i] " --" ctl[i] ")'{-" ctl_letter[i] (sign == "" ? "" : "+") ",--" \
            ctl[i] sign "}'[" quoted(ctl_help[i]) "]" value(0) "' \\"
    }
    print "        ':process:{compadd list ${${(f)\"$(cutrace ctl list 2>/dev/null)\"}[2,-1]%% *}}' ':command:(" commands ")'"
    print "    return"
    print "fi"
    print "_arguments -s -S \\"
    for (i = 1; i <= n; i++) {
        tail = "'[" quoted(help[i]) "]" value(i) "'"
        sign = argument[i] == "" ? "" : optional[i] ? "=-" : "="
        if (letter[i] != "")
            print "    '(-" letter[i] " --" option[i] ")'{-" letter[i] (sign == "" ? "" : "+") ",--" \
                option[i] sign "}" tail " \\"
        else
            print "    '--" option[i] sign substr(tail, 2) " \\"
    }
    print "    '(-):program: _command_names -e' \\"
    print "    '*::argument: _normal'"
}
