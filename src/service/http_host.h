/* SPDX-License-Identifier: MIT */
/*
 * Check of the host that an HTTP request names. A web page may have its own name resolved to this
 * machine and send requests by that name (DNS rebinding): only requests by an address or a name of
 * the machine itself are answered.
 */
#ifndef CT_HTTP_HOST_H
#define CT_HTTP_HOST_H

#include "base/base.h"

/*
 * `request`: a request's head, with CR LF between lines. True where each Host header is an address,
 * localhost or `own`, this machine's name, with or without a port; also where there is no Host.
 */
bool ct_http_is_for_us(const char *request, const char *own);

#endif
