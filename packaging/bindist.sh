#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bindist.sh DIRECTORY NAME SOURCES: from an installation in DIRECTORY/root and the tools in
# DIRECTORY, makes DIRECTORY/NAME, whose parts find each other wherever it lies, and an archive of it.
set -eu
cd "$1"
name=$2 sources=$3 root=$PWD/root
mkdir -p "$name/bin" "$name/lib" "$name/share/licenses"
mv "$root$BINDIR"/* "$name/bin/"
mv cutrace cutrace-report "$name/bin/"
mv "$root$LIBDIR/libcutrace.so" "$name/lib/"
mv "$root$INCLUDEDIR" "$name/include"
mv "$root$DOCDIR" "$name/doc"
mv "$root$MANDIR" "$name/share/man"
rm -rf "$root$DATADIR/doc"
mv "$root$DATADIR"/* "$name/share/"
rm -rf root
$STRIP "$name/bin/cutrace" "$name/bin/cutrace-report"
$STRIP --strip-unneeded "$name/lib/libcutrace.so"

# Terms of what is linked in, where the system knows them.
for part in lz4 perfetto; do
    cp "$sources/third_party/$part/LICENSE" "$name/share/licenses/$part"
done
for library in $LIBRARIES; do
    library=${library#-l}
    package=$(dpkg-query -S "*/lib$library.a" 2>/dev/null | sed 's/[:,].*//; q') || :
    [ -z "$package" ] || [ ! -f "/usr/share/doc/$package/copyright" ] ||
        cp "/usr/share/doc/$package/copyright" "$name/share/licenses/$library"
done
tar -c --owner=0 --group=0 --numeric-owner --sort=name --mtime="@${SOURCE_DATE_EPOCH:-$(date +%s)}" "$name" |
    gzip -9n >"$name.tar.gz"
