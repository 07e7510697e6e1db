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

PKG_CHECK_MODULES([CHECK], [check >= 0.11], [have_check=yes], [have_check=no])
AM_CONDITIONAL([HAVE_CHECK], [test "x$have_check" = xyes])
])
