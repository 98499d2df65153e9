/* conform_count: the number of keys on the server before and after, counted by the server's own
 * tools: the driver's residue function knows only the keys that its author thought of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/conform/conform.h"
#include "bench/conform/conform_place.h"

#define GRANTS 20
/* A lock may keep things for a key by design, but each grant must not add to them. */
#define KEPT_MAX (GRANTS / 2)
#define SETTLE_NS (10 * LB_S_NS)
#define MARIADB "mariadb --no-defaults -N -B --protocol=tcp -h 127.0.0.1 -P $PORT -u root "

/* A shell command that prints how many things the server at $PORT holds, or several numbers to be
 * added. NATS has no count that tells keys from what its buckets keep. */
static const struct counter {
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

static const struct counter *counter_of(const struct lb_backend *backend) {
    const struct counter *counter = counters;
    while (counter->backend && strcmp(counter->backend, backend->name) != 0) counter++;
    return counter->backend ? counter : NULL;
}

bool conform_can_count(const struct lb_backend *backend) {
    return counter_of(backend) != NULL;
}

/* The sum over a lock's servers; -1 if a server gives no number. Blocks for some milliseconds. */
static long count_all(const struct trial *trial) {
    int ports[CONFORM_PORTS_MAX], servers = conform_ports(trial->place, ports);
    long sum = 0;
    for (int i = 0; i < servers; i++) {
        char line[64], command[1024];
        int numbers = 0;
        snprintf(command, sizeof command, "export PORT=%d; %s", ports[i],
                 counter_of(trial->place->server.backend)->script);
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
    if (!trial->lock->lock->algorithm->disarm) return;
    MUST(trial, actor_disarm(holder) == 0, "disarming: %s", holder->err.text);
}

void conform_count(struct trial *trial) {
    struct trial_key warm = trial_key(), key = trial_key();
    struct actor *holder = actor_new(trial), *other = actor_new(trial);
    if (!holder || !other) return;
    /* Things that are created only once (tables, parent nodes) are created before the count. */
    MUST_GIVE(holder, actor_acquire(holder, &warm, trial_soon()), LB_OK);
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    long before = count_all(trial), after;
    MUST(trial, before >= 0,
         "what is on the server can't be counted: is its own client installed?");
    use_often(trial, holder, other, &key);
    if (trial_failed(trial)) return;
    actor_close(holder);
    actor_close(other);
    long allowed = before + (trial->lock->lock->keeps ? KEPT_MAX : 0);
    int64_t patience_ns = trial_patience_ns < SETTLE_NS ? trial_patience_ns : SETTLE_NS;
    int64_t deadline_ns = lb_now() + patience_ns;
    while ((after = count_all(trial)) > allowed && lb_now() < deadline_ns)
        trial_sleep_until(lb_now() + 200 * LB_MS_NS);
    MUST(trial, after <= allowed,
         "%ld things were on the server before, and %ld after %d grants of one key", before, after,
         GRANTS);
}
