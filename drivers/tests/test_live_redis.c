/* test_live_redis: how a cluster handles a script whose keys are in two slots. Topologies that change are in
 * stories/redis_live.story.
 * Needs: servers. */
#include "bench/conform/conform_place.h"
#include "bench/conform/conform_trial.h"
#include "bench/tests/unit.h"
#include "drivers/redis/redis_impl.h"
#include "drivers/redis/string.h"
#include "drivers/registry.h"

/* A script that gets its owner's id as a key, as some libraries do, is refused, because the id has a slot of its own.
 * As an argument, or with the key's tag, the same id is accepted. */
static void ids_are_no_keys(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial);
    const struct redis_reply *reply = NULL;
    char id[32], tagged[LB_KEY_MAX + 16];
    int number = 0;
    do snprintf(id, sizeof id, "owner-%d", number++);
    while (redis_slot(id, strlen(id)) == redis_slot(key.name, key.len));
    redis_tagged(tagged, sizeof tagged, "", key.name, key.len, id);
    struct redis_word words[] = {{key.name, key.len}, {id, 0}};
    struct lb_session *session = &client->session;
    MUST_GIVE(client, redis_eval(session, &script_string_release, 1, words, 2, &reply), LB_OK);
    MUST(trial, reply->value.type == REDIS_INTEGER, "as an argument: %s", reply->value.text);
    MUST_GIVE(client, redis_eval(session, &script_string_release, 2, words, 2, &reply), LB_OK);
    MUST(trial, reply->value.type == REDIS_ERROR, "an id was taken as a key");
    MUST(trial, strncmp(reply->value.text, "CROSSSLOT ", 10) == 0, "refused with %s",
         reply->value.text);
    MUST_GIVE(client, redis_refuse(session, reply), LB_REFUSED);
    MUST(trial,
         strstr(session->err.text, "hash to the same slot: in a cluster all keys of a script"),
         "the reason is: %s", session->err.text);
    words[1].text = tagged;
    const struct redis_word all[] = {words[0], words[1], {id, 0}};
    MUST_GIVE(client, redis_eval(session, &script_string_release, 2, all, 3, &reply), LB_OK);
    MUST(trial, reply->value.type == REDIS_INTEGER, "with the key's tag: %s", reply->value.text);
}

TEST(test_ids_are_no_keys) {
    struct arena arena = {0};
    struct plan_lock planned;
    struct lb_err err = {0};
    char why[400];
    const struct lb_lock *lock = registry_lock("redis-setnx");
    if (conform_lacks(lock, "redis-cluster", why, sizeof why)) skip_for("%s", why);
    assert_int_equal(conform_lock(lock, NULL, &arena, &planned, &err), 0);
    struct place *place = conform_open(&planned, "redis-cluster", &err);
    if (!place) fail_msg("%s", err.text);
    struct trial trial = {.lock = &planned, .place = place};
    trial_run(&trial, ids_are_no_keys);
    place_close(place);
    arena_done(&arena);
    if (trial.failure[0]) fail_msg("%s", trial.failure);
}

TEST_MAIN(NULL, NULL)
