/* conform_boundary: every message of a client is late once. The wire holds the victim's message number k, a request
 * before it reaches the server or an answer before it reaches the victim, with all that follow it that way; meanwhile
 * another client goes through a whole step, and then all goes on. So a mistake that needs a certain order of two
 * clients' messages is found by trying each order. Only the victim's messages are on the wire. A "message" is a chunk of
 * the wire (wire.h): a message that comes in two pieces is held before it and in its middle. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bench/conform/conform.h"

#define MESSAGES_MAX 16 /* of an operation; more of them are repetitions */
#define POLLS 5         /* of a client that asks again and again: each of them is like the other */
#define LEASE_CASES 2   /* messages that are held until a lease has ended, which takes so long */
#define COUNTS 3        /* a message may come in one piece or in two: the greatest count holds */
#define HELD_NS (3600 * LB_S_NS)     /* until it is lifted */
#define REST_NS (30 * LB_MS_NS)      /* a waiter without a message in this time rests */
#define SILENCE_NS (200 * LB_MS_NS)  /* a message that does not come in this time never does */
#define SHORT_NS (40 * LB_MS_NS)     /* a wait that ends while its message is held */
#define LEASE_NS (400 * LB_MS_NS)    /* a server with a coarser clock states a longer one */
#define PROGRAM_LEASE_NS LB_S_NS     /* of a client that is a program */
#define LONG_LEASE_NS (60 * LB_S_NS) /* more than any patience: its end hides no lost wake-up */
#define SLEW_NS LB_MS_NS             /* between the server's clock and ours, in a lease */

/* What the other client does while the message is held. */
enum act { NOTHING, KEEP, TAKE, FREE, DIE, EXPIRE, GIVE_UP, AWAIT, OUTLAST };

static const char *const act_words[] = {[KEEP] = "keeps it",
                                        [TAKE] = "tries to take it",
                                        [FREE] = "frees it",
                                        [DIE] = "ends its session",
                                        [EXPIRE] = "lets its lease end",
                                        [GIVE_UP] = "gives up waiting",
                                        [AWAIT] = "waits for it",
                                        [OUTLAST] = "waits until its lease has ended"};

#define ACTS_MAX 3
#define CASE_MAX 300

/* What the other client does, one after the other; without acts: the end of a list. */
struct step {
    enum act acts[ACTS_MAX + 1];
};

static const struct step keeps[] = {{{KEEP}}, {{0}}};
static const struct step tries[] = {{{TAKE}}, {{0}}};
static const struct step takes[] = {{{TAKE}}, {{TAKE, FREE}}, {{TAKE, DIE}}, {{0}}};
static const struct step frees[] = {{{FREE}},          {{FREE, TAKE}}, {{FREE, TAKE, FREE}},
                                    {{GIVE_UP, FREE}}, {{DIE}},        {{0}}};
static const struct step lasts[] = {{{KEEP}}, {{FREE}}, {{FREE, TAKE}}, {{0}}};
static const struct step follows[] = {{{TAKE}}, {{TAKE, FREE}}, {{AWAIT}}, {{0}}};
static const struct step takes_and_expires[] = {{{TAKE, EXPIRE}}, {{0}}};
static const struct step expires[] = {{{EXPIRE}}, {{0}}};
static const struct step outlasts[] = {{{OUTLAST}}, {{0}}};

/* Who has the key when the operation begins. */
enum holder { NOBODY, OTHER, VICTIM };

struct operation {
    const char *name;
    enum holder holder;
    enum { TRY, TIMED, PATIENT } wait;
    void (*job)(struct actor *client); /* NULL = acquire */
    const struct step *steps;
    bool woken; /* the message is one that follows the release of what it waits for */
    int most;   /* messages; 0 = MESSAGES_MAX */
};

#define A_TRY "a try of a free key", NOBODY, TRY, NULL
#define AN_ACQUIRE "an acquire of a free key", NOBODY, PATIENT, NULL
#define A_WAIT "a wait", OTHER, PATIENT, NULL
#define A_RELEASE "a release", VICTIM, TRY, actor_job_release
#define A_RENEWAL "a renewal", VICTIM, TRY, actor_job_renew

