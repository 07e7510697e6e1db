/* SPDX-License-Identifier: MIT */
/* C++ names in the spelling that nvprof prints. */
#ifndef CT_REPORT_EDG_H
#define CT_REPORT_EDG_H

#include "report/host_memory.h"

/*
 * Appends a name as the GNU demangler spells it, respelled the way of EDG's, which is nvprof's:
 *
 *   array<char*, 2ul> const&      array<char*, unsigned long=2> const &
 *   f<4, true, (E)1>()            f<int=4, bool=1, E=1>(void)
 *   A<B<int> >, long long         A<B<int>>, __int64
 *   {lambda(int)#2}::operator()   [lambda(int) (instance 2)]::operator ()
 *   (anonymous namespace)::f      <unnamed>::f
 */
void ct_edg_respell(struct ct_string *out, const char *gnu);

#endif
