/* conform_basic: what every lock does: taken and freed, what it says of itself, how many commands and keys it makes,
 * and unusual names. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/conform/conform.h"
#include "bench/conform/conform_place.h"
#include "drivers/facts.h"
#include "drivers/key_names.h"

#define CYCLES 40
#define PROGRAM_CYCLES 10 /* of a client that is a program, which may start another one for each */
#define LOOP_FILES 2      /* the stack of a thread with a loop of its own */

static void cycle_often(struct actor *client, const struct trial_key *key) {
    const int cycles = client->session.lock->needs ? PROGRAM_CYCLES : CYCLES;
    for (int i = 0; i < cycles; i++) MUST_USE(client, key, trial_soon());
}

void conform_again(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *other = actor_new(trial);
    cycle_often(one, &key);
    cycle_often(other, &key);
    /* A session may be closed several times, and another may follow. */
    actor_close(one);
    actor_close(one);
    MUST(trial, actor_open(one), "can't connect again: %s", one->err.text);
    cycle_often(one, &key);
}

static void describe(struct actor *client) {
    struct lb_facts facts = {0};
    const struct lb_backend *backend = client->server->backend;
    client->err = (struct lb_err){0};
    client->failed = backend->connector->describe(&client->session, &facts, &client->err);
    for (int i = 0; i < facts.count; i++) {
        if (strcmp(facts.item[i].name, "version") == 0 && facts.item[i].value[0]) return;
    }
    if (!client->failed) trial_fail(client->trial, "describe names no version");
}

void conform_describe(struct trial *trial) {
    const struct lb_backend *backend = trial->lock->lock->backend;
    struct actor *client = actor_new(trial);
    actor_do(client, describe);
    MUST(trial, !client->failed, "describe: %s", client->err.text);
    if (backend->connector->ping) MUST_GIVE(client, actor_ping(client), LB_OK);
}

void conform_commands(struct trial *trial) {
    const struct lb_lock *lock = trial->lock->lock;
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial);
    uint64_t taking[3], freeing[3];
    /* The first cycle may create scripts and parent nodes. */
    actor_use_key(client, &key);
    for (int i = -1; i < 3; i++) {
        uint64_t before = client->session.commands;
        MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
        uint64_t between = client->session.commands;
        MUST_GIVE(client, actor_release(client), LB_OK);
        if (i < 0) continue;
        taking[i] = between - before;
        freeing[i] = client->session.commands - between;
        MUST(trial, taking[i] == taking[0] && freeing[i] == freeing[0],
             "cycle %d counts %d + %d commands, the first one %d + %d", i + 1, (int)taking[i],
             (int)freeing[i], (int)taking[0], (int)freeing[0]);
    }
    int acquire = lock->about.acquire_requests, release = lock->about.release_requests;
    MUST(trial, (int)taking[0] == acquire && (int)freeing[0] == release,
         "counts %d + %d requests a cycle, its table says %d + %d", (int)taking[0], (int)freeing[0],
         acquire, release);
}

/* The number of files that this process has open; below 0 if it can't be read. */
static int open_files(void) {
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;
    if (!dir) return -1;
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

/* One more client opens no more files than its driver states. The client waits, too, because some
 * drivers listen on a connection of their own. */
void conform_descriptors(struct trial *trial) {
    const struct lb_lock *lock = trial->lock->lock;
    lb_descriptors_fn *descriptors = lock->backend->connector->descriptors;
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial);
    bool waits = (lock->caps & LB_CAP_WAIT) && lock->primitive != LB_OPTIMISTIC;
    if (waits) MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    int before = open_files();
    struct actor *client = actor_new(trial);
    int loop = trial->threads ? LOOP_FILES : 0;
    int stated = descriptors ? descriptors(&client->session, 1) : 1;
    actor_begin_acquire(client, &key, waits ? trial_soon() : TRIAL_TRY);
    if (waits) {
        trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    } else {
        actor_end(client);
    }
    int taken = open_files() - before - loop;
    if (waits) MUST_GIVE(holder, actor_release(holder), LB_OK);
    if ((waits ? actor_end(client) : client->outcome) == LB_OK) actor_release(client);
    MUST(trial, taken <= stated, "a client opens %d files, its driver states %d", taken, stated);
}