static const struct operation counted = {A_WAIT, keeps, false, 0};
static const struct operation acquires[] = {
    {A_TRY, takes, false, 0}, {AN_ACQUIRE, takes, false, 0}, {0}};
static const struct operation waits[] = {
    {A_WAIT, frees, false, 0}, {"the end of a wait", OTHER, PATIENT, NULL, takes, true, 0}, {0}};
static const struct operation timed_waits[] = {
    {"a wait that times out", OTHER, TIMED, NULL, lasts, false, 0}, {0}};
static const struct operation releases[] = {{A_RELEASE, follows, false, 0}, {0}};
static const struct operation renewals[] = {{A_RENEWAL, tries, false, 0}, {0}};
static const struct operation others_leases[] = {
    {AN_ACQUIRE, takes_and_expires, false, LEASE_CASES},
    {A_WAIT, expires, false, LEASE_CASES},
    {0}};
static const struct operation own_leases[] = {{A_TRY, outlasts, false, LEASE_CASES},
                                              {A_RELEASE, outlasts, false, LEASE_CASES},
                                              {A_RENEWAL, outlasts, false, LEASE_CASES},
                                              {0}};

struct tour {
    struct trial *trial;
    struct trial_key key;
    struct actor *other, *third, *victim;
    const struct operation *op;
    const struct step *step;
    enum wire_way way;
    int message;       /* the one that is held, from 0 */
    int sent[2];       /* messages each way before a waiter comes to rest: requests, answers */
    bool polls;        /* a waiter never comes to rest */
    bool has, expired; /* the other one has the key; had it, until its lease ended */
    bool third_waits, other_waits;
    uint64_t token; /* the greatest of all grants */
    int cases;      /* in which the wire held a message */
};

static void name_case(const struct tour *tour, char text[CASE_MAX]) {
    int used = snprintf(text, CASE_MAX, "%s%s, whose %s %d is held while another", tour->op->name,
                        tour->victim->request.shared ? " (of a reader)" : "",
                        tour->way == WIRE_REQUESTS ? "request" : "answer", tour->message + 1);
    for (const enum act *act = tour->step->acts; *act; act++)
        used += snprintf(text + used, CASE_MAX - (size_t)used, "%s %s",
                         act == tour->step->acts ? "" : ", then", act_words[*act]);
}

