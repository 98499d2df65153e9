/* test_history_file: rings that run full, that lose nothing with a killed process, and files that have no room. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench/base/clock.h"
#include "bench/oplog/judge.h"
#include "bench/tests/unit.h"

#define THREADS 2

static struct oplog *history;
static size_t bytes;
static char path[64];
static const struct oplog_rules rules = {
    .model = OPLOG_MUTEX, .bound = 1, .clients = 4, .cut_ns = LB_NEVER, .begin_ns = 7, .end_ns = 9};

FIXTURE(setup) {
    bytes = oplog_bytes(THREADS, true);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    history = oplog_init(memory, THREADS, true);
    snprintf(path, sizeof path, "/tmp/lockbench-history-%d", (int)getpid());
    return 0;
}

FIXTURE(teardown) {
    munmap(history, bytes);
    unlink(path);
    return 0;
}

static struct oplog_record record_of(uint8_t kind, uint32_t client, int64_t when_ns) {
    return (struct oplog_record){.kind = kind,
                                 .client = client,
                                 .begin_ns = when_ns,
                                 .end_ns = when_ns + 1,
                                 .lease_end_ns = LB_NEVER};
}

static struct oplog_record acquire(uint32_t client, int64_t when_ns) {
    return record_of(OPLOG_ACQUIRE, client, when_ns);
}

static struct oplog_record release(uint32_t client, int64_t when_ns) {
    return record_of(OPLOG_RELEASE, client, when_ns);
}

/* One grant after the other, by clients in turn. Returns how many were kept. */
static uint64_t hold_many(struct oplog_ring *ring, int count, int64_t from_ns) {
    uint64_t kept = 0;
    for (int i = 0; i < count; i++) {
        struct oplog_record in = acquire((uint32_t)i % 4, from_ns + 10 * i),
                            out = release((uint32_t)i % 4, from_ns + 10 * i + 5);
        if (!oplog_granted(ring, &in)) continue;
        kept++;
        oplog_released(ring, &out);
    }
    return kept;
}

static void judged(const struct oplog_file *file, bool rings, struct book *book,
                   struct judgement *judgement) {
    struct lb_err err = {0};
    assert_int_equal(book_begin(book, &file->header->rules, &err), 0);
    assert_int_equal(book_add_file(book, file, &err), 0);
    if (rings) assert_int_equal(book_add_rings(book, history, &err), 0);
    book_end(book, file->header->dropped, file->header->whole);
    assert_int_equal(oplog_judge(book, judgement, NULL, &err), 0);
}

TEST_WITH(test_there_and_back, setup, teardown) {
    struct lb_err err = {0};
    struct oplog_writer *writer = oplog_writer_start(history, path, &rules, "a-lock", &err);
    assert_non_null(writer);
    uint64_t kept = hold_many(&history->rings[0], 1000, 100);
    oplog_mishap(history, OPLOG_STALL, 1, 2, 50, 60);
    oplog_writer_stop(writer, &rules, true, &err);
    assert_int_equal(err.code, 0);
    struct oplog_file file;
    struct book book;
    struct judgement judgement;
    assert_int_equal(oplog_reopen(&file, writer, &err), 0);
    oplog_writer_free(writer);
    assert_int_equal(file.count, 2 * kept + 1);
    assert_memory_equal(file.header->magic, OPLOG_MAGIC, sizeof file.header->magic);
    assert_int_equal(file.header->records, 2 * kept + 1);
    assert_string_equal(file.header->lock, "a-lock");
    assert_memory_equal(&file.header->rules, &rules, sizeof rules);
    assert_true(file.header->whole);
    judged(&file, false, &book, &judgement);
    assert_int_equal(book.ops, 2 * kept);
    assert_int_equal(book.mishap_count, 1);
    assert_int_equal(judgement.verdict, VERDICT_CLEAN);
    book_done(&book);
    oplog_close(&file);
}

/* Nobody empties the ring: a grant that finds no room is dropped and counted, and the release of a
 * recorded grant is recorded. */
