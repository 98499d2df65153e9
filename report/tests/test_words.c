/* test_words: the words for states and durabilities. */
#include "report/run/words.h"
#include "report/tests/report_help.h"

/* In tables, sentences and the page that explains them. */
TEST(each_state_has_one_word) {
    char *page = read_whole("report/READING.md"), row[64];
    assert_non_null(page);
    for (int word = LOCK_BASELINE; word <= LOCK_VIOLATED; word++) {
        snprintf(row, sizeof row, "\n  | `%s` | ", words_state((enum lock_state)word));
        has(page, row);
    }
    free(page);
}

/* The class is a field. No sentence beside it, and no topology, says anything of it. */
TEST(the_durability_class_is_a_field) {
    static const struct {
        const char *topology, *durability, *class;
        enum durability expect;
    } cases[] = {
        {"embedded", "nothing to lose", "none", DURABILITY_NONE},
        {"redis", "on disk before each answer", "memory", DURABILITY_MEMORY},
        {"nats", "reworded", "log", DURABILITY_LOG},
        {"url", "in memory", "disk", DURABILITY_DISK},
        {"redis", "in memory, nothing is written", NULL, DURABILITY_UNKNOWN},
        {"embedded", "none", NULL, DURABILITY_UNKNOWN},
        {"redis", "in memory", "no such class", DURABILITY_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_stage stage = {.topology = cases[i].topology,
                                  .durability = cases[i].durability,
                                  .durability_note = "kept in memory",
                                  .durability_class = cases[i].class};
        assert_int_equal(words_durability(&stage), cases[i].expect);
    }
}

TEST_MAIN(NULL, NULL)
