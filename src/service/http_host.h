/* SPDX-License-Identifier: MIT */
/*
 * Whom a request over HTTP is meant for. A web page may have its own name resolved to this machine
 * and ask with that (DNS rebinding): only requests by an address or a name of the machine itself
 * are answered.
 */
#ifndef CT_HTTP_HOST_H
#define CT_HTTP_HOST_H

#include "base/base.h"

/*
 * `request`: its head, with CR LF between lines. True where each Host is an address, localhost or
 * `own`, this machine's name, with or without a port; where there is none, too.
 */
bool ct_http_is_for_us(const char *request, const char *own);

#endif
