/* redis-permit: Redisson's RPermitExpirableSemaphore: RSemaphore's counter, and a sorted set of the
 * permits that are out, each a random id with the moment when it ends. So permits have owners and
 * leases.
 *
 * Those moments are by the clients' clocks, and nobody moves an expired permit back but the next
 * who asks: with clocks apart by more than a lease, permits end early or never. */
#include "drivers/redis/redisson_sc.h"

#ifdef LB_HAVE_HIREDIS
#include <stdlib.h>
#include <string.h>

#define ID_BYTES 16
#define PERMITS_MAX 64          /* of one request: their ids fit in one argument */
#define NEVER "922337203685477" /* the moment of a permit without a lease */

struct permit_grant {
    /* the first permit's; the others differ from it in their last bytes */
    unsigned char id[ID_BYTES];
    uint32_t permits; /* asked for; 0 = never asked */
};

/* The ids of KEYS[set] that have ended by ARGV[now] go back, at most so many. */
#define MOVE_BACK(set, channel, now, limit, publish)                                               \
    "local gone=redis.call('zrangebyscore',KEYS[" #set "],0,ARGV[" #now "],'limit',0," limit ") "  \
    "if #gone>0 then redis.call('zrem',KEYS[" #set "],unpack(gone)) "                              \
    "local left=redis.call('incrby',KEYS[1],#gone) "                                               \
    "if left>0 then redis.call(ARGV[" #publish "],KEYS[" #channel "],left) end end "
/* The 16 bytes of id i in the argument that has them all. */
#define ID(arg) "string.sub(ARGV[" #arg "],16*i-15,16*i)"

/* KEYS name, set, channel; ARGV permits, end, now, never, PUBLISH, ids. */
static const struct redis_script take = {MOVE_BACK(
    2, 3, 3, "ARGV[1]",
    5) "local left=redis.call('get',KEYS[1]) "
       "if left and tonumber(left)>=tonumber(ARGV[1]) then redis.call('decrby',KEYS[1],ARGV[1]) "
       "for i=1,tonumber(ARGV[1]) do redis.call('zadd',KEYS[2],ARGV[2]," ID(
           6) ") end "
              "local ttl=redis.call('pttl',KEYS[1]) if ttl>0 then "
              "redis.call('pexpire',KEYS[2],ttl) end return 'OK' end "
              "local next=redis.call('zrange',KEYS[2],0,0,'WITHSCORES') "
              "if next[1] and next[2]~=ARGV[4] then return ':'..next[2] end return nil"};

/* KEYS name, channel, set; ARGV id, now, PUBLISH. A permit that has ended goes back, but is not
 * ours. */
static const struct redis_script give_one = {
    "local over=redis.call('zscore',KEYS[3],ARGV[1]) "
    "if redis.call('zrem',KEYS[3],ARGV[1])==0 then return 0 end "
    "redis.call(ARGV[3],KEYS[2],redis.call('incrby',KEYS[1],1)) "
    "if tonumber(over)<=tonumber(ARGV[2]) then return 0 end return 1"};

/* KEYS name, channel, set; ARGV ids, now, PUBLISH, permits. */
static const struct redis_script give_many = {
    MOVE_BACK(3, 2, 2, "-1", 3) "local n=0 for i=1,tonumber(ARGV[4]) do n=n+redis.call('zrem',KEYS[3]," ID(
        1) ") end "
           "if n>0 then redis.call('incrby',KEYS[1],n) redis.call(ARGV[3],KEYS[2],n) end return n"};

/* updateLeaseTime, for all of them. KEYS name, set, channel; ARGV permits, end, now, PUBLISH,
 * ids. */
static const struct redis_script extend = {
    MOVE_BACK(2, 3, 3, "-1", 4) "local n=0 for i=1,tonumber(ARGV[1]) do local id=" ID(
        5) " if redis.call('zscore',KEYS[2],id) then redis.call('zadd',KEYS[2],ARGV[2],id) n=n+1 end end "
           "return n"};

