/* test_mysql_peer: what the mariadb backend says to a server that asks for the password in clear. */
#include "drivers/registry.h"
#include "drivers/tests/fake_session.h"

#define SECRET "Secret1Word"
#define GREETING                                                                                   \
    "\x4a\0\0\0\x0a"                                                                               \
    "11.4.2\0\1\0\0\0"                                                                             \
    "12345678\0\xff\xf7\x21\2\0\xff\x81\x15\0\0\0\0\0\0\0\0\0\0"                                   \
    "123456789012\0mysql_native_password\0"

#define HEARD "\x0e\0\0\4\xff\x15\4#28000heard"

/* Plays a login in which the server changes to the plugin. Returns what it was sent. */
static char *log_in(struct fake_session *fake, const char *plugin) {
    char ask[80] = {(char)(1 + strlen(plugin) + 1), 0, 0, 2, (char)0xfe};
    memcpy(ask + 5, plugin, strlen(plugin));
    size_t bytes = 5 + strlen(plugin) + 1;
    if (strcmp(plugin, "dialog") == 0) {
        memcpy(ask + bytes, "\4Password: ", 12);
        ask[0] = (char)(ask[0] + 11);
        bytes += 11;
    }
    *fake = (struct fake_session){.lock = registry_lock("mysql-getlock"),
                                  .account = "me:" SECRET "@",
                                  .refused = true,
                                  .connect_ns = 5 * LB_S_NS};
    return FAKE_PLAY(fake, "mysql", {.say = GREETING, .say_len = sizeof GREETING - 1},
                     {.say = ask, .say_len = bytes, .await = "me"},
                     {.await = SECRET, .say = HEARD, .say_len = sizeof HEARD - 1});
}

/* Somebody in the server's place would get it, and so would everybody who listens. */
TEST(no_password_goes_out_in_clear) {
    static const char *const plugins[] = {"mysql_clear_password", "dialog"};
    for (int i = 0; i < 2; i++) {
        struct fake_session fake;
        char *seen = log_in(&fake, plugins[i]);
        if (fake.connected == 0) fail_msg("%s: it logged in", plugins[i]);
        if (strstr(fake.err.text, "heard")) fail_msg("%s: the password went out", plugins[i]);
        if (!strstr(fake.err.text, "write mysqls://")) fail_msg("%s", fake.err.text);
        free(seen);
    }
}

TEST_MAIN(NULL, NULL)