/* A try asks once, whatever deadline in the past it has. */
void conform_busy(struct trial *trial) {
    const int64_t pasts[] = {INT64_MIN, -1, 1, lb_now() - LB_S_NS, lb_now()};
    struct trial_key key = trial_key();
    struct actor *clients[2];
    actors_new(trial, NULL, 2, clients);
    for (size_t i = 0; i < sizeof pasts / sizeof *pasts; i++) {
        struct actor *holder = clients[i % 2], *other = clients[1 - i % 2];
        MUST_GIVE(holder, actor_acquire(holder, &key, pasts[i]), LB_OK);
        MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY, "where another holds");
        MUST_GIVE(other, actor_acquire(other, &key, pasts[i]), LB_BUSY,
                  "with a deadline in the past where another holds");
        MUST_GIVE(holder, actor_release(holder), LB_OK);
    }
}

/* While one client holds a name, another gets a name that differs a little, unless such names are refused. */
static void tell_apart(struct actor *a, struct actor *b, const struct trial_key *one,
                       const struct trial_key *two, const char *what) {
    enum lb_outcome taken = actor_acquire(a, one, trial_soon());
    if (taken == LB_REFUSED) return;
    MUST_GIVE(a, taken, LB_OK);
    MUST_GIVE(b, actor_acquire(b, two, TRIAL_TRY), LB_OK, what);
    MUST_GIVE(b, actor_release(b), LB_OK);
    MUST_GIVE(a, actor_release(a), LB_OK);
}

/* True if the lock takes the number of a name, not the name. */
static bool takes_number(const struct plan_lock *lock) {
    lb_names_fn *names = lock->lock->algorithm->names;
    const struct lb_session session = {
        .lock = lock->lock, .options = lock->options, .lease_ns = LB_S_NS};
    struct lb_request request = {.key = "name", .key_len = 4, .permits = 1, .bound = 1};
    struct lb_names of[2] = {{0}, {0}};
    for (int i = 0; names && i < 2; i++) {
        request.key_number = (uint64_t)i;
        names(&session, &request, &of[i]);
    }
    return of[0].count > 0 && strcmp(of[0].item[0].text, of[1].item[0].text) != 0;
}

void conform_near_keys(struct trial *trial) {
    static const size_t lengths[] = {32, 64, 65, 95, 128, 192, 250, 255, LB_KEY_MAX};
    struct actor *a = actor_new(trial), *b = actor_new(trial);
    char name[LB_KEY_MAX], what[96];
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths && !trial_failed(trial); i++) {
        struct trial_key plain = trial_key();
        memset(name, 'k', sizeof name);
        memcpy(name, plain.name, plain.len);
        struct trial_key one = trial_key_named(name, lengths[i]);
        name[lengths[i] - 1]++;
        struct trial_key two = trial_key_named(name, lengths[i]);
        snprintf(what, sizeof what,
                 "where another holds a name that differs in the last of %d bytes",
                 (int)lengths[i]);
        tell_apart(a, b, &one, &two, what);
    }
    for (int bit = 0; takes_number(trial->lock) && bit < 64 && !trial_failed(trial); bit++) {
        struct trial_key one = trial_key(), two = trial_key();
        two.number = one.number ^ UINT64_C(1) << bit;
        snprintf(what, sizeof what, "where another holds a number that differs in bit %d", bit);
        tell_apart(a, b, &one, &two, what);
    }
}

void conform_case(struct trial *trial) {
    struct trial_key one = trial_key(), two = trial_key();
    struct actor *a = actor_new(trial), *b = actor_new(trial);
    memcpy(two.name, one.name, sizeof two.name);
    two.len = one.len;
    one.name[one.len++] = 'k';
    two.name[two.len++] = 'K';
    tell_apart(a, b, &one, &two, "where another holds a name that differs in case");
}

void conform_keys(struct trial *trial) {
    struct trial_key one = trial_key(), two = trial_key();
    struct actor *a = actor_new(trial), *b = actor_new(trial);
    MUST_GIVE(a, actor_acquire(a, &one, TRIAL_TRY), LB_OK);
    MUST_GIVE(b, actor_acquire(b, &two, TRIAL_TRY), LB_OK, "where another holds another key");
    MUST_GIVE(b, actor_release(b), LB_OK);
    /* The release of the second lock has not freed the first. */
    MUST_GIVE(b, actor_acquire(b, &one, TRIAL_TRY), LB_BUSY,
              "where another holds, after a release of another key,");
    MUST_GIVE(a, actor_release(a), LB_OK);
    MUST_GIVE(b, actor_acquire(b, &one, TRIAL_TRY), LB_OK);
    MUST_GIVE(a, actor_acquire(a, &two, TRIAL_TRY), LB_OK);
    MUST_GIVE(b, actor_release(b), LB_OK);
    MUST_GIVE(a, actor_release(a), LB_OK);
}

