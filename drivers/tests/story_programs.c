/* story_programs: what a story's lines have done by others: the shell's commands, and programs that are told line by line. See
 * story_verbs.h. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "bench/base/clock.h"
#include "bench/tests/unit.h"
#include "drivers/tests/story_verbs.h"

#define ANSWER_MAX STORY_ANSWER_MAX

/* A program that we talk to through its pipes. They stay for the cases that follow. */
static struct foreign {
    char *line; /* that started it */
    pid_t pid;  /* 0 = it is dead */
    int to, from;
} programs[40];
#define PROGRAMS_MAX (sizeof programs / sizeof *programs)

void story_shell(const char *command, char *answer) {
    FILE *out = popen(command, "r");
    size_t len = out ? fread(answer, 1, ANSWER_MAX - 1, out) : 0;
    int status = out ? pclose(out) : -1;
    bool unfound =
        WIFEXITED(status) && WEXITSTATUS(status) >= 126; /* the command, or no right to run it */
    while (len > 0 && answer[len - 1] == '\n') len--;
    answer[len] = '\0';
    for (char *at = answer; (at = strchr(at, '\n'));) *at = ' ';
    if (unfound) snprintf(answer, ANSWER_MAX, "the shell can't run '%.200s'", command);
}

static void foreign_start(struct foreign *foreign) {
    int in[2], out[2];
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    foreign->pid = fork();
    assert_true(foreign->pid >= 0);
    if (foreign->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        for (int fd = 3; fd < 1024; fd++) close(fd);
        execlp("sh", "sh", "-c", foreign->line, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    foreign->to = in[1];
    foreign->from = out[0];
}

/* The next line that the foreign client writes; "" after 20 s without one. */
static const char *foreign_hear(const struct foreign *foreign) {
    static char line[300];
    size_t len = 0;
    struct pollfd wait = {.fd = foreign->from, .events = POLLIN};
    while (len + 1 < sizeof line && poll(&wait, 1, 20000) > 0 &&
           read(foreign->from, line + len, 1) == 1) {
        if (line[len] == '\n') break;
        len++;
    }
    line[len] = '\0';
    return line;
}

static void foreign_end(struct foreign *foreign) {
    close(foreign->to);
    close(foreign->from);
    kill(foreign->pid, SIGKILL);
    waitpid(foreign->pid, NULL, 0);
}

/* The next line of a program; ours go on meanwhile. */
static void hear(const struct foreign *program, char *answer) {
    struct pollfd wait = {.fd = program->from, .events = POLLIN};
    for (int64_t until_ns = trial_soon(); poll(&wait, 1, 0) == 0 && lb_now() < until_ns;)
        trial_sleep_until(lb_now() + LB_MS_NS);
    snprintf(answer, ANSWER_MAX, "%s", poll(&wait, 1, 0) > 0 ? foreign_hear(program) : "(nothing)");
}

static struct foreign *program_of(const char *command) {
    char answer[ANSWER_MAX], line[ANSWER_MAX];
    size_t i = 0;
    snprintf(line, sizeof line, "exec %s", story_expanded(command));
    while (i < PROGRAMS_MAX && programs[i].line && strcmp(programs[i].line, line) != 0) i++;
    assert_true(i < PROGRAMS_MAX);
    struct foreign *program = &programs[i];
    if (program->pid > 0) return program;
    if (!program->line) program->line = strdup(line);
    foreign_start(program);
    hear(program, answer);
    if (strcmp(answer, "ready") != 0) FAIL("'%s' does not start: %s", command, answer);
    return program;
}

void story_program(const char *command, char *words, char *answer) {
    struct foreign *program = program_of(command);
    struct pollfd wait = {.fd = program->from, .events = POLLIN};
    bool tells = strncmp(words, "tell ", 5) == 0;
    answer[0] = '\0';
    if (strcmp(words, "is silent") == 0) {
        if (poll(&wait, 1, 0) > 0) FAIL("it says '%s'", foreign_hear(program));
        return;
    }
    if (strcmp(words, "dies") == 0) { /* the next line starts another one */
        foreign_end(program);
        program->pid = 0;
        return;
    }
    if (strcmp(words, "says") != 0) {
        char text[ANSWER_MAX];
        int len = snprintf(text, sizeof text, "%s\n", story_expanded(tells ? words + 5 : words));
        if (write(program->to, text, (size_t)len) != len) FAIL("the program is gone");
    }
    if (!tells) hear(program, answer);
}

void story_end_programs(void) {
    for (size_t i = 0; i < PROGRAMS_MAX; i++) {
        if (programs[i].pid > 0) foreign_end(&programs[i]);
        free(programs[i].line);
        programs[i] = (struct foreign){0};
    }
}
