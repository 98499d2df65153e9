/* test_exec: client programs that die, babble, are silent or write a line without end. Each leaves one clear line, and
 * no call hangs. The programs are shell scripts, which need no server. */
#include <signal.h>

#include "drivers/registry.h"
#include "drivers/tests/fake_session.h"

/* Plays a session with a program; the line that it ends with is in fake->err. */
static void play(struct fake_session *fake, const char *script, const char *timeout) {
    char program[512], answer[64];
    struct lb_err err = {0};
    snprintf(program, sizeof program, "program=%s", script);
    snprintf(answer, sizeof answer, "answer_timeout=%s", timeout);
    const char *const sets[] = {program, answer, NULL};
    fake->lock = registry_lock("exec");
    fake->key = "k";
    fake->sets = sets;
    fake->lease_ns = 10 * LB_S_NS;
    snprintf(fake->url, sizeof fake->url, "redis://:secret@127.0.0.1:1");
    alarm(60);
    assert_int_equal(loop_once("exec", fake_talk, fake, &err), 0);
    alarm(0);
    fake->sets = NULL;
    if (strchr(fake->err.text, '\n')) fail_msg("more than a line: %s", fake->err.text);
}

TEST(a_program_that_answers_is_a_lock) {
    struct fake_session fake = {.release = true, .renew = true};
    play(
        &fake,
        "sh -c 'read a; echo \"{\\\"outcome\\\":\\\"ok\\\",\\\"version\\\":\\\"1\\\"}\"; while read b; do "
        "echo \"{\\\"outcome\\\":\\\"ok\\\",\\\"token\\\":7,\\\"lease\\\":9000}\"; done'",
        "30s");
    if (fake.connected != 0) fail_msg("%s", fake.err.text);
    assert_int_equal(fake.acquired, LB_OK);
    assert_int_equal(fake.renewed, LB_OK);
    assert_int_equal(fake.released, LB_OK);
    assert_int_equal(fake.grant.token, 7);
    assert_int_equal(fake.commands, 3);
    assert_true(fake.grant.lease_end_ns >= fake.renew_sent_ns + 9000 * LB_MS_NS);
}

static const struct {
    const char *name, *script, *says;
} hostile[] = {
    {"no such program", "/no/such/program", "exec: the client program ended with exit status 127"},
    {"dies", "sh -c 'exit 3'", "exec: the client program ended with exit status 3"},
    {"dies with last words", "sh -c 'echo first >&2; echo boom >&2; exit 4'",
     "exec: the client program ended with exit status 4: boom"},
    {"is killed", "sh -c 'kill -9 $$'", "exec: the client program was ended by signal 9"},
    {"babbles", "sh -c 'echo hello; sleep 60'",
     "exec: the client program wrote a line that is no JSON object: 'hello'"},
    {"writes a line without end", "sh -c 'yes aaaaaaa | tr -d \"\\n\"'",
     "exec: the client program wrote a line without end: "
     "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"},
    {"repeats what it is told", "cat", "exec: the client program answered with the outcome ''"},
    {"is silent", "sleep 60", "exec: the client program did not answer within the deadline"},
};

TEST(a_hostile_program_leaves_one_line) {
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct fake_session fake = {.refused = true, .connect_ns = 30 * LB_S_NS};
        if (strcmp(hostile[i].name, "is silent") == 0) fake.connect_ns = 300 * LB_MS_NS;
        play(&fake, hostile[i].script, "30s");
        /* a program of another kind, which no further try mends */
        if (strstr(hostile[i].says, "outcome") && fake.err.code != LB_EXIT_USAGE)
            fail_msg("%s: code %d", hostile[i].name, fake.err.code);
        if (fake.connected == 0) fail_msg("%s: it opened", hostile[i].name);
        if (!strstr(fake.err.text, hostile[i].says))
            fail_msg("%s: '%s'", hostile[i].name, fake.err.text);
        if (strstr(fake.err.text, "secret")) fail_msg("the password is shown");
    }
}

