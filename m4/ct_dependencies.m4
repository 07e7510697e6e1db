# CT_OPTIONAL(format, variable, pkg-config module, Debian package, Fedora package): a library that
# one format of cutrace-report needs. Without --without-format it has to be there.
AC_DEFUN([CT_OPTIONAL], [
AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [build cutrace-report without --format $1])],
    [ct_with_$1=$withval], [ct_with_$1=yes])
AS_IF([test "x$ct_with_$1" != xno], [
    PKG_CHECK_MODULES([$2], [$3], [],
        [AC_MSG_ERROR([$3 was not found: install $4 (Debian, Ubuntu) or $5 (Fedora), or
configure --without-$1])])
    AC_DEFINE(m4_toupper([CT_WITH_$1]), [1], [Whether --format $1 is built.])
], [
    AC_DEFINE(m4_toupper([CT_WITH_$1]), [0])
])
])

# CT_DEPENDENCIES: libraries beside the toolkit, each named with the package that has it.
AC_DEFUN([CT_DEPENDENCIES], [
AC_SEARCH_LIBS([dlsym], [dl], [], [AC_MSG_ERROR([dlsym was not found: the C library is incomplete])])
AC_SEARCH_LIBS([pthread_create], [pthread], [],
    [AC_MSG_ERROR([pthread_create was not found: the C library is incomplete])])

AC_CHECK_HEADER([libiberty/demangle.h], [IBERTY_CFLAGS=],
    [AC_MSG_ERROR([libiberty/demangle.h was not found: install libiberty-dev (Debian, Ubuntu) or
binutils-devel (Fedora)])])
AC_CHECK_LIB([iberty], [cplus_demangle_v3], [IBERTY_LIBS=-liberty],
    [AC_MSG_ERROR([libiberty was not found: install libiberty-dev (Debian, Ubuntu) or
binutils-devel (Fedora)])])
AC_SUBST([IBERTY_CFLAGS])
AC_SUBST([IBERTY_LIBS])

PKG_CHECK_MODULES([JANSSON], [jansson >= 2.10], [],
    [AC_MSG_ERROR([jansson was not found: install libjansson-dev (Debian, Ubuntu) or jansson-devel (Fedora)])])

PKG_CHECK_MODULES([ZLIB], [zlib], [],
    [AC_MSG_ERROR([zlib was not found: install zlib1g-dev (Debian, Ubuntu) or zlib-devel (Fedora)])])
CT_OPTIONAL([sqlite], [SQLITE], [sqlite3 >= 3.8], [libsqlite3-dev], [sqlite-devel])
CT_OPTIONAL([perfetto], [PROTOBUF_C], [libprotobuf-c >= 1.3], [libprotobuf-c-dev], [protobuf-c-devel])
AC_ARG_VAR([PROTOC_C], [compiler of protobuf-c])
AS_IF([test "x$ct_with_perfetto" != xno], [
    AC_CHECK_PROGS([PROTOC_C], [protoc-c])
    AS_IF([test -z "$PROTOC_C"],
        [AC_MSG_ERROR([protoc-c was not found: install protobuf-c-compiler (Debian, Ubuntu),
protobuf-c-compiler (Fedora), or configure --without-perfetto])])
])
AM_CONDITIONAL([HAVE_SQLITE], [test "x$ct_with_sqlite" != xno])
AM_CONDITIONAL([HAVE_PROTOBUF], [test "x$ct_with_perfetto" != xno])

AC_ARG_WITH([ncurses], [AS_HELP_STRING([--without-ncurses], [build cutrace ctl top for pipes only])],
    [ct_with_ncurses=$withval], [ct_with_ncurses=yes])
AS_IF([test "x$ct_with_ncurses" != xno], [
    PKG_CHECK_MODULES([NCURSES], [ncursesw], [],
        [AC_MSG_ERROR([ncursesw was not found: install libncurses-dev (Debian, Ubuntu) or ncurses-devel
(Fedora), or configure --without-ncurses])])
    AC_DEFINE([CT_WITH_NCURSES], [1], [Whether cutrace ctl top has a screen of its own.])
], [
    AC_DEFINE([CT_WITH_NCURSES], [0])
])
AM_CONDITIONAL([HAVE_NCURSES], [test "x$ct_with_ncurses" != xno])

# Opened at run time: its headers are enough, and the tools run where it is missing.
AC_ARG_WITH([libdw], [AS_HELP_STRING([--without-libdw], [build cutrace-report without lines of native code])],
    [ct_with_libdw=$withval], [ct_with_libdw=yes])
AS_IF([test "x$ct_with_libdw" != xno],
    [PKG_CHECK_MODULES([LIBDW], [libdw], [], [ct_with_libdw=no
     AC_MSG_WARN([libdw was not found (libdw-dev on Debian and Ubuntu, elfutils-devel on Fedora):
cutrace-report will show functions of native code without lines])])])
AS_IF([test "x$ct_with_libdw" != xno], [AC_DEFINE([CT_WITH_LIBDW], [1], [Whether lines of native code are shown.])],
    [AC_DEFINE([CT_WITH_LIBDW], [0])])

PKG_CHECK_MODULES([CHECK], [check >= 0.11], [have_check=yes], [have_check=no])
AM_CONDITIONAL([HAVE_CHECK], [test "x$have_check" = xyes])
])