/* KEYS name, set. */
static const struct redis_script clear = {"redis.call('del',KEYS[1],KEYS[2])"};

struct permit_names {
    char set[REDISSON_NAME_MAX], channel[REDISSON_NAME_MAX];
};

static void name_both(const struct lb_request *request, struct permit_names *names) {
    redisson_name(request, "", ":timeout", names->set);
    sc_channel(request, names->channel);
}

static size_t list_ids(const struct permit_grant *mine, char out[PERMITS_MAX * ID_BYTES]) {
    for (uint32_t i = 0; i < mine->permits; i++) {
        memcpy(out + i * ID_BYTES, mine->id, ID_BYTES);
        out[i * ID_BYTES + ID_BYTES - 1] = (char)(mine->id[ID_BYTES - 1] ^ i);
    }
    return mine->permits * ID_BYTES;
}

/* When a lease from now on ends. Rounded up, so that no grant outlasts it. */
static struct redisson_number lease_end(long long now_ms, int64_t lease_ns) {
    return redisson_number(now_ms + 1 + (lease_ns + LB_MS_NS - 1) / LB_MS_NS);
}

/* How many of the grant's permits went back, of those that still were its. */
static enum lb_outcome give_back(struct lb_session *session, const struct lb_request *request,
                                 const struct permit_grant *mine, long long *ret_count) {
    struct permit_names names;
    char ids[PERMITS_MAX * ID_BYTES];
    size_t len = list_ids(mine, ids);
    name_both(request, &names);
    struct redisson_number now = redisson_number(redisson_now_ms()),
                           permits = redisson_number(mine->permits);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {names.channel, 0},
                                       {names.set, 0},
                                       {ids, len},
                                       {now.text, 0},
                                       {redisson_publish(session), 0},
                                       {permits.text, 0}};
    const struct redis_reply *reply = NULL;
    bool one = mine->permits == 1;
    enum lb_outcome outcome =
        redisson_run(session, NULL, one ? &give_one : &give_many, 3, words, one ? 6 : 7, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    *ret_count = reply->value.integer;
    return LB_OK;
}

static enum lb_outcome ask(struct redisson_try *one, int64_t *ret_left_ns) {
    const struct lb_request *request = one->request;
    const struct permit_grant *mine = one->grant->data;
    struct permit_names names;
    char ids[PERMITS_MAX * ID_BYTES];
    size_t len = list_ids(mine, ids);
    name_both(request, &names);
    int64_t sent_ns = lb_now();
    long long now_ms = redisson_now_ms(), given = 0;
    struct redisson_number permits = redisson_number(mine->permits), now = redisson_number(now_ms);
    struct redisson_number end = lease_end(now_ms, request->lease_ns);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {names.set, 0},
                                       {names.channel, 0},
                                       {permits.text, 0},
                                       {end.text, 0},
                                       {now.text, 0},
                                       {NEVER, 0},
                                       {redisson_publish(one->session), 0},
                                       {ids, len}};
    const struct redis_reply *reply = NULL;
    bool synced = true;
    enum lb_outcome outcome =
        redisson_run_synced(one->session, NULL, &take, 3, words, 9, &reply, &synced);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_NIL) {
        *ret_left_ns = LB_NEVER;
        return LB_BUSY;
    }
    if (reply->value.type != REDIS_STRING) return redis_refuse(one->session, reply);
    if (reply->value.text[0] == ':') {
        long long left_ms = strtoll(reply->value.text + 1, NULL, 10) - redisson_now_ms();
        *ret_left_ns = left_ms > 0 ? left_ms * LB_MS_NS : 0;
        return LB_BUSY;
    }
    if (!synced) {
        outcome = give_back(one->session, request, mine, &given);
        return outcome == LB_OK ? redisson_not_synced(one->session) : outcome;
    }
    one->grant->token = 0;
    one->grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

