/* SPDX-License-Identifier: MIT */
#include "browser.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 60000 /* for one answer, on a machine that is busy */

struct ct_browser {
    pid_t pid;
    int to, from; /* pipes: messages end with a NUL */
    char home[64];
    char *text; /* what has come and is not read */
    size_t len, size;
    int number; /* of the last command */
    char session[64];
    char url[PATH_MAX + 16];
    bool loaded;
    char complaints[16384];
    char result[65536];
};

const char *ct_browser_program(void)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome"};
    static char found[PATH_MAX];
    const char *given = getenv("CHROMIUM"), *path = getenv("PATH");
    if (given)
        return access(given, X_OK) ? NULL : given;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (const char *at = path; at && *at;) {
            int len = (int)strcspn(at, ":");
            snprintf(found, sizeof(found), "%.*s/%s", len, at, names[i]);
            if (!access(found, X_OK))
                return found;
            at += len + (at[len] == ':');
        }
    }
    return NULL;
}

/* Descriptors 3 and 4 are where the browser reads and writes. */
static void become_browser(const struct ct_browser *b, int in, int out, int width, int height)
{
    char home[128], size[64];
    int quiet = open("/dev/null", O_RDWR);
    snprintf(home, sizeof(home), "--user-data-dir=%s", b->home);
    snprintf(size, sizeof(size), "--window-size=%d,%d", width, height);
    dup2(fcntl(in, F_DUPFD, 10), 3);
    dup2(fcntl(out, F_DUPFD, 10), 4);
    dup2(quiet, 0);
    dup2(quiet, 1);
    dup2(quiet, 2);
    setpgid(0, 0);
    setenv("HOME", b->home, 1);
    unsetenv("LD_PRELOAD");
    execl(ct_browser_program(), "chromium", "--headless", "--no-sandbox", "--disable-gpu",
          "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
          "--disable-background-networking", "--disable-component-update", "--disable-sync",
          "--force-device-scale-factor=1", "--remote-debugging-pipe", home, size, "about:blank",
          (char *)NULL);
    _exit(127);
}

static void complain(struct ct_browser *b, const char *kind, const char *text)
{
    size_t len = strlen(b->complaints);
    snprintf(b->complaints + len, sizeof(b->complaints) - len, "%s: %s\n", kind, text ? text : "?");
}

static const char *text_at(json_t *object, const char *first, const char *second)
{
    json_t *value = json_object_get(object, first);
    return json_string_value(second ? json_object_get(value, second) : value);
}

static void take_event(struct ct_browser *b, const char *method, json_t *p)
{
    if (!strcmp(method, "Page.loadEventFired"))
        b->loaded = true;
    else if (!strcmp(method, "Runtime.exceptionThrown"))
        complain(b, "exception",
                 text_at(json_object_get(p, "exceptionDetails"), "exception", "description"));
    else if (!strcmp(method, "Runtime.consoleAPICalled"))
        complain(b, "console",
                 text_at(json_array_get(json_object_get(p, "args"), 0), "value", NULL));
    else if (!strcmp(method, "Log.entryAdded"))
        complain(b, "log", text_at(p, "entry", "text"));
    else if (!strcmp(method, "Network.requestWillBeSent") &&
             strcmp(text_at(p, "request", "url"), b->url))
        complain(b, "request", text_at(p, "request", "url"));
}

/* The next message, NULL when none comes; the caller's. */
static json_t *next_message(struct ct_browser *b)
{
    for (;;) {
        char *end = b->len ? memchr(b->text, 0, b->len) : NULL;
        if (end) {
            json_t *message = json_loads(b->text, 0, NULL);
            size_t used = (size_t)(end + 1 - b->text);
            memmove(b->text, end + 1, b->len -= used);
            return message;
        }
        if (b->size - b->len < 65536)
            b->text = realloc(b->text, b->size = 2 * b->size + 131072);
        struct pollfd ready = {.fd = b->from, .events = POLLIN};
        if (poll(&ready, 1, PATIENCE_MS) <= 0)
            return NULL;
        ssize_t got = read(b->from, b->text + b->len, b->size - b->len);
        if (got <= 0)
            return NULL;
        b->len += (size_t)got;
    }
}