static void case_failed(struct tour *tour, enum trial_shown shown, const char *format, ...) {
    char what[500], name[CASE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    name_case(tour, name);
    trial_fail_as(tour->trial, shown, "%s: %s", name, what);
}

static void both_held(struct tour *tour) {
    char name[CASE_MAX];
    name_case(tour, name);
    trial_overlap(tour->trial, "%s: both held it at the same time", name);
}

/* Fails the case unless a call gave one of two outcomes. Returns whether it gave the first. */
static bool gave(struct tour *tour, const struct actor *client, const char *call,
                 enum lb_outcome got, enum lb_outcome wanted, enum lb_outcome allowed) {
    if (got == wanted || got == allowed) return got == wanted;
    const char *why = client->session.err.code ? client->session.err.text : "no reason";
    enum trial_shown shown = got == LB_OK      ? TRIAL_GRANTED
                             : wanted == LB_OK ? TRIAL_REFUSED
                                               : TRIAL_WRONG;
    case_failed(tour, shown, "%s gave %s, not %s: %s", call, lb_outcome_name(got),
                lb_outcome_name(wanted), why);
    return false;
}

/* Each grant of the key has a greater token than all before it, except that readers may share one. */
static void note_token(struct tour *tour, const struct actor *client) {
    uint64_t token = client->grant.token;
    if (!(tour->trial->lock->lock->caps & LB_CAP_FENCE)) return;
    if (token <= tour->token && !client->request.shared)
        case_failed(tour, TRIAL_GRANTED, "a grant has the token %llu, a grant before it had %llu",
                    (unsigned long long)token, (unsigned long long)tour->token);
    if (token > tour->token) tour->token = token;
}

static void other_tries(struct tour *tour) {
    enum lb_outcome outcome = actor_acquire(tour->other, &tour->key, TRIAL_TRY);
    tour->has = gave(tour, tour->other, "its try", outcome, LB_OK, LB_BUSY);
    if (tour->has) note_token(tour, tour->other);
}

static void other_takes(struct tour *tour, int64_t deadline_ns, const char *what) {
    enum lb_outcome outcome = actor_acquire(tour->other, &tour->key, deadline_ns);
    tour->has = gave(tour, tour->other, what, outcome, LB_OK, LB_OK);
    if (tour->has) note_token(tour, tour->other);
}

static void other_frees(struct tour *tour) {
    if (!tour->has) return;
    tour->has = false;
    gave(tour, tour->other, "its release", actor_release(tour->other), LB_OK, LB_OK);
}

static void other_dies(struct tour *tour) {
    if (!tour->has) return;
    tour->has = false;
    actor_close(tour->other);
    if (!actor_open_again(tour->other))
        case_failed(tour, TRIAL_WRONG, "it can't connect: %s", tour->other->err.text);
}

static void other_expires(struct tour *tour) {
    if (!tour->has) return;
    trial_sleep_until(tour->other->grant.lease_end_ns);
    tour->has = false;
    tour->expired = true;
}

static void third_gives_up(struct tour *tour) {
    if (!tour->third_waits) return;
    tour->third_waits = false;
    gave(tour, tour->third, "its timed wait", actor_end(tour->third), LB_TIMEOUT, LB_BUSY);
}

static void act(struct tour *tour) {
    for (const enum act *act = tour->step->acts; *act && !trial_failed(tour->trial); act++) {
        if (*act == TAKE) other_tries(tour);
        if (*act == FREE) other_frees(tour);
        if (*act == DIE) other_dies(tour);
        if (*act == GIVE_UP) third_gives_up(tour);
        if (*act == EXPIRE) other_expires(tour);
    }
}

static bool acts(const struct tour *tour, enum act wanted) {
    const enum act *act = tour->step->acts;
    while (*act && *act != wanted) act++;
    return *act == wanted;
}

static uint64_t messages(const struct tour *tour, enum wire_way way) {
    const struct wire *wire = tour->trial->far->wiring->wire;
    uint64_t sum = 0;
    for (int end = 0; end < wire_ends(wire); end++) {
        struct wire_count count;
        wire_count(wire, end, way, &count);
        sum += count.chunks;
    }
    return sum;
}

/* The clients are as the operation wants them. */
static void prepare(struct tour *tour) {
    tour->has = tour->expired = false;
    tour->third_waits = acts(tour, GIVE_UP);
    tour->other_waits = acts(tour, AWAIT);
    if (tour->op->holder == OTHER)
        other_takes(tour, trial_soon(), "before that, an acquire of the free key");
    if (tour->op->holder == VICTIM)
        gave(tour, tour->victim, "before that, an acquire of the free key",
             actor_acquire(tour->victim, &tour->key, trial_soon()), LB_OK, LB_OK);
    if (tour->third_waits) actor_begin_acquire(tour->third, &tour->key, lb_now() + SHORT_NS);
    if (tour->other_waits) actor_begin_acquire(tour->other, &tour->key, trial_soon());
    /* Either order of these and the victim's request is right; mostly they come first. */
    if (tour->third_waits || tour->other_waits) trial_sleep_until(lb_now() + 5 * LB_MS_NS);
}

static void begin(struct tour *tour) {
    const int64_t deadlines[] = {
        [TRY] = TRIAL_TRY, [TIMED] = lb_now() + SHORT_NS, [PATIENT] = trial_soon()};
    if (tour->op->job)
        actor_begin(tour->victim, tour->op->job);
    else
        actor_begin_acquire(tour->victim, &tour->key, deadlines[tour->op->wait]);
}

/* Watches the messages of the victim's call: until so many are counted that way, the wire holds one, there is none for
 * so long, or the call is over. */
static void watch(const struct tour *tour, enum wire_way way, uint64_t count, int64_t silence_ns) {
    uint64_t seen = 0;
    int64_t since_ns = lb_now();
    while (actor_is_busy(tour->victim) && !conform_struck(tour->trial) &&
           messages(tour, way) < count && lb_now() < since_ns + silence_ns) {
        trial_sleep_until(trial_next_look_ns(since_ns));
        if (messages(tour, WIRE_BOTH) != seen) since_ns = lb_now();
        seen = messages(tour, WIRE_BOTH);
    }
}

static void come_to_rest(const struct tour *tour) {
    uint64_t most = tour->polls ? POLLS : 2 * MESSAGES_MAX;
    watch(tour, WIRE_BOTH, messages(tour, WIRE_BOTH) + most, REST_NS);
}

/* The victim's acquire is over, with an outcome that says what is: one holder, and a grant as soon as the key is free. */
static void judge_acquire(struct tour *tour) {
    bool patient = tour->op->wait == PATIENT, beside = tour->has;
    if (patient && beside) come_to_rest(tour);
    if (patient) other_frees(tour);
    int64_t freed_ns = patient ? tour->other->began_ns : LB_NEVER;
    enum lb_outcome outcome = actor_end(tour->victim);
    if (outcome == LB_BUSY && tour->op->wait == TIMED) outcome = LB_TIMEOUT; /* it began too late */
    enum lb_outcome refusal = patient ? LB_OK : tour->op->wait == TRY ? LB_BUSY : LB_TIMEOUT;
    if (!gave(tour, tour->victim, "it", outcome, LB_OK, refusal)) return;
    if (beside && tour->victim->ended_ns < freed_ns) both_held(tour);
    note_token(tour, tour->victim);
    gave(tour, tour->victim, "its release", actor_release(tour->victim), LB_OK,
         tour->expired ? LB_LOST : LB_OK);
}

/* The victim's release or renewal is over: it held the key until then. */
static void judge_own(struct tour *tour) {
    bool renews = tour->op->job == actor_job_renew;
    if (tour->has && (renews || (tour->way == WIRE_REQUESTS && tour->message == 0)))
        both_held(tour);
    bool ok = gave(tour, tour->victim, "it", actor_end(tour->victim), LB_OK, LB_OK);
    if (ok && tour->other_waits)
        tour->has =
            gave(tour, tour->other, "the other's wait", actor_end(tour->other), LB_OK, LB_OK);
    if (!ok || !(tour->has || renews)) return;
    struct actor *asks = tour->has ? tour->third : tour->other;
    gave(tour, asks, "afterwards a try of what is held", actor_acquire(asks, &tour->key, TRIAL_TRY),
         LB_BUSY, LB_BUSY);
    if (renews) gave(tour, tour->victim, "its release", actor_release(tour->victim), LB_OK, LB_OK);
}

/* The other one gets the key when the victim's lease ends. True: then, and not because the victim's message has freed
 * it, or has not taken it yet. */
static bool outlast(struct tour *tour) {
    int64_t slack_ns = tour->trial->lock->lock->about.crash_slack_ns;
    other_tries(tour);
    if (tour->has || trial_failed(tour->trial)) return false;
    other_takes(tour, lb_now() + tour->trial->lease_ns + slack_ns + trial_patience_ns,
                "an acquire of what nobody holds any more");
    return tour->has;
}

/* The victim's call says OK only if its release was in time, or if the lease that it states was over when the other one
 * got the key. */
static void judge_lost(struct tour *tour, bool late) {
    struct actor *victim = tour->victim;
    enum lb_outcome outcome = actor_end(victim);
    bool beside = outcome == LB_OK && tour->has, states_end = !tour->op->job;
    bool fenced = tour->trial->lock->lock->caps & LB_CAP_FENCE;
    if (tour->op->job == actor_job_renew) states_end = tour->way == WIRE_ANSWERS;
    bool over = victim->grant.lease_end_ns <= tour->other->ended_ns + SLEW_NS;
    if (beside && (states_end ? !over : late))
        case_failed(tour, TRIAL_GRANTED, "it gave ok, but the other had got the key meanwhile");
    else if (beside && late && fenced && victim->grant.token >= tour->other->grant.token)
        case_failed(tour, TRIAL_GRANTED, "its token is not less than that of the next grant");
    else if (beside && states_end && actor_release(victim) == LB_OK)
        case_failed(tour, TRIAL_GRANTED, "its release gave ok, but the other has the key");
    if (outcome == LB_UNKNOWN || outcome == LB_BROKEN) actor_do(victim, actor_job_mend);
    if (tour->has)
        gave(tour, tour->third, "afterwards a try of what the other holds",
             actor_acquire(tour->third, &tour->key, TRIAL_TRY), LB_BUSY, LB_BUSY);
}

/* Nobody holds the key or waits for it. */
static void end_case(struct tour *tour) {
    if (trial_failed(tour->trial)) return;
    other_frees(tour);
    if (tour->expired)
        gave(tour, tour->other, "the release after its lease", actor_release(tour->other), LB_LOST,
             LB_LOST);
    other_takes(tour, trial_soon(), "afterwards an acquire of what must be free");
    other_frees(tour);
}

/* Begins the operation, and waits until the wire holds the message. False: there is no such message. */
static bool hold(struct tour *tour) {
    const uint64_t before = messages(tour, tour->way);
    conform_strike(tour->trial, (struct wire_fault){.kind = WIRE_DELAY,
                                                    .way = tour->way,
                                                    .chunks = (uint64_t)tour->message,
                                                    .by_ns = HELD_NS});
    begin(tour);
    if (tour->op->woken) {
        watch(tour, tour->way, before + (uint64_t)tour->sent[tour->way == WIRE_ANSWERS],
              SILENCE_NS);
        other_frees(tour);
    }
    watch(tour, WIRE_BOTH, UINT64_MAX, SILENCE_NS);
    tour->cases += conform_struck(tour->trial);
    return conform_struck(tour->trial);
}

/* Holds one message. Returns false when the operation has no such message, or the case failed. */
static bool try_case(struct tour *tour) {
    prepare(tour);
    bool held = hold(tour), late = false;
    if (held && acts(tour, OUTLAST)) late = outlast(tour);
    if (held) act(tour);
    third_gives_up(tour);
    if (held && tour->op->wait == TIMED)
        trial_sleep_until(tour->victim->request.deadline_ns + LB_MS_NS);
    conform_heal(tour->trial);
    if (trial_failed(tour->trial)) return false;
    if (held && acts(tour, OUTLAST))
        judge_lost(tour, late);
    else if (tour->op->job)
        judge_own(tour);
    else
        judge_acquire(tour);
    end_case(tour);
    return held && !trial_failed(tour->trial);
}

/* Each message, each way, in each of the steps. */
static void explore(struct tour *tour, const struct operation *op) {
    const unsigned caps = tour->trial->lock->lock->caps;
    const bool waits_on = op->holder == OTHER;
    if (op->job == actor_job_renew && !(caps & LB_CAP_RENEW)) return;
    if (tour->polls && (op->woken || op->steps == expires)) return; /* each poll is as the first */
    tour->op = op;
    for (tour->step = op->steps; tour->step->acts[0]; tour->step++) {
        if (acts(tour, DIE) && !(caps & LB_CAP_SESSION)) continue;
        for (int way = 0; way < 2; way++) {
            int most = op->most ? op->most : tour->polls && waits_on ? POLLS : MESSAGES_MAX;
            int from = op->woken ? tour->sent[way] : 0, until = from + most;
            if (waits_on && op->wait == PATIENT && !op->woken && until > tour->sent[way])
                until = tour->sent[way];
            tour->way = way ? WIRE_ANSWERS : WIRE_REQUESTS;
            for (tour->message = from; tour->message < until; tour->message++) {
                if (!try_case(tour)) break;
            }
            if (trial_failed(tour->trial)) return;
        }
    }
}

/* Counts the messages of a wait until it comes to rest. */
static void count_wait(struct tour *tour) {
    if (trial_failed(tour->trial)) return;
    const uint64_t begun[2] = {messages(tour, WIRE_REQUESTS), messages(tour, WIRE_ANSWERS)};
    tour->op = &counted;
    tour->step = keeps;
    prepare(tour);
    begin(tour);
    come_to_rest(tour);
    for (int way = 0; way < 2; way++) {
        int sent = (int)(messages(tour, way ? WIRE_ANSWERS : WIRE_REQUESTS) - begun[way]);
        if (tour->polls) sent = POLLS;
        if (sent > tour->sent[way]) tour->sent[way] = sent;
    }
    judge_acquire(tour);
    end_case(tour);
}

/* ---- the checks ---- */

/* A waiter that also looks now and then gets what a lost message did not tell it: so the victim looks rarely. */
static void look_rarely(struct actor *victim) {
    static max_align_t options[32];
    const struct lb_algorithm *algorithm = victim->session.lock->algorithm;
    const struct lb_option *look = options_find(algorithm->options, "poll");
    struct lb_err err = {0};
    if (!look || algorithm->options_bytes > sizeof options) return;
    memcpy(options, victim->session.options, algorithm->options_bytes);
    victim->session.options = options;
    if (option_read(look, options, "60s", NULL, &err) != 0)
        trial_fail(victim->trial, "%s", err.text);
}

/* Explores operations, with each pair of a writer and a reader if there are readers. */
static void explore_all(struct tour *tour, const struct operation *operations) {
    int pairs = tour->trial->lock->lock->caps & LB_CAP_SHARED ? 3 : 1;
    for (int i = 0; i < pairs && !trial_failed(tour->trial); i++) {
        tour->victim->request.shared = i == 1;
        tour->other->request.shared = i == 2;
        tour->sent[0] = tour->sent[1] = 0;
        for (int j = 0; j < COUNTS; j++) count_wait(tour);
        for (const struct operation *op = operations; op->name && !trial_failed(tour->trial); op++)
            explore(tour, op);
    }
}

/* Explores with clients whose leases last so long; then others, where the other client's lasts long. */
static void walk(struct trial *trial, int64_t lease_ns, const struct operation *operations,
                 const struct operation *then) {
    trial->session_lease_ns = trial->lease_ns = lease_ns;
    struct tour tour = {.trial = trial, .key = trial_key()};
    tour.polls = strcmp(trial->lock->lock->waits, "poll") == 0;
    tour.other = actor_new(trial);
    tour.third = actor_new(trial);
    tour.victim = actor_far(trial);
    count_wait(
        &tour); /* all that is made only once: scripts, parent nodes, a waiter's second connection */
    if (!then) look_rarely(tour.victim);
    explore_all(&tour, operations);
    tour.other->request.lease_ns = LONG_LEASE_NS;
    if (then) explore_all(&tour, then);
    if (!trial_failed(trial) && tour.cases == 0) trial_fail(trial, "the wire has held no message");
    conform_leaves_nothing(trial, tour.other, &tour.key, "all that");
}

#define WALK(name, operations)                                                                     \
    void name(struct trial *trial) {                                                               \
        walk(trial, LONG_LEASE_NS, operations, NULL);                                              \
    }
WALK(conform_late_acquire, acquires)
WALK(conform_late_wait, waits)
WALK(conform_late_timeout, timed_waits)
WALK(conform_late_release, releases)
WALK(conform_late_renew, renewals)

void conform_late_lease(struct trial *trial) {
    walk(trial, trial->lock->lock->needs ? PROGRAM_LEASE_NS : LEASE_NS, others_leases, own_leases);
}
