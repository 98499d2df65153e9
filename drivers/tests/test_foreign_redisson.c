/* test_foreign_redisson: Redisson's locks, field by field, beside another client that is played by hand.
 * Needs: servers. */
#include "drivers/tests/redisson_help.h"
#include "drivers/tests/story.h"

static void hear_all(const struct place *at, const char *words, char *answer, size_t size) {
    (void)at;
    (void)words;
    snprintf(answer, size, "%s", heard());
}

static void see(const struct place *at, const char *words, char *answer, size_t size) {
    (void)at;
    snprintf(answer, size, "%s", seen(words));
}

static void begin(struct place *at) {
    if (hand) listen_no_more();
    place = at;
    if (!listen_in()) fail_msg("no connections by hand");
}

int main(void) {
    static const struct story_word words[] = {{"heard", hear_all}, {"seen", see}, {NULL, NULL}};
    return story_main("redisson", words, begin);
}