static bool send_all(struct ct_browser *b, const char *text)
{
    size_t left = strlen(text) + 1;
    while (left) {
        ssize_t done = write(b->to, text, left);
        if (done <= 0)
            return false;
        text += done;
        left -= (size_t)done;
    }
    return true;
}

json_t *ct_browser_command(struct ct_browser *b, const char *method, json_t *parameters)
{
    json_t *message = json_pack("{s:i, s:s, s:o}", "id", ++b->number, "method", method, "params",
                                parameters ? parameters : json_object());
    if (*b->session)
        json_object_set_new(message, "sessionId", json_string(b->session));
    char *text = json_dumps(message, JSON_COMPACT);
    bool sent = send_all(b, text);
    free(text);
    json_decref(message);
    while (sent && (message = next_message(b))) {
        if (json_integer_value(json_object_get(message, "id")) == b->number) {
            json_t *result = json_incref(json_object_get(message, "result"));
            if (!result)
                complain(b, method, text_at(message, "error", "message"));
            json_decref(message);
            return result;
        }
        const char *event = json_string_value(json_object_get(message, "method"));
        if (event)
            take_event(b, event, json_object_get(message, "params"));
        json_decref(message);
    }
    complain(b, method, "no answer");
    return NULL;
}

static bool did(struct ct_browser *b, const char *method, json_t *parameters)
{
    json_t *result = ct_browser_command(b, method, parameters);
    json_decref(result);
    return result;
}

static bool begin_session(struct ct_browser *b)
{
    json_t *made =
        ct_browser_command(b, "Target.createTarget", json_pack("{s:s}", "url", "about:blank"));
    json_t *target = json_incref(json_object_get(made, "targetId"));
    json_decref(made);
    if (!target)
        return false;
    json_t *got = ct_browser_command(b, "Target.attachToTarget",
                                     json_pack("{s:o, s:b}", "targetId", target, "flatten", 1));
    const char *session = json_string_value(json_object_get(got, "sessionId"));
    if (session)
        snprintf(b->session, sizeof(b->session), "%s", session);
    json_decref(got);
    return *b->session && did(b, "Page.enable", NULL) && did(b, "Runtime.enable", NULL) &&
           did(b, "Log.enable", NULL) && did(b, "Network.enable", NULL);
}

struct ct_browser *ct_browser_start(int width, int height)
{
    int to[2], from[2];
    struct ct_browser *b = calloc(1, sizeof(*b));
    const char *tmp = getenv("TMPDIR");
    snprintf(b->home, sizeof(b->home), "%.40s/cutrace-page-XXXXXX", tmp ? tmp : "/tmp");
    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(b->home) || pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        abort();
    b->pid = fork();
    if (!b->pid)
        become_browser(b, to[0], from[1], width, height);
    close(to[0]);
    close(from[1]);
    b->to = to[1];
    b->from = from[0];
    if (begin_session(b))
        return b;
    fputs(b->complaints, stderr);
    ct_browser_stop(b);
    return NULL;
}

void ct_browser_stop(struct ct_browser *b)
{
    char command[128];
    *b->session = 0;
    did(b, "Browser.close", NULL);
    close(b->to);
    close(b->from);
    kill(-b->pid, SIGKILL);
    waitpid(b->pid, NULL, 0);
    snprintf(command, sizeof(command), "rm -rf '%s'", b->home);
    if (system(command))
        fprintf(stderr, "%s was left\n", b->home);
    free(b->text);
    free(b);
}

bool ct_browser_open(struct ct_browser *b, const char *path)
{
    char real[PATH_MAX];
    if (!realpath(path, real))
        return false;
    snprintf(b->url, sizeof(b->url), "file://%s", real);
    *b->complaints = 0;
    b->loaded = false;
    if (!did(b, "Page.navigate", json_pack("{s:s}", "url", b->url)))
        return false;
    for (int i = 0; i < 600 && !b->loaded; i++) {
        ct_browser_eval(b, "new Promise((r) => setTimeout(r, 20))");
    }
    return b->loaded;
}

