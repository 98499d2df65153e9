/* test_redis_sentinel: finding the primary by the answers of sentinels, with fake peers for both:
 * answers that real ones give only in the moments of a failover. */
#include "drivers/tests/fake_session.h"

#include "drivers/registry.h"

#define PEERS 4

/* Servers, each with its script. The scripts may name the others' ports: nobody comes before they
 * are whole. */
struct scene {
    struct peer_step steps[PEERS][6];
    struct fake_peer *peer[PEERS];
    int port[PEERS];
    char text[PEERS][120];
    char *seen[PEERS];
};

static void scene_start(struct scene *scene) {
    memset(scene, 0, sizeof *scene);
    for (int i = 0; i < PEERS; i++) {
        scene->peer[i] = fake_peer_start(scene->steps[i], 6);
        scene->port[i] = fake_peer_port(scene->peer[i]);
        /* Steps that a test does not set wait for ever, so the server is silent. */
        for (int s = 0; s < 6; s++) scene->steps[i][s].await = "never";
    }
}

/* A sentinel that names a primary, by its peer's number. */
static void sentinel_names(struct scene *scene, int sentinel, int primary) {
    char port[12];
    int len = snprintf(port, sizeof port, "%d", scene->port[primary]);
    snprintf(scene->text[sentinel], sizeof scene->text[sentinel],
             "*2\r\n$9\r\n127.0.0.1\r\n$%d\r\n%s\r\n", len, port);
    scene->steps[sentinel][0] = (struct peer_step){.await = "PING", .say = "+PONG\r\n"};
    scene->steps[sentinel][1] = (struct peer_step){
        .await = "get-master-addr-by-name\r\n$8\r\nmymaster", .say = scene->text[sentinel]};
}

static void server_is(struct scene *scene, int server, const char *role, const char *to_set) {
    scene->steps[server][0] = (struct peer_step){.await = "PING", .say = "+PONG\r\n"};
    scene->steps[server][1] = (struct peer_step){.await = "ROLE", .say = role};
    scene->steps[server][2] = (struct peer_step){.await = "NX", .say = to_set};
    scene->steps[server][3] = (struct peer_step){.await = "EVALSHA", .say = ":1\r\n"};
}

#define PRIMARY "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"
#define REPLICA "*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:6379\r\n$9\r\nconnected\r\n:3129659\r\n"

/* Through the sentinels 0 and 1. */
static struct fake_session scene_play_lock(struct scene *scene, const char *name,
                                           const char *lock) {
    struct fake_session fake = {
        .lock = registry_lock(lock), .key = "k", .lease_ns = 10 * LB_S_NS, .release = true};
    struct lb_err err = {0};
    snprintf(fake.url, sizeof fake.url, "redis+sentinel://127.0.0.1:%d,127.0.0.1:%d%s",
             scene->port[0], scene->port[1], name);
    assert_int_equal(loop_once("fake", fake_talk, &fake, &err), 0);
    for (int i = 0; i < PEERS; i++) scene->seen[i] = fake_peer_stop(scene->peer[i]);
    return fake;
}

static struct fake_session scene_play(struct scene *scene, const char *name) {
    return scene_play_lock(scene, name, "redis-setnx");
}

static void scene_done(struct scene *scene) {
    for (int i = 0; i < PEERS; i++) free(scene->seen[i]);
}

TEST(test_the_first_that_answers) {
    struct scene scene;
    scene_start(&scene);
    sentinel_names(&scene, 0, 2);
    server_is(&scene, 2, PRIMARY, "+OK\r\n");
    struct fake_session fake = scene_play(&scene, "/mymaster");
    assert_int_equal(fake.connected, 0);
    assert_int_equal(fake.acquired, LB_OK);
    assert_int_equal(fake.released, LB_OK);
    assert_string_equal(scene.seen[1], ""); /* one sentinel is enough */
    scene_done(&scene);
}

TEST(test_a_database) {
    struct scene scene;
    scene_start(&scene);
    sentinel_names(&scene, 0, 2);
    scene.steps[2][0] = (struct peer_step){.await = "SELECT\r\n$1\r\n3\r\n", .say = "+OK\r\n"};
    scene.steps[2][1] = (struct peer_step){.await = "PING", .say = "+PONG\r\n"};
    scene.steps[2][2] = (struct peer_step){.await = "ROLE", .say = PRIMARY};
    scene.steps[2][3] = (struct peer_step){.await = "NX", .say = "$-1\r\n"};
    struct fake_session fake = scene_play(&scene, "/mymaster/3");
    assert_int_equal(fake.acquired, LB_BUSY);
    assert_null(strstr(scene.seen[0], "SELECT")); /* a sentinel has no databases */
    scene_done(&scene);
}

/* A sentinel that has not heard of the failover yet: the next one has. */
TEST(test_who_is_no_primary) {
    struct scene scene;
    scene_start(&scene);
    sentinel_names(&scene, 0, 2);
    sentinel_names(&scene, 1, 3);
    server_is(&scene, 2, REPLICA, "-READONLY You can't write against a read only replica.\r\n");
    server_is(&scene, 3, PRIMARY, "+OK\r\n");
    struct fake_session fake = scene_play(&scene, "/mymaster");
    assert_int_equal(fake.connected, 0);
    assert_int_equal(fake.acquired, LB_OK);
    assert_null(strstr(scene.seen[2], "NX"));
    scene_done(&scene);
}

TEST(test_a_silent_sentinel) {
    struct scene scene;
    scene_start(&scene);
    scene.steps[0][0] = (struct peer_step){.await = "PING", .then = PEER_CLOSES};
    sentinel_names(&scene, 1, 2);
    server_is(&scene, 2, PRIMARY, "+OK\r\n");
    struct fake_session fake = scene_play(&scene, "/mymaster");
    assert_int_equal(fake.connected, 0);
    assert_int_equal(fake.acquired, LB_OK);
    scene_done(&scene);
}

