/* fuzz_url: a server's URL from anywhere: it is refused, or has hosts and ports that can be; what is shown of it
 * fits, and shows no password. */
#include "bench/tests/fuzz/fuzz.h"
#include "drivers/url.h"

/* Whether the secret stands in the text as it is, and nowhere else in it: then what is shown may not have it. */
static bool stands_once(const char *text, const char *secret) {
    const char *first = strstr(text, secret);
    return first && !strstr(first + 1, secret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[2048], shown[2100];
    struct url url;
    struct lb_err err = {0};
    if (size >= sizeof text) size = sizeof text - 1;
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    url_public(text, shown, sizeof shown);
    if (strlen(shown) >= sizeof shown) abort();
    url_check(text, &err);
    err = (struct lb_err){0};
    if (url_parse(&url, text, 6379, &err) != 0) {
        if (!err.text[0]) abort();
        return 0;
    }
    if (url.host_count < 1 || url.host_count > URL_HOSTS_MAX) abort();
    for (int i = 0; i < url.host_count; i++) {
        if (url.port[i] < 1 || url.port[i] > 65535 || !url.host[i][0]) abort();
    }
    if (!strchr(text, '%') && strlen(url.password) > 3 && stands_once(text, url.password) &&
        strstr(shown, url.password))
        abort();
    return 0;
}
