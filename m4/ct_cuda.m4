# CT_CUDA: where the CUDA toolkit is. Only its headers are needed to build.
# Sets CUDA_CFLAGS, NVCC (may be empty), ct_cuda_include, ct_cuda_version; conditionals HAVE_NVCC, HAVE_NVTX.
AC_DEFUN([CT_CUDA], [
AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda=DIR],
    [the CUDA toolkit (default: of the nvcc on PATH, CUDA_HOME, /usr/local/cuda)])],
    [], [with_cuda=])
AC_PATH_PROG([ct_nvcc_on_path], [nvcc])
AS_IF([test -n "$with_cuda" && test "$with_cuda" != yes], [ct_cuda_dirs=$with_cuda],
    [ct_cuda_dirs="${CUDA_HOME-} /usr/local/cuda"
     AS_IF([test -n "$ct_nvcc_on_path"],
        [ct_cuda_dirs="$(dirname "$(dirname "$(readlink -f "$ct_nvcc_on_path")")") $ct_cuda_dirs"])])
ct_cuda_include=
NVCC=
for ct_dir in $ct_cuda_dirs; do
    AS_IF([test -z "$ct_cuda_include" && test -r "$ct_dir/include/cuda.h"],
        [ct_cuda_include=$ct_dir/include
         AS_IF([test -x "$ct_dir/bin/nvcc"], [NVCC=$ct_dir/bin/nvcc])])
done
AS_IF([test -z "$ct_cuda_include"],
    [AC_MSG_ERROR([cuda.h was not found (looked in: $ct_cuda_dirs). Give --with-cuda=DIR, or install
the headers: packages cuda-cudart-dev-13-0 and cuda-driver-dev-13-0 of NVIDIA's repository])])
CUDA_CFLAGS="-isystem $ct_cuda_include"
AC_MSG_CHECKING([for the version of the CUDA headers])
ct_cuda_version=$($SED -n 's/^#define CUDA_VERSION //p' "$ct_cuda_include/cuda.h")
AC_MSG_RESULT([$ct_cuda_version])
AS_IF([test "0$ct_cuda_version" -lt 13000],
    [AC_MSG_ERROR([$ct_cuda_include/cuda.h is of CUDA $ct_cuda_version: 13.0 or newer is needed to build.
The library built with it serves programs of CUDA 11, 12 and 13])])
AC_SUBST([CUDA_CFLAGS])
AC_SUBST([CUDA_INCLUDE], [$ct_cuda_include])
AC_SUBST([NVCC])
AM_CONDITIONAL([HAVE_NVTX], [test -r "$ct_cuda_include/nvtx3/nvToolsExt.h"])
AM_COND_IF([HAVE_NVTX], [], [AC_MSG_WARN([nvtx3/nvToolsExt.h was not found (package cuda-nvtx-13-0):
the library will know nothing of the ranges that programs mark by NVTX])])
AM_CONDITIONAL([HAVE_NVCC], [test -n "$NVCC"])
])