static enum lb_outcome permit_acquire(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct permit_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX];
    mine->permits = request->permits ? request->permits : 1;
    if (mine->permits > PERMITS_MAX) {
        mine->permits = 0;
        return lb_fail(session, LB_REFUSED, "redis: at most %d permits at once", PERMITS_MAX);
    }
    rng_bytes(&session->rng, mine->id, ID_BYTES);
    sc_channel(request, channel);
    return redisson_await(&(struct redisson_try){.session = session,
                                                 .request = request,
                                                 .grant = grant,
                                                 .ask = ask,
                                                 .channel = channel,
                                                 .count = sc_count});
}

static enum lb_outcome permit_release(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    const struct permit_grant *mine = grant->data;
    long long given = 0;
    if (mine->permits == 0) return LB_LOST;
    enum lb_outcome outcome = give_back(session, request, mine, &given);
    return outcome == LB_OK && given != mine->permits ? LB_LOST : outcome;
}

static enum lb_outcome permit_settle(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    enum lb_outcome outcome = permit_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

static enum lb_outcome permit_renew(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    const struct permit_grant *mine = grant->data;
    struct permit_names names;
    char ids[PERMITS_MAX * ID_BYTES];
    if (mine->permits == 0) return LB_LOST;
    size_t len = list_ids(mine, ids);
    name_both(request, &names);
    int64_t sent_ns = lb_now();
    long long now_ms = redisson_now_ms();
    struct redisson_number permits = redisson_number(mine->permits), now = redisson_number(now_ms);
    struct redisson_number end = lease_end(now_ms, request->lease_ns);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {names.set, 0},
                                       {names.channel, 0},
                                       {permits.text, 0},
                                       {end.text, 0},
                                       {now.text, 0},
                                       {redisson_publish(session), 0},
                                       {ids, len}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redisson_run(session, NULL, &extend, 3, words, 8, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    if (reply->value.integer != mine->permits) return LB_LOST;
    grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

static int permit_disarm(struct lb_session *session, const struct lb_request *request,
                         struct lb_err *err) {
    struct permit_names names;
    name_both(request, &names);
    const struct redis_word words[] = {{request->key, request->key_len}, {names.set, 0}};
    return sc_set(session, &clear, 2, words, 2, err);
}

static int permit_residue(struct lb_session *session, const char *prefix,
                          struct lb_residue *ret_residue, struct lb_err *err) {
    static const char *const keys[] = {"", "{", NULL}; /* name, {name}:timeout */
    static const char *const channels[] = {"redisson_sc:{", NULL};
    return redisson_residue(session, prefix, keys, channels, ret_residue, err);
}

static const struct lb_option permit_options[] = {REDISSON_OPTIONS, {0}};
#endif

const struct lb_lock lock_redis_permit = {
    .name = "redis-permit",
    .summary =
        "Redisson's RPermitExpirableSemaphore: permits with ids and leases, waiters told by PUBLISH",
    .backend = &backend_redis,
    .primitive = LB_SEMAPHORE,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_PERMITS | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "a message of its channel, at most until the next permit's lease ends",
    .about =
        {.compatible = REDISSON_COMPATIBLE("RPermitExpirableSemaphore"),
         .order = "none: a message wakes as many waiters of each process as there are permits",
         .hazards =
             "leases end by the clients' clocks: one that is ahead takes permits back too early; an "
             "ended permit goes back only when somebody asks",
         .acquire_requests = 1,
         .release_requests = 1,
         .guarantee = LB_ON_ONE_NODE,
         .crash = LB_CRASH_LEASE},
    .expected = redis_permit_expected,
    LB_IF_HIREDIS(.options = permit_options, .options_bytes = sizeof(struct redisson_options),
                  .session_bytes = sizeof(struct redisson_session),
                  .grant_bytes = sizeof(struct permit_grant), .arm = sc_arm,
                  .disarm = permit_disarm, .acquire = permit_acquire, .release = permit_release,
                  .renew = permit_renew, .settle = permit_settle, .residue = permit_residue, )};
