/* test_zookeeper_curator: the ZooKeeper locks beside Curator, ZooKeeper's own WriteLock and kazoo.
 * Needs: servers. */
#include "drivers/tests/story.h"
#include "drivers/tests/zk_stranger.h"

static struct stranger third;
static int64_t used_ns; /* when it was used last */

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

/* A session that nobody pumps ends after 10 s. */
static void nodes(const struct place *at, const char *path, char *answer, size_t size) {
    if (lb_now() > used_ns + 5 * LB_S_NS) {
        struct place *place = (struct place *)(uintptr_t)at;
        if (third.handle) stranger_goes(&third);
        stranger_comes(&(struct live_place){.place = place}, &third, NULL);
    }
    used_ns = lb_now();
    int count = stranger_counts(&third, path);
    if (count > 16) count = 16;
    qsort(third.text, (size_t)count, sizeof third.text[0], by_name);
    answer[0] = '\0';
    for (int i = 0; i < count; i++) {
        size_t used = strlen(answer);
        snprintf(answer + used, size - used, "%s%s", i ? " " : "", third.text[i]);
    }
}

int main(void) {
    static const struct story_word words[] = {{"nodes", nodes}, {NULL, NULL}};
    return story_main("zookeeper", words, NULL);
}