const char *ct_browser_eval(struct ct_browser *b, const char *script)
{
    char *text = NULL;
    if (asprintf(&text, "(async () => String(await (%s)).replaceAll('\\u00a0', ' '))()", script) <
        0)
        abort();
    json_t *got =
        ct_browser_command(b, "Runtime.evaluate",
                           json_pack("{s:s, s:b, s:b, s:b}", "expression", text, "awaitPromise", 1,
                                     "returnByValue", 1, "userGesture", 1));
    const char *value = text_at(got, "result", "value");
    const char *wrong =
        text_at(json_object_get(got, "exceptionDetails"), "exception", "description");
    snprintf(b->result, sizeof(b->result), "%s", wrong ? wrong : value ? value : "nothing");
    json_decref(got);
    free(text);
    return b->result;
}

static void mouse(struct ct_browser *b, const char *type, double x, double y)
{
    did(b, "Input.dispatchMouseEvent",
        json_pack("{s:s, s:f, s:f, s:s, s:i}", "type", type, "x", x, "y", y, "button", "left",
                  "clickCount", 1));
}

bool ct_browser_click(struct ct_browser *b, const char *selector)
{
    char script[1024];
    double x, y;
    snprintf(script, sizeof(script),
             "(async () => { const e = document.querySelector(`%s`); if (!e) return 'none';"
             "let before, now; do { before = now;"
             "e.scrollIntoView({ block: 'center', behavior: 'instant' });"
             "const r = e.getBoundingClientRect();"
             "now = `${r.x + r.width / 2} ${r.y + r.height / 2}`;"
             "await new Promise(requestAnimationFrame); } while (now !== before);"
             "return now; })()",
             selector);
    if (sscanf(ct_browser_eval(b, script), "%lf %lf", &x, &y) != 2)
        return false;
    mouse(b, "mouseMoved", x, y);
    mouse(b, "mousePressed", x, y);
    mouse(b, "mouseReleased", x, y);
    return true;
}

void ct_browser_press(struct ct_browser *b, const char *key)
{
    static const struct {
        const char *key, *text;
        int code;
    } known[] = {{"Enter", "\r", 13},    {"Tab", "", 9},        {"Escape", "", 27},
                 {" ", " ", 32},         {"ArrowLeft", "", 37}, {"ArrowUp", "", 38},
                 {"ArrowRight", "", 39}, {"ArrowDown", "", 40}, {"Home", "", 36},
                 {"End", "", 35}};
    const char *text = key;
    int code = *key;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (!strcmp(known[i].key, key)) {
            text = known[i].text;
            code = known[i].code;
        }
    }
    did(b, "Input.dispatchKeyEvent",
        json_pack("{s:s, s:s, s:s, s:i}", "type", *text ? "keyDown" : "rawKeyDown", "key", key,
                  "text", text, "windowsVirtualKeyCode", code));
    did(b, "Input.dispatchKeyEvent",
        json_pack("{s:s, s:s, s:i}", "type", "keyUp", "key", key, "windowsVirtualKeyCode", code));
}

void ct_browser_type(struct ct_browser *b, const char *text)
{
    did(b, "Input.insertText", json_pack("{s:s}", "text", text));
}

const char *ct_browser_complaints(const struct ct_browser *b)
{
    return b->complaints;
}

static int value_of(int c)
{
    const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool save_base64(const char *text, const char *path)
{
    FILE *out = fopen(path, "w");
    uint32_t bits = 0;
    int have = 0;
    if (!out)
        return false;
    for (int value; (value = value_of(*text)) >= 0; text++) {
        bits = bits << 6 | (uint32_t)value;
        have += 6;
        if (have >= 8)
            putc((int)(bits >> (have -= 8) & 255), out);
    }
    return !fclose(out);
}

bool ct_browser_picture(struct ct_browser *b, const char *path, bool whole)
{
    json_t *got = ct_browser_command(
        b, "Page.captureScreenshot",
        json_pack("{s:s, s:b}", "format", "png", "captureBeyondViewport", whole));
    const char *data = json_string_value(json_object_get(got, "data"));
    bool saved = data && save_base64(data, path);
    json_decref(got);
    return saved;
}