static const struct {
    const char *name, *script, *says;
} later[] = {
    {"dies when it is asked", "echo boom >&2; exit 3",
     "exec: the client program ended with exit status 3: boom"},
    {"is silent when it is asked", "sleep 60",
     "exec: the client program did not answer within the deadline"},
    {"babbles when it is asked", "echo [1,2]; sleep 60",
     "exec: the client program wrote a line that is no JSON object: '[1,2]'"},
    {"has an outcome that is none", "echo \"{\\\"outcome\\\":\\\"maybe\\\"}\"; sleep 60",
     "exec: the client program answered with the outcome 'maybe', which this request cannot have"},
    {"answers busy to a wait", "echo \"{\\\"outcome\\\":\\\"busy\\\"}\"; sleep 60",
     "exec: the client program answered with the outcome 'busy', which this request cannot have"},
    {"has a token in quotes",
     "echo \"{\\\"outcome\\\":\\\"ok\\\",\\\"token\\\":\\\"7\\\"}\"; sleep 60",
     "exec: the client program answered with a token that is no positive whole number"},
    {"has a token of zero", "echo \"{\\\"outcome\\\":\\\"ok\\\",\\\"token\\\":0}\"; sleep 60",
     "exec: the client program answered with a token that is no positive whole number"},
    {"has a lease in quotes",
     "echo \"{\\\"outcome\\\":\\\"ok\\\",\\\"lease\\\":\\\"9000\\\"}\"; sleep 60",
     "exec: the client program answered with a lease that is no number of milliseconds"},
    {"does not know",
     "echo \"{\\\"outcome\\\":\\\"unknown\\\",\\\"why\\\":\\\"gone\\\"}\"; sleep 60",
     "exec: the client program says: gone"},
};

TEST(a_program_that_fails_later_leaves_the_outcome_in_doubt) {
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        char script[512];
        struct fake_session fake = {.wait_ns = 200 * LB_MS_NS, .connect_ns = 30 * LB_S_NS};
        bool silent = strstr(later[i].name, "silent") != NULL;
        snprintf(script, sizeof script,
                 "sh -c 'read a; echo \"{\\\"outcome\\\":\\\"ok\\\"}\"; read b; %s'",
                 later[i].script);
        play(&fake, script, silent ? "300ms" : "30s");
        if (fake.connected != 0) fail_msg("%s: no session: %s", later[i].name, fake.err.text);
        if (fake.acquired != LB_UNKNOWN)
            fail_msg("%s: %s", later[i].name, lb_outcome_name(fake.acquired));
        if (strcmp(fake.err.text, later[i].says) != 0)
            fail_msg("%s: '%s'", later[i].name, fake.err.text);
    }
}

/* A renewal that tells no lease would leave a grant without end, and whoever came in after its true end would be
 * called a second holder. */
TEST(a_renewal_tells_its_lease) {
    static const char *const without[] = {"", ",\\\"lease\\\":null"};
    for (int i = 0; i < 2; i++) {
        struct fake_session fake = {.release = true, .renew = true};
        char program[300];
        snprintf(program, sizeof program,
                 "sh -c 'read a; echo \"{\\\"outcome\\\":\\\"ok\\\"}\"; read b; echo "
                 "\"{\\\"outcome\\\":\\\"ok\\\",\\\"lease\\\":9000}\"; while read c; do "
                 "echo \"{\\\"outcome\\\":\\\"ok\\\"%s}\"; done'",
                 without[i]);
        play(&fake, program, "30s");
        assert_int_equal(fake.acquired, LB_OK);
        assert_int_equal(fake.renewed, LB_UNKNOWN);
        assert_true(fake.grant.lease_end_ns != LB_NEVER);
    }
}

/* A lease below 0 was over before the request. */
TEST(a_lease_that_is_over_is_not_without_end) {
    struct fake_session fake = {.release = true};
    play(&fake,
         "sh -c 'read a; echo \"{\\\"outcome\\\":\\\"ok\\\"}\"; while read b; do echo "
         "\"{\\\"outcome\\\":\\\"ok\\\",\\\"lease\\\":-5}\"; done'",
         "30s");
    assert_int_equal(fake.acquired, LB_OK);
    assert_true(fake.grant.lease_end_ns <= lb_now());
}

TEST(without_a_program_it_says_which_option) {
    struct fake_session fake = {.refused = true};
    play(&fake, "", "1s");
    assert_int_not_equal(fake.connected, 0);
    assert_int_equal(fake.err.code, LB_EXIT_USAGE);
    assert_string_equal(fake.err.text, "exec: name the client program: --set exec.program=COMMAND");
}

TEST_MAIN(NULL, NULL)
