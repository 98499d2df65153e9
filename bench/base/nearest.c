/* nearest: see nearest.h. It does not look for candidates itself: the caller offers them. */
#include "bench/base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN 60 /* longer names are not offered, so that the rows fit on the stack */

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static bool same_letter(char a, char b) {
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Three rows of the usual table are enough, because a swap looks two rows back. */
static int distance_of(const char *a, const char *b) {
    int rows[3][NAME_MAX_LEN + 1];
    int a_len = (int)strlen(a), b_len = (int)strlen(b);
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= b_len; j++) above[j] = j;
    for (int i = 1; i <= a_len; i++) {
        row[0] = i;
        for (int j = 1; j <= b_len; j++) {
            int changed = above[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = smaller(changed, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1])) {
                row[j] = smaller(row[j], before[j - 2] + 1);
            }
        }
        int *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_len];
}

void nearest_init(struct nearest *nearest, const char *typed) {
    *nearest = (struct nearest){.typed = typed};
}

void nearest_offer(struct nearest *nearest, const char *name) {
    size_t typed_len = strlen(nearest->typed), name_len = strlen(name);
    if (typed_len == 0 || typed_len > NAME_MAX_LEN || name_len > NAME_MAX_LEN) return;
    int distance = distance_of(nearest->typed, name);
    /* A part of a name, left out or typed alone ("setnx" for "redis-setnx"), is meant as often as a
     * slip of the keyboard; it ranks after any slip that is near enough. */
    int allowed = typed_len <= 4 ? 1 : (int)(typed_len + 2) / 4 + 1;
    if (distance > allowed) {
        if (typed_len < 3 || (!strstr(name, nearest->typed) && !strstr(nearest->typed, name)))
            return;
        distance += NAME_MAX_LEN;
    }
    if (nearest->best && nearest->distance <= distance) return;
    nearest->best = name;
    nearest->distance = distance;
}

/* What a user of an older version, or of another tool, may type, and what to use instead: a command, a scenario, an
 * option behind its command, a key behind its section. */
#define GONE(name, instead)                                                                        \
    { name, ", removed in 0.2.0: " instead }
static const struct {
    const char *name, *hint;
} removed[] = {
    GONE("plan --lock", "the table has every lock; name the folders that shall answer"),
    GONE("plan --hold", "the table says under which hold each lock was measured"),
    GONE("plan --keys", "the table says with how many keys each lock was measured"),
    GONE("plan --topology", "the table names the topology of each row"),
    {"--locks", ": --lock NAMES, or the names alone"},
    {"check --progress", ": `check` prints a line for each cell"},
    {"version", ": lockbench --version"},
    {"capacity --rate", ": --most N is the greatest rate that is tried"},
    GONE("--table", "the table is what is printed without it"),
    GONE("run --metrics", "--prometheus FILE"),
    GONE("check --seeds", "--seed A..B"),
    GONE("--complete", "the shell's script reads --help and `list`"),
    GONE("report --format", "--full, --md, --csv, --json or --html"),
    GONE("list --lease", "--key NAME shows the names for a lease of 30s"),
    GONE("capacity --dry-run", "`lockbench capacity --help` has the defaults"),
    GONE("verify", "`lockbench check LOCK --url BACKEND=URL` does it"),
    GONE("conform", "`lockbench check LOCK --fault conformance` does it"),
    GONE("judge", "run.json and check.json have the counterexample"),
    GONE("check --trials", "--seed 1..N runs each cell N times"),
    /* keys of workloads, with their section */
    GONE("servers.peer_rtt", "servers.rtt delays clients; give a cluster of your own by --url"),
    GONE("servers.min_replicas", "give a primary of your own by --url"),
    GONE("servers.min_replicas_lag", "give a primary of your own by --url"),
    GONE("load.sweep", "the loads run as they are listed, and with run.repeat also in reverse"),
    GONE("run.order", "the locks always run in an order drawn from load.seed"),
    GONE("run.steady", "a stage lasts for run.duration"),
    GONE("run.canary", "run.repeat shows how much the machine changes"),
    GONE("check.residue", "a server at --url is asked for the stage's own keys only"),
    GONE("check.careful", "a late holder writes, and check.store counts it"),
    GONE("check.stock", "check.store: stale writes and lost updates show the same mistakes"),
    GONE("load.sharing", "a lock whose clients can't share a session has one for each client"),
    /* options of locks */
    GONE("etcd-mutex.watch_from", "a waiter watches from what it has read, as etcd's clients do"),
    GONE("etcd-lock.lease", "the key hangs on its session's lease"),
    GONE("redis-redlock.ask", "all servers are asked at once"),
    GONE("redis-redlock.drift", "it is 1 % of the lease and 2ms, as in node-redlock"),
    GONE("redis-redlock.drift_more", "it is 1 % of the lease and 2ms, as in node-redlock"),
    GONE("redis-segmented.spread", "all segments are in one slot of a cluster"),
    GONE("redis-spin.initial_delay", "it is 1ms, Redisson's default"),
    GONE("redis-spin.max_delay", "it is 128ms, Redisson's default"),
    GONE("redis-spin.multiplier", "it is 2, Redisson's default"),
    GONE("sqlite-immediate.fence", "nothing; this lock has no token"),
    /* compare, history, reports of a check and of capacity */
    GONE("list --json", "`list --table`, `list NAME`; `doctor --json` has what can run here"),
    GONE("compare --junit", "--md or --json, and the exit code"),
    GONE("compare --benchstat", "--json has each sample"),
    GONE("compare --csv", "--json; `lockbench report RUN --csv` is the one CSV"),
    GONE("history --otava", "the history is a CSV file, which Apache Otava reads"),
    GONE("history --acks", "--metric names the figures that are judged"),
    GONE("history --last", "the median is over the runs of --gate, else 10"),
    GONE("compare --alpha", "it is 0.05; --json has each p"),
    GONE("compare --anyway", "what differs between the sides is said before the figures"),
    GONE("compare --html", "the page is written without it; --out FILE says where"),
    GONE("history --html", "--out FILE writes the page"),
    GONE("history --lock", "--json has every line; choose among them"),
    GONE("history --no-page", "a page is written with --out FILE only"),
    /* scenarios, keys of faults */
    GONE("wire-jitter", "`wire-delay`"),
    GONE("wire-slow", "`wire-delay`"),
    GONE("wire-midway", "`lost-reply`, or wire-drop as an injection"),
    GONE("lost-publish", "`lost-reply`"),
    GONE("fault.rate", "by, with wire-delay"),
    GONE("fault.bytes", "nothing; wire-drop drops the next answer"),
    GONE("fault.jitter", "by, how much later each byte arrives"),
    GONE("fault.holding", "nothing; wire-drop drops the next answer"),
    GONE("fault.message", "nothing; wire-drop drops the next answer"),
    GONE("fault.then", "nothing; wire-drop resets the connection"),
};

const char *nearest_removed(const char *name) {
    const char *option = strstr(name, "--");
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
        if (strcmp(removed[i].name, name) == 0 || (option && strcmp(removed[i].name, option) == 0))
            return removed[i].hint;
    }
    return NULL;
}

const char *nearest_hint(const struct nearest *nearest, char *text, size_t size) {
    const char *gone = nearest_removed(nearest->typed);
    if (gone) return gone;
    text[0] = '\0';
    if (nearest->best) snprintf(text, size, ", did you mean '%s'?", nearest->best);
    return text;
}
