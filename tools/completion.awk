# SPDX-License-Identifier: MIT
#
# Common to the completions of both tools, each of which has a bash() and a zsh() for its tables: the choice
# of the shell, and the forms of option i, a `letter` or none and its name in `option`.

END { if (shell == "zsh") zsh(); else bash() }

function forms(i) { return (letter[i] == "" ? "" : "-" letter[i] "|") "--" option[i] }

function quoted(text) {
    gsub(/'/, "'\\''", text)
    gsub(/\[/, "\\[", text)
    gsub(/\]/, "\\]", text)
    gsub(/:/, "\\:", text)
    return text
}
