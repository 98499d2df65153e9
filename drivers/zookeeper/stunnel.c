/* stunnel: see session.h. The ports are opened here and handed over as systemd does (LISTEN_FDS), so that no
 * other program can take one meanwhile. */
#define _GNU_SOURCE
#include "drivers/zookeeper/session.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/process.h"
#include "drivers/driver.h"
#include "drivers/facts.h"

#define START_NS (10 * LB_S_NS)
#define LOG_BYTES (4 << 20) /* the most bytes of the log; later lines are lost */
/* the most bytes of the log that are read at once; the machine's authorities take a line each */
#define LOOK_BYTES 65536
#define FIRST_FD 3  /* of the ports, by systemd's rule */
#define SPARE_FD 64 /* above all descriptors that the child arranges */

static bool find_program(char *path, size_t size) {
    static const char *const places[] = {"/usr/bin/stunnel4", "/usr/bin/stunnel",
                                         "/usr/local/bin/stunnel", "/usr/sbin/stunnel"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (access(places[i], X_OK) != 0) continue;
        snprintf(path, size, "%s", places[i]);
        return true;
    }
    return false;
}

/* The machine's authorities. NULL = none known. */
static const char *machine_ca(void) {
    static const char *const places[] = {"/etc/ssl/certs/ca-certificates.crt",
                                         "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (access(places[i], R_OK) == 0) return places[i];
    }
    return NULL;
}

static int open_port(int *ret_port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (bind(fd, (struct sockaddr *)&at, len) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) != 0) {
        close(fd);
        return -1;
    }
    *ret_port = ntohs(at.sin_port);
    return fd;
}

/* Writes a line of the configuration. False if it is too long, or if a value contains a line end,
 * which would make it two lines. */
__attribute__((format(printf, 2, 3))) static bool write_setting(int fd, const char *format, ...) {
    char line[1200];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof line - 1 || strpbrk(line, "\r\n")) return false;
    line[len++] = '\n';
    return write(fd, line, (size_t)len) == len;
}

static bool say_service(int fd, const struct stunnel *stunnel, int i, const struct lb_tls *tls) {
    const char *host = stunnel->to[i].host, *ca = tls->ca ? tls->ca : machine_ca();
    struct in6_addr number;
    bool is_ipv6 = inet_pton(AF_INET6, host, &number) == 1;
    bool is_number = is_ipv6 || inet_pton(AF_INET, host, &number) == 1;
    bool good = write_setting(fd, "[server%d]", i) && write_setting(fd, "client = yes") &&
                write_setting(fd, "accept = 127.0.0.1:%d", stunnel->to[i].local_port) &&
                write_setting(fd, "connect = %s:%d", host, stunnel->to[i].port) &&
                write_setting(fd, "sslVersionMin = TLSv1.2") &&
                write_setting(fd, "TIMEOUTclose = 0");
    if (good && !is_number) good = write_setting(fd, "sni = %s", host);
    if (good && tls->verify != LB_TLS_NONE)
        good = write_setting(fd, "verifyChain = yes") && write_setting(fd, "CAfile = %s", ca);
    if (good && tls->verify == LB_TLS_FULL)
        good = write_setting(fd, is_number ? "checkIP = %s" : "checkHost = %s", host);
    if (good && tls->cert)
        good = write_setting(fd, "cert = %s", tls->cert) &&
               write_setting(fd, "key = %s", lb_tls_key(tls));
    return good;
}

/* Writes the configuration into a file without a name. Its descriptor, or -1 with err. */
static int write_config_file(const struct stunnel *stunnel, const struct lb_tls *tls,
                             struct lb_err *err) {
    int fd = memfd_create("stunnel configuration", MFD_CLOEXEC);
    bool good = fd >= 0 && write_setting(fd, "foreground = yes") && write_setting(fd, "pid =") &&
                write_setting(fd, "debug = 6") && write_setting(fd, "socket = l:TCP_NODELAY=1") &&
                write_setting(fd, "socket = r:TCP_NODELAY=1");
    for (int i = 0; i < stunnel->count && good; i++) good = say_service(fd, stunnel, i, tls);
    if (good && lseek(fd, 0, SEEK_SET) == 0) return fd;
    if (fd >= 0) close(fd);
    return err_set(
        err, LB_EXIT_USAGE,
        "zookeeper: a host or a file name of a tls_ option is too long for stunnel, or has a line end");
}

