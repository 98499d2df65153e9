/* last_words: see last_words.h. It reads only the last 8 KiB of a log. */
#define _GNU_SOURCE
#include "bench/servers/last_words.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAIL_BYTES 8192
#define LINES 3

char *server_log_path(const char *dir, char path[LOG_PATH_MAX]) {
    snprintf(path, LOG_PATH_MAX, "%s.log", dir);
    return path;
}

/* Reads the end of the log into tail (TAIL_BYTES). Returns its length: 0 also where there is no log. */
static size_t read_tail(const char *dir, char *tail) {
    char path[LOG_PATH_MAX];
    int fd = open(server_log_path(dir, path), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    tail[0] = '\0';
    if (fd < 0) return 0;
    off_t end = lseek(fd, 0, SEEK_END);
    ssize_t len =
        pread(fd, tail, TAIL_BYTES - 1, end > TAIL_BYTES - 1 ? end - (TAIL_BYTES - 1) : 0);
    close(fd);
    if (len < 0) len = 0;
    tail[len] = '\0';
    for (ssize_t i = 0; i < len; i++) {
        if (tail[i] == '\0') tail[i] = ' ';
    }
    return (size_t)len;
}

char *last_words(const char *dir, char *text, size_t size) {
    char tail[TAIL_BYTES];
    read_tail(dir, tail);
    const char *lines[LINES] = {0};
    char *rest = tail;
    for (char *line; (line = strsep(&rest, "\r\n"));) {
        line += strspn(line, " \t");
        if (!*line || strncmp(line, "at ", 3) == 0)
            continue; /* a stack frame of Java: the lines before it have the message */
        memmove(lines, lines + 1, (LINES - 1) * sizeof *lines);
        lines[LINES - 1] = line;
    }
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < LINES; i++) {
        if (!lines[i] || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " / " : "", lines[i]);
    }
    return text;
}

bool last_words_blame_port(const char *dir) {
    char tail[TAIL_BYTES];
    read_tail(dir, tail);
    return strcasestr(tail, "address already in use") != NULL;
}

char *status_text(int status, char *text, size_t size) {
    if (WIFSIGNALED(status))
        snprintf(text, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "exit status %d", WEXITSTATUS(status));
    return text;
}