TEST_WITH(test_a_full_ring_drops_whole_grants, setup, teardown) {
    struct oplog_ring *ring = &history->rings[0];
    int many = (int)ring->room;
    uint64_t kept = hold_many(ring, many, 100);
    assert_int_equal(kept, ring->room / 2);
    assert_int_equal(atomic_load(&ring->dropped), (uint64_t)many - kept);
    assert_int_equal(atomic_load(&ring->head), 2 * kept);
    /* Nor is there room for anything else. */
    struct oplog_record busy = acquire(1, 5);
    busy.outcome = OPLOG_BUSY;
    oplog_note(ring, &busy);
    assert_int_equal(atomic_load(&ring->dropped), (uint64_t)many - kept + 1);
}

/* Tries fill it while somebody holds: the release has its room all the same. */
TEST_WITH(test_a_release_always_finds_its_room, setup, teardown) {
    struct oplog_ring *ring = &history->rings[1];
    struct oplog_record in = acquire(0, 10), out = release(0, 20), busy = acquire(1, 12);
    busy.outcome = OPLOG_BUSY;
    assert_true(oplog_granted(ring, &in));
    for (uint32_t i = 0; i < 2 * ring->room; i++) oplog_note(ring, &busy);
    assert_int_equal(atomic_load(&ring->head), ring->room - 1);
    oplog_released(ring, &out);
    assert_int_equal(atomic_load(&ring->head), ring->room);
    const struct oplog_record *last = &ring->records[ring->room - 1];
    assert_int_equal(last->kind, OPLOG_RELEASE);
}

/* What a process wrote before it was killed is there, to its last record. */
TEST_WITH(test_a_killed_process_loses_nothing, setup, teardown) {
    struct lb_err err = {0};
    pid_t pid = fork();
    if (pid == 0) {
        hold_many(&history->rings[1], 500, 100);
        struct oplog_record in = acquire(3, 90000);
        oplog_granted(&history->rings[1], &in);
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    struct oplog_writer *writer = oplog_writer_start(history, NULL, &rules, "a-lock", &err);
    assert_non_null(writer);
    oplog_mishap(history, OPLOG_DEATH, 0, 4, 95000, 95000);
    oplog_writer_stop(writer, &rules, true, &err);
    struct oplog_file file;
    struct book book;
    struct judgement judgement;
    assert_int_equal(oplog_reopen(&file, writer, &err), 0);
    judged(&file, false, &book, &judgement);
    assert_int_equal(book.hold_count, 501);
    assert_true(book.holds[500].flags & HOLD_DEAD);
    assert_int_equal(judgement.verdict, VERDICT_CLEAN);
    book_done(&book);
    oplog_close(&file);
    oplog_writer_free(writer);
}

/* A full disk is reported, and the records that are left in the rings are judged with the
 * others. */
TEST_WITH(test_no_room_on_disk, setup, teardown) {
    struct lb_err err = {0};
    struct rlimit old, small;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGXFSZ, &ignore, &before);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 16384;
    setrlimit(RLIMIT_FSIZE, &small);
    struct oplog_writer *writer = oplog_writer_start(history, path, &rules, "a-lock", &err);
    uint64_t kept = hold_many(&history->rings[0], 1000, 100);
    oplog_writer_stop(writer, &rules, true, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    sigaction(SIGXFSZ, &before, NULL);
    assert_int_equal(err.code, LB_EXIT_MACHINE);
    assert_non_null(strstr(err.text, path));
    struct oplog_file file;
    struct book book;
    struct judgement judgement;
    err.code = 0;
    assert_int_equal(oplog_reopen(&file, writer, &err), 0);
    assert_true(file.count < 2 * kept);
    assert_false(file.header->whole);
    judged(&file, true, &book, &judgement);
    assert_int_equal(book.ops, 2 * kept);
    assert_int_equal(judgement.verdict, VERDICT_CLEAN);
    book_done(&book);
    oplog_close(&file);
    oplog_writer_free(writer);
}

TEST_WITH(test_a_file_that_can_not_be_written, setup, teardown) {
    struct lb_err err = {0};
    assert_null(oplog_writer_start(history, "/nowhere/at-all", &rules, "a-lock", &err));
    assert_int_equal(err.code, LB_EXIT_MACHINE);
}

TEST_MAIN(NULL, NULL)
