# SPDX-License-Identifier: MIT
#
# A row OWN_CALL(function, code...) for each driver function that the library calls on its own
# account, with the errors that cuda.h says it can return.
#
#     awk -f own_calls.awk SOURCE... - <PREPROCESSED_CUDA_H

FILENAME != "-" {
    line = $0
    while (match(line, /CT_(REAL\(|ASK\(|ASK_IN\([a-z>-]+, )cu[A-Za-z0-9_]+/)) {
        name = substr(line, RSTART, RLENGTH)
        sub(/.*[( ]/, "", name)
        own[name] = 1
        line = substr(line, RSTART + RLENGTH)
    }
    next
}

/\/\*\*/ { codes = "" }
/\\return/ { is_list = 1 }
/\\(sa|note|param)/ { is_list = 0 }
/\*\// { is_list = 0 }
is_list {
    line = $0
    while (match(line, /CUDA_ERROR_[A-Z_]+/)) {
        codes = codes ", " substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
    }
}
match($0, /cu[A-Z][A-Za-z0-9_]* *\(/) && /^CUresult/ {
    name = substr($0, RSTART, RLENGTH)
    sub(/ *\(/, "", name)
    documented[name] = codes
    sub(/_v[0-9]+$/, "", name)
    if (!(name in documented))
        documented[name] = codes
    codes = ""
}

# A version of a function that has no text of its own has that of another version.
function codes_of(name)
{
    if (!documented[name])
        sub(/_v[0-9]+$/, "", name)
    return documented[name]
}

END {
    for (name in own)
        print "OWN_CALL(" name codes_of(name) ")" | "sort"
    close("sort")
}
