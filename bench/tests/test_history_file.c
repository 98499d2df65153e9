/* test_history_file: rings that run full, that lose nothing with a killed process, and files that
 * are cut off, foreign, or have no room. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

static struct oplog_record acquire(uint32_t client, int64_t when_ns) {
    return (struct oplog_record){.kind = OPLOG_ACQUIRE,
                                 .client = client,
                                 .begin_ns = when_ns,
                                 .end_ns = when_ns + 1,
                                 .lease_end_ns = LB_NEVER};
}

static struct oplog_record release(uint32_t client, int64_t when_ns) {
    return (struct oplog_record){.kind = OPLOG_RELEASE,
                                 .client = client,
                                 .begin_ns = when_ns,
                                 .end_ns = when_ns + 1,
                                 .lease_end_ns = LB_NEVER};
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
    assert_int_equal(book_begin(book, &file->header.rules, &err), 0);
    assert_int_equal(book_add_file(book, file, &err), 0);
    if (rings) assert_int_equal(book_add_rings(book, history, &err), 0);
    book_end(book, file->header.dropped, file->header.whole);
    assert_int_equal(oplog_judge(book, judgement, NULL, &err), 0);
}

TEST_WITH(test_there_and_back, setup, teardown) {
    struct lb_err err = {0};
    struct oplog_writer *writer = oplog_writer_start(history, path, &rules, "a-lock", &err);
    assert_non_null(writer);
    uint64_t kept = hold_many(&history->rings[0], 1000, 100);
    oplog_mishap(history, OPLOG_STALL, 1, 2, 50, 60);
    oplog_writer_stop(writer, &rules, "a-lock", true, &err);
    oplog_writer_free(writer);
    assert_int_equal(err.code, 0);
    struct oplog_file file;
    struct book book;
    struct judgement judgement;
    assert_int_equal(oplog_open(&file, path, &err), 0);
    assert_int_equal(file.count, 2 * kept + 1);
    assert_string_equal(file.header.lock, "a-lock");
    assert_memory_equal(&file.header.rules, &rules, sizeof rules);
    assert_true(file.header.whole);
    judged(&file, false, &book, &judgement);
    assert_int_equal(book.ops, 2 * kept);
    assert_int_equal(book.mishap_count, 1);
    assert_int_equal(judgement.verdict, OPLOG_CLEAN);
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
    oplog_writer_stop(writer, &rules, "a-lock", true, &err);
    struct oplog_file file;
    struct book book;
    struct judgement judgement;
    assert_int_equal(oplog_reopen(&file, writer, &err), 0);
    judged(&file, false, &book, &judgement);
    assert_int_equal(book.hold_count, 501);
    assert_true(book.holds[500].flags & HOLD_DEAD);
    assert_int_equal(judgement.verdict, OPLOG_CLEAN);
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
    oplog_writer_stop(writer, &rules, "a-lock", true, &err);
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
    assert_false(file.header.whole);
    judged(&file, true, &book, &judgement);
    assert_int_equal(book.ops, 2 * kept);
    assert_int_equal(judgement.verdict, OPLOG_CLEAN);
    book_done(&book);
    oplog_close(&file);
    oplog_writer_free(writer);
}

static void cut(const char *file, size_t length) {
    struct oplog_file opened;
    struct lb_err err = {0};
    assert_int_equal(truncate(file, (off_t)length), 0);
    assert_int_equal(oplog_open(&opened, file, &err), -1);
    assert_int_equal(err.code, LB_EXIT_USAGE);
    assert_non_null(strstr(err.text, file));
    assert_non_null(strstr(err.text, "cut short"));
}

/* A copy that lacks its end is refused: without the last releases its lock would look violated. Of a file that nobody
 * closed the whole records are judged. */
TEST_WITH(test_a_part_of_a_closed_file, setup, teardown) {
    struct lb_err err = {0};
    struct oplog_file file;
    struct oplog_record record;
    for (int whole = 1; whole >= 0; whole--) {
        struct oplog_writer *writer = oplog_writer_start(history, path, &rules, "a-lock", &err);
        hold_many(&history->rings[0], 2, 100);
        oplog_writer_stop(writer, &rules, "a-lock", whole, &err);
        oplog_writer_free(writer);
        size_t length = sizeof file.header + 3 * sizeof record;
        if (whole) {
            cut(path, length + 5); /* in the middle of a record */
            cut(path, length);
            cut(path, sizeof file.header);
            continue;
        }
        assert_int_equal(truncate(path, (off_t)(length + 5)), 0);
        assert_int_equal(oplog_open(&file, path, &err), 0);
        assert_int_equal(file.count, 3);
        oplog_close(&file);
    }
}

