#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bundle.sh TEMPLATE DIRECTORY: makes one page of the template and the files that it names, and
# writes it cut where the profile goes: head.html and tail.html. In the template a line
#   @style FILE...    becomes a style element, @script FILE... a script element, of these files,
#   @profile          is where the profile goes;
# {style} and {script} become the checksums that let the browser run these and nothing else.
set -eu
template=$1 to=$2
style=$to/page.style script=$to/page.script
trap 'rm -f "$style" "$script"' EXIT

# In base64, as a content security policy wants it.
checksum()
{
    for byte in $(sha256sum <"$1" | cut -c 1-64 | sed 's/../0x& /g'); do
        printf "\\$(printf %03o "$byte")"
    done | base64
}

# join NAME: the files behind @NAME, which are beside the template
join()
{
    for file in $(sed -n "s/^@$1 //p" "$template"); do
        cat "$(dirname "$template")/$file"
    done
}

join style >"$style"
join script >"$script"
for file in "$style" "$script"; do
    ! grep -qi '</s[ct]' "$file" || { echo "$file would end its element" >&2; exit 1; }
done

sed "s|{style}|'sha256-$(checksum "$style")'|; s|{script}|'sha256-$(checksum "$script")'|" \
    "$template" | while IFS= read -r line; do
    case $line in
    '@style '*) printf '<style>' && cat "$style" && printf '</style>\n' ;;
    '@script '*) printf '<script>' && cat "$script" && printf '</script>\n' ;;
    @profile) exec >"$to/tail.html" ;;
    *) printf '%s\n' "$line" ;;
    esac
done >"$to/head.html"