/* Arranges the descriptors of the child: 0 is the configuration, 1 and 2 are the log, and the ports
 * begin at 3. */
static _Noreturn void exec_stunnel(const char *program, const struct stunnel *stunnel, int file,
                                   const int *ports) {
    char pid[32], count[32];
    int spare[STUNNEL_PORTS_MAX];
    struct rlimit limit = {LOG_BYTES, LOG_BYTES};
    setsid(); /* Ctrl-C is for lockbench, which ends its sessions properly first */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != stunnel->owner) _exit(1);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < stunnel->count; i++) spare[i] = fcntl(ports[i], F_DUPFD, SPARE_FD);
    file = fcntl(file, F_DUPFD, SPARE_FD);
    int log = fcntl(stunnel->log, F_DUPFD, SPARE_FD);
    for (int i = 0; i < stunnel->count; i++) dup2(spare[i], FIRST_FD + i);
    dup2(file, 0);
    dup2(log, 1);
    dup2(log, 2);
    close_range(FIRST_FD + (unsigned)stunnel->count, ~0U, 0);
    snprintf(pid, sizeof pid, "LISTEN_PID=%d", (int)getpid());
    snprintf(count, sizeof count, "LISTEN_FDS=%d", stunnel->count);
    char *const args[] = {(char *)(uintptr_t)program, (char *)"-fd", (char *)"0", NULL};
    char *const env[] = {pid, count, NULL};
    execve(program, args, env);
    _exit(127);
}

/* Reads the log from an offset, as a string. */
static void read_log(const struct stunnel *stunnel, off_t since, char *text, size_t size) {
    ssize_t len = pread(stunnel->log, text, size - 1, since);
    text[len > 0 ? len : 0] = '\0';
}

/* The message of a log line, without its time and level. */
static void cut_line(const char *line, char *out, size_t size) {
    size_t len = strcspn(line, "\n");
    const char *text = memmem(line, len, "]: ", 3);
    if (text) len -= (size_t)(text + 3 - line);
    snprintf(out, size, "%.*s", (int)len, text ? text + 3 : line);
}

/* Finds the first line of a log that has this level ('3' error, '4' warning) and contains a word
 * ("" = any), and copies its message. */
static bool find_line(const char *log, char level, const char *word, char *out, size_t size) {
    char mark[8] = "LOG?[";
    mark[3] = level;
    for (const char *at = log; (at = strstr(at, mark)); at += strlen(mark)) {
        cut_line(at, out, size);
        if (strstr(out, word)) return true;
    }
    return false;
}

static int wait_ready(struct stunnel *stunnel, const struct lb_tls *tls, struct lb_err *err) {
    char log[LOOK_BYTES], line[300] = "it ended at once";
    for (int64_t until_ns = lb_now() + START_NS; lb_now() < until_ns; lb_nap(LB_MS_NS)) {
        bool ended = waitpid(stunnel->pid, NULL, WNOHANG) == stunnel->pid;
        read_log(stunnel, 0, log, sizeof log);
        if (strstr(log, "Configuration successful") && !ended) return 0;
        if (!ended) continue;
        stunnel->pid = 0;
        find_line(log, '3', "", line, sizeof line);
        return err_set(err, LB_EXIT_USAGE, "zookeeper: stunnel does not start: %s%s", line,
                       lb_tls_advice(line, tls));
    }
    return err_set(err, LB_EXIT_MACHINE, "zookeeper: stunnel does not start in time");
}

