# CT_SANITIZERS: --enable-asan, --enable-ubsan, --enable-tsan, --enable-fuzz; all off by default.
AC_DEFUN([CT_SANITIZERS], [
ct_sanitize=
CT_SANITIZER([asan], [address])
CT_SANITIZER([ubsan], [undefined])
CT_SANITIZER([tsan], [thread])
AC_ARG_ENABLE([fuzz], [AS_HELP_STRING([--enable-fuzz], [build the libFuzzer targets (clang)])],
    [], [enable_fuzz=no])
AS_IF([test "x$enable_fuzz" = xyes], [ct_sanitize="$ct_sanitize,fuzzer-no-link"])
AM_CONDITIONAL([ENABLE_FUZZ], [test "x$enable_fuzz" = xyes])
AS_IF([test "x$enable_asan$enable_tsan" = xyesyes],
    [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])
AS_IF([test -n "$ct_sanitize"],
    [SANITIZE_CFLAGS="-fsanitize=${ct_sanitize#,} -fno-omit-frame-pointer -fno-sanitize-recover=all"])
AS_IF([test "x$enable_fuzz" = xyes], [ct_ignored=$(cd "$srcdir" && pwd)/tests/fuzz/ignore.txt
    SANITIZE_CFLAGS="$SANITIZE_CFLAGS -fsanitize-coverage-ignorelist=$ct_ignored"])
AC_SUBST([SANITIZE_CFLAGS])
AC_SUBST([SANITIZERS], [${ct_sanitize#,}])
AM_CONDITIONAL([SANITIZED], [test -n "$ct_sanitize"])
])

AC_DEFUN([CT_SANITIZER], [
AC_ARG_ENABLE([$1], [AS_HELP_STRING([--enable-$1], [build with -fsanitize=$2])], [],
    [enable_$1=no])
AS_IF([test "x$enable_$1" = xyes], [ct_sanitize="$ct_sanitize,$2"])
])

# CT_WARNINGS: one line a flag; --enable-werror makes them errors.
AC_DEFUN([CT_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat warnings as errors])], [],
    [enable_werror=no])
WARN_CFLAGS=
for ct_flag in \
    -Wall \
    -Wextra \
    -Wshadow \
    -Wpointer-arith \
    -Wwrite-strings \
    -Wstrict-prototypes \
    -Wmissing-prototypes \
    -Wundef \
    -Wvla
do
    CT_CHECK_FLAG([$ct_flag], [WARN_CFLAGS="$WARN_CFLAGS $ct_flag"])
done
AS_IF([test "x$enable_werror" = xyes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
AC_SUBST([WARN_CFLAGS])

# gcc makes calls of memset and strlen out of loops; code that may call nothing says no.
PLAIN_LOOPS_CFLAGS=
CT_CHECK_FLAG([-fno-tree-loop-distribute-patterns],
    [PLAIN_LOOPS_CFLAGS=-fno-tree-loop-distribute-patterns])
AC_SUBST([PLAIN_LOOPS_CFLAGS])
])

AC_DEFUN([CT_CHECK_FLAG], [
AC_MSG_CHECKING([whether $CC accepts $1])
ct_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS $1 -Werror"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM()], [AC_MSG_RESULT([yes])
$2], [AC_MSG_RESULT([no])])
CFLAGS=$ct_saved_CFLAGS
])
