# SPDX-License-Identifier: MIT
# Types at a zsh under a terminal of its own, and looks at what it makes of the line.
zmodload zsh/zpty || { echo "SKIP what zsh completes: it has no zpty"; exit 0 }
failed=0

# typed TEXT EXPECTED: what stands on the line after TEXT and a tab
typed() {
    local line='' chunk
    zpty -w shell "$1"$'\t'$'\x18e'
    repeat 300; do
        zpty -r -t shell chunk && line+=$chunk
        [[ $line == *'<'*'>'* ]] && break
        sleep 0.02
    done
    line=${${line##*<}%%>*}
    [[ $line == "$2" ]] && return
    print -r "FAIL: zsh: $1: '$line', not '$2'"
    failed=1
}

zpty shell TERM=dumb zsh -f -i
zpty -w shell "fpath=(${(q)1} \$fpath); PS1= PS2=; unsetopt zle_bracketed_paste 2>/dev/null
autoload -U compinit && compinit -D -u
show() { print -rn -- \"<\$BUFFER>\"; BUFFER= }
zle -N show; bindkey '^Xe' show; bindkey '^I' complete-word; setopt no_beep no_auto_menu no_list_ambiguous
stty -echo; print rea''dy"
ready=
repeat 500; do
    zpty -r -t shell chunk && ready+=$chunk
    [[ $ready == *ready* ]] && break
    sleep 0.02
done
typed 'cutrace --dem' 'cutrace --demangling='
typed 'cutrace --trace=ap' 'cutrace --trace=api '
typed 'cutrace --cs' 'cutrace --csv '
typed 'cutrace -u m' 'cutrace -u ms '
typed 'cutrace --csv --demangling=of' 'cutrace --csv --demangling=off '
typed 'cutrace -o oth' 'cutrace -o other '
typed 'cutrace ls oth' 'cutrace ls other '
typed 'cutrace ctl li' 'cutrace ctl list '
typed 'cutrace-report --dem' 'cutrace-report --demangling='
typed 'cutrace-report kern' 'cutrace-report kernels '
typed 'cutrace-report --format=js' 'cutrace-report --format=json '
typed 'cutrace-report kernels oth' 'cutrace-report kernels other '
zpty -d shell
exit $failed