int stunnel_start(struct stunnel *stunnel, const struct lb_tls *tls, struct lb_err *err) {
    char program[64];
    int ports[STUNNEL_PORTS_MAX], opened = 0, file = -1, result = -1;
    if (!find_program(program, sizeof program))
        return err_set(err, LB_EXIT_MACHINE,
                       "zookeeper: TLS goes through stunnel, which is missing: install stunnel4");
    if (tls->verify != LB_TLS_NONE && !tls->ca && !machine_ca())
        return err_set(err, LB_EXIT_USAGE,
                       "zookeeper: this machine has no list of authorities: set zookeeper.tls_ca");
    stunnel->owner = getpid();
    stunnel->log = memfd_create("stunnel log", MFD_CLOEXEC);
    for (; opened < stunnel->count; opened++) {
        ports[opened] = open_port(&stunnel->to[opened].local_port);
        if (ports[opened] < 0) break;
    }
    if (stunnel->log < 0 || opened < stunnel->count) {
        err_set(err, LB_EXIT_MACHINE, "zookeeper: can't open a port for stunnel: %s",
                strerror(errno));
        goto out;
    }
    file = write_config_file(stunnel, tls, err);
    if (file < 0) goto out;
    stunnel->pid = fork();
    if (stunnel->pid == 0) exec_stunnel(program, stunnel, file, ports);
    if (stunnel->pid < 0)
        err_set(err, LB_EXIT_MACHINE, "zookeeper: stunnel: %s%s", strerror(errno),
                too_many_remedy(errno));
    else
        result = wait_ready(stunnel, tls, err);
out:
    if (file >= 0) close(file);
    while (opened > 0) close(ports[--opened]);
    return result;
}

void stunnel_stop(struct stunnel *stunnel) {
    if (!stunnel->owner) return;
    if (stunnel->pid > 0 && stunnel->owner == getpid()) {
        kill(stunnel->pid, SIGKILL);
        waitpid(stunnel->pid, NULL, 0);
    }
    if (stunnel->log >= 0) close(stunnel->log);
    stunnel->pid = stunnel->owner = 0;
}

off_t stunnel_mark(const struct stunnel *stunnel) {
    off_t at = stunnel->owner ? lseek(stunnel->log, 0, SEEK_END) : 0;
    return at > 0 ? at : 0;
}

bool stunnel_trouble(const struct stunnel *stunnel, const struct lb_tls *tls, off_t since,
                     char *ret_why, size_t size) {
    static const struct {
        char level;
        const char *word;
    } kinds[] = {{'4', "CERT:"}, {'3', "SSL_connect"}, {'3', "alert"}, {'3', "s_connect"}};
    char log[LOOK_BYTES], line[300];
    if (!stunnel->owner) return false;
    read_log(stunnel, since, log, sizeof log);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!find_line(log, kinds[i].level, kinds[i].word, line, sizeof line)) continue;
        snprintf(ret_why, size, "%s%s", line, lb_tls_advice(line, tls));
        return true;
    }
    return false;
}

void stunnel_facts(const struct stunnel *stunnel, const struct lb_tls *tls,
                   struct lb_facts *facts) {
    static const char mark[] = " ciphersuite: ";
    char log[LOOK_BYTES], protocol[16] = "TLS", cipher[64] = "", version[80];
    if (!stunnel->owner) {
        lb_facts_encryption(facts, tls, NULL, NULL);
        return;
    }
    read_log(stunnel, 0, log, sizeof log);
    const char *at = strstr(log, mark), *start = at;
    while (start && start > log && start[-1] != ' ') start--;
    if (at) {
        snprintf(protocol, sizeof protocol, "%.*s", (int)(at - start), start);
        at += strlen(mark);
        snprintf(cipher, sizeof cipher, "%.*s", (int)strcspn(at, " \n"), at);
    }
    lb_facts_encryption(facts, tls, protocol, cipher);
    at = strstr(log, "]: stunnel ");
    snprintf(version, sizeof version, "%.*s", at ? (int)strcspn(at + 3, "\n") : 7,
             at ? at + 3 : "stunnel");
    if (strstr(version, " on ")) *strstr(version, " on ") = '\0';
    lb_fact(facts, "tls_by", "%s, a process of this host that each request goes through", version);
}