/* ---- the number of keys on the server before and after, counted by the server's own tools: the driver's residue
 * function knows only the keys that its author thought of ---- */

#define GRANTS 20
/* A lock may keep things for a key by design, but each grant must not add to them. */
#define KEPT_MAX (GRANTS / 2)
#define MARIADB "mariadb --no-defaults -N -B --protocol=tcp -h 127.0.0.1 -P $PORT -u root "

/* A shell command that prints how many things the server at $PORT holds, or several numbers to be
 * added. NATS has no count that tells keys from what its buckets keep. */
static const struct {
    const char *backend, *script;
} counters[] = {
    {"redis", "redis-cli -p $PORT dbsize"},
    {"memcached",
     "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$PORT; login=\"lockbench $MEMCACHED_SECRET\"; "
     "[ -z \"$MEMCACHED_SECRET\" ] || "
     "printf \"set login 0 0 ${#login}\\r\\n$login\\r\\n\" >&3; "
     "printf \"stats\\r\\n\" >&3; "
     "timeout 10 sed /END/q <&3' | sed -n 's/STAT curr_items \\([0-9]*\\).*/\\1/p'"},
    {"zookeeper",
     "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$PORT; printf srvr >&3; timeout 10 cat <&3' | "
     "sed -n 's/Node count: //p'"},
    {"etcd", "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:$PORT get --prefix --keys-only '' | "
             "grep -ac . ; :"},
    {"postgres",
     "psql -XAtq -h 127.0.0.1 -p $PORT -U postgres -c \"select (xpath('/row/c/text()', "
     "query_to_xml(format('select count(*) as c from %I', tablename), false, true, '')))[1] "
     "from pg_tables where schemaname = 'public' union all "
     "select count(*)::text::xml from pg_locks where locktype = 'advisory'\""},
    {"mariadb", MARIADB
     "-e \"select concat('select count(*) from ', table_schema, '.', table_name, ';') "
     "from information_schema.tables where table_name like 'lockbench%'\" | " MARIADB "; echo 0"},
    {0},
};

const char *conform_counter(const struct lb_backend *backend) {
    int i = 0;
    while (counters[i].backend && strcmp(counters[i].backend, backend->name) != 0) i++;
    return counters[i].script;
}

/* The sum over a lock's servers; -1 if a server gives no number. Blocks for some milliseconds. */
static long count_all(const struct trial *trial) {
    static const char host[] = "127.0.0.1:";
    const char *at = trial->place->server.url_count > 0 ? trial->place->urls[0] : "";
    long sum = 0;
    int servers = 0;
    for (; (at = strstr(at, host)); servers++) {
        char line[64], command[1024];
        int numbers = 0;
        snprintf(command, sizeof command, "export PORT=%d; %s", atoi(at += strlen(host)),
                 conform_counter(trial->place->server.backend));
        FILE *said = popen(command, "r");
        for (; said && fgets(line, sizeof line, said); numbers++) sum += atol(line);
        if (!said || pclose(said) != 0 || numbers == 0) return -1;
    }
    return servers > 0 ? sum : -1;
}

/* Twenty grants of one key, each while another client tries to get it. */
static void use_often(struct trial *trial, struct actor *holder, struct actor *other,
                      const struct trial_key *key) {
    for (int i = 0; i < GRANTS; i++) {
        MUST_GIVE(holder, actor_acquire(holder, key, trial_soon()), LB_OK);
        enum lb_outcome outcome =
            actor_acquire(other, key, i % 5 ? TRIAL_TRY : lb_now() + 20 * LB_MS_NS);
        MUST_SAY_NO(trial, outcome, outcome == LB_BUSY || outcome == LB_TIMEOUT,
                    "the second client got %s", lb_outcome_name(outcome));
        MUST_GIVE(holder, actor_release(holder), LB_OK);
    }
    MUST(trial, actor_disarm(holder) == 0, "disarming: %s", holder->err.text);
}

void conform_count(struct trial *trial) {
    struct trial_key warm = trial_key(), key = trial_key();
    struct actor *holder = actor_new(trial), *other = actor_new(trial);
    /* Things that are created only once (tables, parent nodes) are created before the count. */
    MUST_USE(holder, &warm, trial_soon());
    long before = count_all(trial), after;
    MUST(trial, before >= 0,
         "what is on the server can't be counted: is its own client installed?");
    use_often(trial, holder, other, &key);
    if (trial_failed(trial)) return;
    actor_close(holder);
    actor_close(other);
    long allowed = before + (trial->lock->lock->keeps ? KEPT_MAX : 0);
    int64_t deadline_ns = trial_settled();
    while ((after = count_all(trial)) > allowed && lb_now() < deadline_ns)
        trial_sleep_until(lb_now() + 200 * LB_MS_NS);
    MUST(trial, after <= allowed,
         "%ld things were on the server before, and %ld after %d grants of one key", before, after,
         GRANTS);
}