/* Nothing can be said of a record that is none. */
TEST_WITH(test_a_record_of_no_known_kind, setup, teardown) {
    struct oplog_record records[] = {acquire(0, 10), acquire(0, 10), acquire(0, 10)};
    records[1].kind = 0;
    records[2].outcome = OPLOG_OUTCOMES;
    for (int i = 0; i < 3; i++) {
        struct lb_err err = {0};
        struct book book;
        struct oplog_file file = {.records = &records[i], .count = 1};
        assert_int_equal(book_begin(&book, &rules, &err), 0);
        assert_int_equal(book_add_file(&book, &file, &err), i == 0 ? 0 : -1);
        if (i > 0) assert_non_null(strstr(err.text, "of no known kind"));
        book_done(&book);
    }
}

static void assert_refused(const void *data, size_t size, int code) {
    struct lb_err err = {0};
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, size, out), size);
    fclose(out);
    struct oplog_file file;
    assert_int_equal(oplog_open(&file, path, &err), -1);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, path));
    oplog_close(&file);
}

/* A pipe that nobody writes into is refused, and not waited for. */
TEST_WITH(test_a_pipe_is_no_history, setup, teardown) {
    struct oplog_file file;
    struct lb_err err = {0};
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(60); /* a hang is a failure */
    assert_int_equal(oplog_open(&file, path, &err), -1);
    alarm(0);
    assert_non_null(strstr(err.text, "is not a history of lockbench"));
    assert_int_equal(err.code, LB_EXIT_USAGE);
    unlink(path);
}

/* The file may be a stranger's, and its lock's name is printed. */
TEST_WITH(test_a_name_commands_no_terminal, setup, teardown) {
    struct oplog_file file;
    struct lb_err err = {0};
    struct oplog_writer *writer = oplog_writer_start(history, path, &rules, "a-lock", &err);
    oplog_writer_stop(writer, &rules, "a\x1b[2J\xc2\x9b\xe2\x80\xae\xffz", true, &err);
    oplog_writer_free(writer);
    assert_int_equal(oplog_open(&file, path, &err), 0);
    assert_string_equal(file.header.lock, "a [2J???z");
    oplog_close(&file);
}

TEST_WITH(test_what_is_no_history, setup, teardown) {
    struct lb_err err = {0};
    struct oplog_header header;
    assert_refused("", 0, LB_EXIT_USAGE);
    assert_refused("LBHISTRY", 8, LB_EXIT_USAGE);
    struct oplog_writer *writer = oplog_writer_start(history, path, &rules, "a-lock", &err);
    oplog_writer_stop(writer, &rules, "a-lock", true, &err);
    oplog_writer_free(writer);
    FILE *in = fopen(path, "r");
    assert_int_equal(fread(&header, sizeof header, 1, in), 1);
    fclose(in);
    for (int i = 0; i < 6; i++) {
        struct oplog_header other = header;
        if (i == 0) other.version = 2;
        if (i == 1) other.byte_order = 0x04030201;
        if (i == 2) other.record_bytes = 64;
        if (i == 3) other.rules.model = 99;
        if (i == 4) other.rules.lease_ns = INT64_MIN;
        if (i == 5) other.rules.clients = UINT32_MAX; /* and no client did anything */
        assert_refused(&other, sizeof other, LB_EXIT_USAGE);
    }
    struct oplog_file file;
    assert_int_equal(oplog_open(&file, "/nowhere/at-all", &err), -1);
    err.code = 0;
    assert_null(oplog_writer_start(history, "/nowhere/at-all", &rules, "a-lock", &err));
    assert_int_equal(err.code, LB_EXIT_MACHINE);
}

TEST_WITH(test_times_that_are_none, setup, teardown) {
    struct lb_err err = {0};
    struct oplog_record record = {
        .kind = OPLOG_ACQUIRE, .begin_ns = 1, .end_ns = 2, .lease_end_ns = -8};
    struct oplog_file file = {.records = &record, .count = 1};
    struct book book = {0};
    assert_int_equal(book_begin(&book, &rules, &err), 0);
    assert_int_equal(book_add_file(&book, &file, &err), -1);
    assert_int_equal(err.code, LB_EXIT_USAGE);
    assert_string_equal(err.text, "the history's record 0 has times that are none");
    book_done(&book);
}

TEST_MAIN(NULL, NULL)
