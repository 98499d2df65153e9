/* html_verdict: the top of the page: does each lock exclude, and which one to take. See
 * html_parts.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html_parts.h"

const char *html_tone(enum tone tone) {
    return tone == TONE_GOOD   ? "good"
           : tone == TONE_WARN ? "warn"
           : tone == TONE_BAD  ? "bad"
                               : "plain";
}

void html_state(FILE *out, enum lock_state state) {
    static const char *const marks[] = {
        [LOCK_BASELINE] = "\xe2\x97\x8b",
        [LOCK_UNCHECKED] = "?",
        [LOCK_ALONE] = "\xe2\x97\x8b",
        [LOCK_HIDDEN] = "\xe2\x97\x8b",
        [LOCK_CLEAN] = "\xe2\x9c\x93",
        [LOCK_CAUGHT] = "\xe2\x9c\x93",
        [LOCK_EXPIRED] = "!",
        [LOCK_STUCK] = "\xe2\x9c\x97",
        [LOCK_MISSED] = "\xe2\x9c\x97",
        [LOCK_TOKENS] = "\xe2\x9c\x97",
        [LOCK_VIOLATED] = "\xe2\x9c\x97",
    };
    fprintf(out,
            "<span class=\"chip %s\" title=\"%s\"><span aria-hidden=\"true\">%s</span> %s</span>",
            html_tone(words_state_tone(state)), words_state_title(state), marks[state],
            words_state(state));
}

static void write_count(FILE *out, double count) {
    char text[NUMBER_TEXT_MAX];
    fprintf(out, "<td class=\"num\" data-v=\"%.9g\">%s</td>", count,
            number_count_text(count, text));
}

static void write_lock(FILE *out, const struct report *report, const struct report_lock *lock) {
    const struct run_stage *stage = lock->stage;
    const char *version = report_server_version(report_server(report, lock));
    char claims[256];
    fprintf(out, "<tr%s><th scope=\"row\">", report_is_real(stage) ? "" : " class=\"aside\"");
    escape_html(out, lock->label);
    fputs("</th><td>", out);
    html_state(out, lock->state);
    fputs("</td>", out);
    write_count(out, lock->competing);
    write_count(out, lock->lost_updates);
    write_count(out, lock->double_holders);
    if (lock->state == LOCK_CLEAN && lock->competing > 0) {
        fprintf(out, "<td class=\"num\" data-v=\"%.9g\">%.1e</td>", 3 / lock->competing,
                3 / lock->competing);
    } else {
        fputs("<td class=\"num\">" NUMBER_NONE "</td>", out);
    }
    fputs("<td class=\"words claims\">", out);
    words_claims(stage, claims, sizeof claims);
    escape_html(out, *claims ? claims : "nothing");
    fputs("</td><td class=\"words long\">", out);
    const char *kind = words_durability_text(words_durability(stage));
    char *full = words_durability_full(stage);
    if (!full || strncmp(full, kind, strlen(kind)) != 0) fprintf(out, "<b>%s</b>: ", kind);
    escape_html(out, full);
    free(full);
    fputs("</td><td class=\"words\">", out);
    escape_html(out, stage->topology);
    if (version) {
        fputc(' ', out);
        escape_html(out, version);
    }
    fputs("</td><td class=\"words\">", out);
    escape_html(out, stage->waits);
    fputs("</td></tr>\n", out);
}

void html_verdict(FILE *out, const char *title, const struct words *words) {
    enum tone worst = TONE_GOOD;
    for (int i = 0; i < words->count; i++) {
        enum tone tone = words->lines[i].tone;
        if (tone == TONE_BAD || (tone == TONE_WARN && worst != TONE_BAD)) worst = tone;
    }
    html_section(out, "verdict", title);
    fprintf(out, "<div class=\"verdict %s\">\n", html_tone(worst));
    for (int i = 0; i < words->count; i++) {
        const struct words_line *line = &words->lines[i];
        fprintf(out, "<p class=\"%s%s\">", html_tone(line->tone),
                i == words->headline ? " headline" : "");
        escape_html(out, line->text);
        fputs("</p>\n", out);
    }
    fputs("</div>\n</section>\n", out);
}

void html_promises(FILE *out, const struct report *report) {
    html_section(out, "promises", "What each lock promises, and was seen to do");
    fputs(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"figures sortable\"><caption>Every lock, what "
        "it was seen "
        "to do and what it promises. n: grants to clients that had somebody to "
        "exclude.</caption>\n<thead><tr>"
        "<th scope=\"col\">lock</th><th scope=\"col\">verdict</th><th scope=\"col\" class=\"num\">n</th>"
        "<th scope=\"col\" class=\"num\" title=\"the shared counter's shortfall\">lost updates</th>"
        "<th scope=\"col\" class=\"num\" title=\"seen inside together with another holder\">second "
        "holders</th>"
        "<th scope=\"col\" class=\"num\" title=\"with 95 % confidence the true rate of overlaps is below "
        "this\">"
        "bound 3/n</th><th scope=\"col\">claims</th><th scope=\"col\">durability</th>"
        "<th scope=\"col\">topology, version</th><th scope=\"col\">a waiter learns "
        "by</th></tr></thead>\n<tbody>\n",
        out);
    for (int i = 0; i < report->lock_count; i++) write_lock(out, report, &report->locks[i]);
    fputs("</tbody></table></div>\n</section>\n", out);
}

static void write_answer(FILE *out, const struct report *report, const struct answer *answer,
                         enum question question) {
    char text[NUMBER_TEXT_MAX];
    if (!answer->best) {
        fputs("<td>" NUMBER_NONE "</td>", out);
        return;
    }
    fputs("<td><b>", out);
    escape_html(out, report->locks[answer->best->lock].label);
    fputs("</b><br>", out);
    escape_html(out, answer_text(answer, question, text));
    for (int t = 0; t < answer->tie_count && t < ANSWER_TIES; t++) {
        fputs(t == 0 ? "<br><span class=\"tie\">within 5 %: " : ", ", out);
        escape_html(out, report->locks[answer->ties[t]->lock].label);
    }
    if (answer->tie_count > ANSWER_TIES)
        fprintf(out, " and %d more", answer->tie_count - ANSWER_TIES);
    fputs(answer->tie_count > 0 ? "</span></td>" : "</td>", out);
}

static void write_question(FILE *out, const struct answers *answers, enum question question) {
    const struct report_group *group = answer_group(answers, question);
    char clients[NUMBER_TEXT_MAX];
    fprintf(out, "<th scope=\"col\">%s", answer_title(question));
    if (group) {
        fprintf(out, "<br><span class=\"unit\">%s client%s</span>",
                number_count_text(group->clients, clients), group->clients == 1 ? "" : "s");
    }
    fputs("</th>", out);
}

void html_answers(FILE *out, const struct report *report, const struct answers *answers) {
    html_section(out, "answer", "Which lock?");
    fputs(
        "<p>The best of the locks that excluded, for each kind of durability. Kinds are not ranked against "
        "each other: "
        "a lock in a server's memory is fast because it promises less when that server dies. Closer than 5 "
        "% is no "
        "difference that one run can show.</p>\n"
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"answers\"><caption>Best of each "
        "durability</caption>"
        "<thead><tr><th scope=\"col\">its state is</th>",
        out);
    for (int q = 0; q < QUESTIONS; q++) write_question(out, answers, (enum question)q);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (int d = 0; d < DURABILITIES; d++) {
        if (!answers->has[d]) continue;
        fprintf(out, "<tr><th scope=\"row\">%s<br><span class=\"unit\">%s</span></th>",
                words_durability_text((enum durability)d),
                words_durability_title((enum durability)d));
        for (int q = 0; q < QUESTIONS; q++) {
            write_answer(out, report, &answers->cell[d][q], (enum question)q);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n</section>\n", out);
}