/* ---- unusual names of locks: each works, or is refused in clear words ---- */

/* The name works, as a lock or as a version, which has no holder, or is refused with a text; in both cases the two
 * connections stay usable. */
static void try_name(struct trial *trial, struct actor *one, struct actor *other, const char *name,
                     size_t len, const char *what) {
    bool held = CONFORM_KIND(trial->lock->lock->primitive) & CONFORM_EXCLUDES;
    struct trial_key odd = trial_key_named(name, len), plain = trial_key();
    enum lb_outcome outcome = actor_acquire(one, &odd, TRIAL_TRY);
    MUST(trial, outcome == LB_OK || outcome == LB_REFUSED, "%s: it must give ok or refused, not %s",
         what, actor_said(&one->session, outcome));
    if (outcome == LB_REFUSED) {
        MUST(trial, strlen(one->session.err.text) > 10, "%s: refused without a reason", what);
        outcome = actor_acquire(other, &odd, lb_now() + LB_S_NS);
        MUST(trial, outcome == LB_REFUSED, "%s: refused to one, but %s to another", what,
             lb_outcome_name(outcome));
    } else {
        if (held) {
            outcome = actor_acquire(other, &odd, TRIAL_TRY);
            MUST_SAY_NO(trial, outcome, outcome == LB_BUSY, "%s: taken, but another got %s", what,
                        actor_said(&other->session, outcome));
        }
        outcome = actor_release(one);
        MUST(trial, outcome == LB_OK, "%s: its release gave %s", what,
             actor_said(&one->session, outcome));
        if (!held) MUST_USE(other, &odd, trial_soon()); /* of the same name for both */
    }
    outcome = actor_acquire(one, &plain, trial_soon());
    if (outcome == LB_OK) outcome = actor_release(one);
    MUST(trial, outcome == LB_OK, "after %s a plain name gave %s", what,
         actor_said(&one->session, outcome));
}

void conform_odd_names(struct trial *trial) {
    static const char *const names[] = {"two words",
                                        "/",
                                        "//a//b/",
                                        "../../up",
                                        ".",
                                        "..",
                                        "a%b%20c%",
                                        "'; DROP TABLE locks; --",
                                        "\"quoted\\\"",
                                        "{\"json\": [1]}",
                                        "$HOME `id` $(id) *?[x]",
                                        "schl\xc3\xbcssel \xe9\x8d\xb5 \xf0\x9f\x94\x91",
                                        "UPPER and upper",
                                        "a\r\nflush_all\r\n"};
    struct actor *one = actor_new(trial), *other = actor_new(trial);
    for (size_t i = 0; i < sizeof names / sizeof *names && !trial_failed(trial); i++)
        try_name(trial, one, other, names[i], strlen(names[i]), names[i]);
    /* Names of every byte but NUL, some bytes at a time. */
    for (int from = 1; from < 256 && !trial_failed(trial); from += 15) {
        char name[16], what[64];
        for (int i = 0; i < 15; i++) name[i] = (char)(from + i);
        snprintf(what, sizeof what, "a name of the bytes 0x%02x to 0x%02x", from, from + 14);
        try_name(trial, one, other, name, 15, what);
    }
}

void conform_long_names(struct trial *trial) {
    static const size_t lengths[] = {
        64, 65, 128, 192, 193, 250, 251, 255, 256, 512, LB_KEY_MAX - 1, LB_KEY_MAX};
    struct actor *one = actor_new(trial), *other = actor_new(trial);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths && !trial_failed(trial); i++) {
        char name[LB_KEY_MAX], what[64];
        memset(name, 'k', lengths[i]);
        snprintf(what, sizeof what, "a name of %zu bytes", lengths[i]);
        try_name(trial, one, other, name, lengths[i], what);
        /* Names whose escaped form is the longest. */
        memset(name, '/', lengths[i]);
        snprintf(what, sizeof what, "a name of %zu slashes", lengths[i]);
        if (!trial_failed(trial)) try_name(trial, one, other, name, lengths[i], what);
    }
}
