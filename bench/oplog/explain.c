/* explain: see explain.h. */
#include "bench/oplog/explain.h"

#include <stdio.h>

uint32_t hold_key(const struct oplog_rules *rules, const struct hold *hold) {
    return rules->by_slot ? hold->key / rules->bound : hold->key;
}

const char *hold_end_name(const struct hold *hold) {
    if (hold->flags & HOLD_DEAD) return "killed";
    if (hold->flags & HOLD_LEARNED) return "lost";
    if (hold->flags & HOLD_OPEN) return "unknown";
    if (hold->flags & HOLD_CONTINUED) return "ok";
    return oplog_outcome_name((enum oplog_outcome)hold->ended);
}

static double second_of(const struct oplog_rules *rules, int64_t ns) {
    return (double)(ns - rules->begin_ns) / 1e9;
}

/* Describes a hold that another one overlapped. */
static void note_holder(struct oplog_line *line, const struct oplog_rules *rules,
                        const struct judgement *judgement, const struct hold *hold) {
    bool outlived = hold->inside_ns < judgement->clash_ns;
    if (judgement->clash == CLASH_TOKEN) return;
    if (outlived && (hold->flags & HOLD_LATE)) {
        snprintf(line->note, sizeof line->note, "came back after its lease or session had ended");
    } else if (outlived && hold->inside_ns > hold->from_ns) {
        snprintf(line->note, sizeof line->note, "inside its lease or session until %.6f s",
                 second_of(rules, hold->inside_ns));
    } else if (hold->flags & HOLD_OPEN) {
        snprintf(line->note, sizeof line->note, "never released");
    } else if (hold->flags & HOLD_LEARNED) {
        snprintf(line->note, sizeof line->note, "held until it learned of its loss at %.6f s",
                 second_of(rules, hold->to_ns));
    } else {
        snprintf(line->note, sizeof line->note, "held until %.6f s", second_of(rules, hold->to_ns));
    }
}

static void note_intruder(struct oplog_line *line, const struct judgement *judgement,
                          const struct hold *last) {
    const char *text = "came in while another was there, past its lease or session";
    if (judgement->clash == CLASH_TOKEN) {
        text = "its token is not greater than one that was given before";
    } else if (last->flags & HOLD_LATE) {
        text = "came in after its own lease or session had ended, while another was there";
    } else if (last->flags & HOLD_OUTSIDE) {
        text = "came in while another was there, and learned later that its own session had ended";
    } else if (judgement->verdict == OPLOG_VIOLATED) {
        text = "came in while others were inside their leases and sessions";
    }
    snprintf(line->note, sizeof line->note, "%s", text);
}

static struct oplog_line line_of_hold(const struct oplog_rules *rules, const struct hold *hold,
                                      const char *op, int64_t begin_ns, int64_t end_ns,
                                      const char *outcome) {
    return (struct oplog_line){.client = hold->client,
                               .key = hold_key(rules, hold),
                               .op = op,
                               .begin_ns = begin_ns,
                               .end_ns = end_ns,
                               .outcome = outcome,
                               .token = hold->token,
                               .lease_end_ns = hold->lease_end_ns,
                               .shared = hold->flags & HOLD_SHARED};
}

int oplog_explain(const struct oplog_rules *rules, const struct judgement *judgement,
                  const struct hold *witness, struct oplog_line lines[EXPLAIN_LINES]) {
    int count = 0, last = judgement->witness_count - 1;
    for (int i = 0; i <= last; i++) {
        const struct hold *hold = &witness[i];
        lines[count] = line_of_hold(rules, hold, hold->flags & HOLD_PIECE ? "renew" : "acquire",
                                    hold->called_ns, hold->from_ns, "ok");
        if (i == last) {
            note_intruder(&lines[count++], judgement, hold);
        } else {
            note_holder(&lines[count++], rules, judgement, hold);
        }
    }
    for (int i = 0; i < last; i++) {
        const struct hold *hold = &witness[i];
        if (hold->flags & (HOLD_DEAD | HOLD_OPEN)) continue;
        const char *op = hold->flags & HOLD_LEARNED     ? "told"
                         : hold->flags & HOLD_CONTINUED ? "renew"
                                                        : "release";
        lines[count++] =
            line_of_hold(rules, hold, op, hold->to_ns, hold->released_ns, hold_end_name(hold));
    }
    return count;
}