TEST(test_an_unknown_name) {
    struct scene scene;
    scene_start(&scene);
    sentinel_names(&scene, 0, 2);
    scene.steps[0][1].say = "*-1\r\n";
    struct fake_session fake = scene_play(&scene, "/mymaster");
    assert_true(fake.connected != 0);
    assert_int_equal(fake.err.code, LB_EXIT_USAGE);
    assert_string_equal(fake.err.text, "redis: the sentinels watch no 'mymaster'");
    scene_done(&scene);
}

TEST(test_a_name_must_be_there) {
    struct scene scene;
    scene_start(&scene);
    struct fake_session fake = scene_play(&scene, "");
    assert_true(fake.connected != 0);
    assert_int_equal(fake.err.code, LB_EXIT_USAGE);
    scene_done(&scene);
}

/* Several names: a session with the primary of each group, and each is asked for with its name. Locks of one server are
 * on the first of them. */
TEST(test_several_groups) {
    struct scene scene;
    scene_start(&scene);
    sentinel_names(&scene, 0, 2);
    server_is(&scene, 2, PRIMARY, "+OK\r\n");
    scene.steps[0][1].await = "get-master-addr-by-name\r\n$3\r\none\r\n";
    scene.steps[1][0] = (struct peer_step){.await = "PING", .say = "+PONG\r\n"};
    scene.steps[1][1] = (struct peer_step){.await = "two\r\n", .then = PEER_CLOSES};
    /* The first sentinel answers once, and nobody names a primary of the second group: it is down, which is no reason
     * to refuse a session. */
    struct fake_session fake = scene_play(&scene, "/one,two");
    assert_int_equal(fake.connected, 0);
    assert_int_equal(fake.acquired, LB_OK);
    assert_int_equal(fake.released, LB_OK);
    assert_non_null(strstr(scene.seen[1], "get-master-addr-by-name\r\n$3\r\ntwo\r\n"));
    scene_done(&scene);
}

/* A group whose primary no sentinel knows counts among the groups of which a majority is needed. */
TEST(test_an_unknown_group_counts) {
    struct scene scene;
    scene_start(&scene);
    sentinel_names(&scene, 1, 2);
    server_is(&scene, 2, PRIMARY, "+OK\r\n");
    scene.steps[0][0] = (struct peer_step){.await = "PING", .then = PEER_CLOSES};
    scene.steps[1][1].await = "get-master-addr-by-name\r\n$3\r\none\r\n";
    struct fake_session fake = scene_play_lock(&scene, "/one,two,three", "unsafe-redisson-redlock");
    assert_true(fake.connected != 0);
    assert_string_equal(fake.err.text,
                        "redis: only 1 of 3 servers can be reached; a majority is 2");
    scene_done(&scene);
}

TEST(test_names_of_groups_must_be_there) {
    static const char *const names[] = {
        "/one,,three", "/one,two,", "/,one", "/a,b,c,d,e,f,g,h",
        "/a-name-that-is-longer-than-sixty-three-bytes-is-nobodys-name-for-a-group"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct scene scene;
        scene_start(&scene);
        struct fake_session fake = scene_play(&scene, names[i]);
        assert_true(fake.connected != 0);
        assert_int_equal(fake.err.code, LB_EXIT_USAGE);
        scene_done(&scene);
    }
}

/* A server that is no longer the primary refuses the command: nothing was done, and the session must be opened again,
 * also with groups. Otherwise it would ask a replica from then on. */
TEST(test_a_primary_no_more) {
    static const char *const names[] = {"/mymaster", "/mymaster,two"};
    for (int i = 0; i < 2; i++) {
        struct scene scene;
        scene_start(&scene);
        sentinel_names(&scene, 0, 2);
        server_is(&scene, 2, PRIMARY, "-READONLY You can't write against a read only replica.\r\n");
        struct fake_session fake = scene_play(&scene, names[i]);
        assert_int_equal(fake.connected, 0);
        assert_int_equal(fake.acquired, LB_BROKEN);
        assert_non_null(strstr(fake.err.text, "READONLY"));
        scene_done(&scene);
    }
}

/* Redis up to 6.2 reports an error of a command within a script as an error of the script. */
#define SCRIPT_FAILED                                                                              \
    "-ERR Error running script (call to f_0123456789abcdef0123456789abcdef01234567): @user_script:7: "

static struct fake_session play_script(struct scene *scene, const char *to_script) {
    scene_start(scene);
    sentinel_names(scene, 0, 2);
    server_is(scene, 2, PRIMARY, "");
    scene->steps[2][2] =
        (struct peer_step){.await = "INFO", .say = "$20\r\nconnected_slaves:0\r\n\r\n"};
    scene->steps[2][3].say = to_script;
    return scene_play_lock(scene, "/mymaster", "redis-reentrant");
}

TEST(test_a_primary_no_more_for_a_script) {
    struct scene scene;
    struct fake_session fake = play_script(
        &scene, SCRIPT_FAILED "-READONLY You can't write against a read only replica.\r\n");
    assert_int_equal(fake.connected, 0);
    assert_int_equal(fake.acquired, LB_BROKEN);
    assert_non_null(strstr(fake.err.text, "READONLY"));
    scene_done(&scene);
}

TEST(test_another_error_of_a_script) {
    struct scene scene;
    struct fake_session fake =
        play_script(&scene, SCRIPT_FAILED "attempt to index a nil value\r\n");
    assert_int_equal(fake.connected, 0);
    assert_int_equal(fake.acquired, LB_REFUSED);
    scene_done(&scene);
}

TEST_MAIN(NULL, NULL)
