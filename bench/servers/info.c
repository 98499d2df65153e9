/* info: see info.h. */
#include "bench/servers/info.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/verdict.h"
#include "bench/option/option.h"
#include "bench/servers/spawn.h"

#define INFO_NS (10 * LB_S_NS) /* for a script to tell */
#define WEIGHT_MAX 100

const char *const topo_durability_names[TOPO_DURABILITIES] = {"default", "none", "sync"};

/* A text in a member that is an array of .max bytes. */
static int read_chars(const struct option_into *into, const char *text, struct lb_err *err) {
    if ((double)strlen(text) >= into->option->max)
        return err_set(err, LB_EXIT_MACHINE, "the value is too long");
    strcpy(into->at, text);
    return 0;
}

static int read_signal(const struct option_into *into, const char *text, struct lb_err *err) {
    static const int signals[] = {SIGTERM, SIGINT, SIGQUIT, SIGKILL};
    int index;
    if (text_choice(text, "TERM,INT,QUIT,KILL", &index, err)) return -1;
    *(int *)into->at = signals[index];
    return 0;
}

static const struct lb_option_type type_chars = {.read = read_chars},
                                   type_signal = {.read = read_signal};

#define KEY(name, type, member, ...)                                                               \
    { name, type, offsetof(struct topo_info, member), __VA_ARGS__ }
#define NUMBER(name, member, most) KEY(name, LB_OPT_INT32, member, NULL, 1, most, NULL, NULL)
#define YES(name, member) KEY(name, LB_OPT_BOOL8, member, NULL, 0, 0, NULL, NULL)
#define TEXT(name, member)                                                                         \
    KEY(name, &type_chars, member, NULL, 0, sizeof((struct topo_info *)0)->member, NULL, NULL)
#define DURABILITY(name, index)                                                                    \
    TEXT("durability_" name, durability[index].text),                                              \
        TEXT("durability_class_" name, durability[index].class),                                   \
        TEXT("refused_" name, durability[index].refused)

static const struct lb_option keys[] = {
    TEXT("summary", summary),
    TEXT("missing", missing),
    TEXT("install", install),
    TEXT("act_missing", act_missing),
    TEXT("act_install", act_install),
    TEXT("user", user),
    TEXT("url", url),
    TEXT("url_tls", url_tls),
    TEXT("acts", acts),
    TEXT("library", library),
    TEXT("program", program),
    DURABILITY("default", TOPO_DEFAULT),
    DURABILITY("none", TOPO_NONE),
    DURABILITY("sync", TOPO_SYNC),
    NUMBER("nodes", nodes, TOPO_NODES_MAX),
    NUMBER("ports", ports, TOPO_PORTS_MAX),
    NUMBER("weight", weight, WEIGHT_MAX),
    NUMBER("connections", connections, INT_MAX),
    NUMBER("warm", warm_s, INT_MAX),
    YES("clock", clock),
    YES("written_by_calls", written_by_calls),
    YES("fsyncs", fsyncs),
    YES("listen", listen_offered),
    KEY("stop_signal", &type_signal, stop_signal, NULL, 0, 0, NULL, NULL),
    /* each by the TOPO_WIRED_ bits of its number */
    KEY("wired", LB_OPT_CHOICE32, wired, NULL, 0, 0, "no,clients,peers,clients peers", NULL),
    {0},
};

/* Of alternative packages (a|b), messages name the first one. */
static void keep_first_choices(char *packages) {
    char *to = packages;
    bool other = false;
    for (const char *from = packages; *from; from++) {
        other = *from == '|' || (other && *from != ' ');
        if (!other) *to++ = *from;
    }
    *to = '\0';
}

/* Checks that the script printed everything that is needed. */
static int check_info(const struct topo_info *info, struct lb_err *err) {
    if (strchr(info->library, '/'))
        return err_set(err, LB_EXIT_MACHINE, "library: it is no name of a file");
    if (!info->nodes || !info->ports || !*info->url || !*info->durability[TOPO_DEFAULT].text)
        return err_set(err, LB_EXIT_MACHINE, "nodes, ports, url and durability_default are needed");
    if (strchr(info->url, ' ') || strchr(info->url_tls, ' '))
        return err_set(err, LB_EXIT_MACHINE, "url: one URL, without a blank");
    for (int i = 0; i < TOPO_DURABILITIES; i++) {
        const struct topo_durability *durability = &info->durability[i];
        if (!*durability->text || durability_from(durability->class) != DURABILITY_UNKNOWN)
            continue;
        return err_set(err, LB_EXIT_MACHINE,
                       "durability_class_%s: \"%s\" is none of none, memory, log, disk",
                       topo_durability_names[i], durability->class);
    }
    return 0;
}

/* Reads the KEY=VALUE lines, in place. */
static int parse_info(struct topo_info *info, char *text, struct lb_err *err) {
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        struct lb_err why = {0};
        if (!*line) continue;
        char *value = strchr(line, '=');
        if (!value) return err_set(err, LB_EXIT_MACHINE, "\"%s\" is not KEY=VALUE", line);
        *value++ = '\0';
        const struct lb_option *key = options_find(keys, line);
        if (!key) return err_set(err, LB_EXIT_MACHINE, "%s: unknown key", line);
        if (option_read(key, info, value, NULL, &why) != 0)
            return err_set(err, LB_EXIT_MACHINE, "%s: %s", line, why.text);
    }
    keep_first_choices(info->install);
    keep_first_choices(info->act_install);
    return check_info(info, err);
}

/* Puts the secret in place of %SECRET%. */
static int fill_secret(const struct topo_info *info, char *url, size_t size, struct lb_err *err) {
    static const char mark[] = "%SECRET%";
    const size_t len = sizeof mark - 1, filled = sizeof info->secret - 1;
    for (char *at; (at = strstr(url, mark));) {
        if (strlen(url) + filled - len >= size)
            return err_set(err, LB_EXIT_MACHINE, "url: the value is too long");
        memmove(at + filled, at + len, strlen(at + len) + 1);
        memcpy(at, info->secret, filled);
    }
    return 0;
}

static int make_secret(struct topo_info *info, struct lb_err *err) {
    unsigned char bytes[(sizeof info->secret - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return err_set(err, LB_EXIT_MACHINE, "no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(info->secret + 2 * i, 3, "%02x", bytes[i]);
    if (fill_secret(info, info->url, sizeof info->url, err) != 0) return -1;
    return fill_secret(info, info->url_tls, sizeof info->url_tls, err);
}

int topo_info(const char *folder, const char *name, struct topo_info *ret_info,
              struct lb_err *err) {
    struct topo_info info = {.stop_signal = SIGTERM, .weight = 1, .wired = TOPO_WIRED_CLIENTS};
    char path[PATH_MAX];
    if (!*name || strchr(name, '/') || strlen(name) >= sizeof info.name)
        return err_set(err, LB_EXIT_USAGE, "\"%s\" is no name of a topology", name);
    strcpy(info.name, name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (strlen(path) >= sizeof info.script)
        return err_set(err, LB_EXIT_MACHINE, "%s: the path is too long", path);
    strcpy(info.script, path);
    if (access(path, R_OK) != 0)
        return err_set(err, LB_EXIT_MACHINE, "topology \"%s\": %s: %s", name, path,
                       strerror(errno));
    static const struct account present; /* it is not changed */
    const struct spawn spawn = {.script = path, .account = &present, .stop_signal = SIGKILL};
    char *text = spawn_act(&spawn, (const char *const[]){"info", NULL, NULL}, INFO_NS, err);
    int result = text ? parse_info(&info, text, err) : -1;
    if (result == 0) result = make_secret(&info, err);
    free(text);
    if (result != 0) {
        err_prefix(err, "topology \"%s\": %s info", name, path);
        return -1;
    }
    *ret_info = info;
    return 0;
}

void topo_fill_url(const struct topo_info *info, const int *ports, char *ret_url, size_t size) {
    size_t used = 0;
    for (const char *c = info->url; *c && used + sizeof "65535" < size;) {
        int node = 0, len = 0;
        if (strncmp(c, "%PORT%", 6) == 0)
            len = 6;
        else if (sscanf(c, "%%PORT%d%%%n", &node, &len) != 1 || node < 0 || node >= info->nodes)
            len = 0;
        if (len == 0)
            ret_url[used++] = *c++;
        else
            used += (size_t)snprintf(ret_url + used, size - used, "%d", ports[node * info->ports]);
        c += len;
    }
    ret_url[used] = '\0';
}

int topo_info_tls(struct topo_info *info, struct lb_err *err) {
    if (!*info->url_tls)
        return err_set(err, LB_EXIT_USAGE,
                       "%s can't be started with TLS: its script does not offer it", info->name);
    strcpy(info->url, info->url_tls);
    info->tls = true;
    return 0;
}

bool topo_offers(const struct topo_info *info, const char *act) {
    char acts[sizeof info->acts];
    strcpy(acts, info->acts);
    char *rest = acts;
    for (char *word; (word = strsep(&rest, " "));) {
        if (*word && strcmp(word, act) == 0) return true;
    }
    return false;
}

const struct topo_durability *topo_durability_of(const struct topo_info *info, const char *setting,
                                                 struct lb_err *err) {
    for (int i = 0; i < TOPO_DURABILITIES; i++) {
        const struct topo_durability *durability = &info->durability[i];
        if (strcmp(setting, topo_durability_names[i]) != 0) continue;
        if (*durability->text) return durability;
        err_set(err, LB_EXIT_USAGE, "%s can't run with durability \"%s\": %s", info->name, setting,
                *durability->refused ? durability->refused : "its script does not offer it");
        return NULL;
    }
    err_set(err, LB_EXIT_USAGE, "durability \"%s\" is none of default, none, sync", setting);
    return NULL;
}

/* --- flavour --- */

static bool is_program(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* Writes the program's absolute path, since servers have working folders of their own. A mere name is looked for in
 * PATH. Links are not resolved, because a program may behave according to the name by which it is called. */
static int find_program(const char *program, char *ret_path, size_t size, struct lb_err *err) {
    char real[2 * PATH_MAX], tried[PATH_MAX];
    const char *places = getenv("PATH");
    bool found = false;
    if (strchr(program, '/')) {
        if (*program == '/' || !getcwd(tried, sizeof tried)) *tried = '\0';
        snprintf(real, sizeof real, "%s%s%s", tried, *tried ? "/" : "", program);
        found = is_program(program);
    } else {
        for (const char *at = places ? places : ""; *at && !found; at += *at == ':') {
            size_t len = strcspn(at, ":");
            snprintf(tried, sizeof tried, "%.*s/%s", (int)len, at, program);
            found = *tried == '/' && is_program(tried);
            if (found) snprintf(real, sizeof real, "%s", tried);
            at += len;
        }
    }
    if (!found || strlen(real) >= size)
        return err_set(err, LB_EXIT_MACHINE, "servers.program: there is no program %.200s",
                       program);
    strcpy(ret_path, real);
    return 0;
}

/* Removes a name from a list such as "redis-server 7, redis-cli": the text from the name up to the comma. */
static void take_out(char *list, const char *name) {
    char kept[256] = "";
    size_t used = 0;
    for (char *rest = list, *word; (word = strsep(&rest, ","));) {
        word += strspn(word, " ");
        if (!*word || strncmp(word, name, strlen(name)) == 0) continue;
        used += (size_t)snprintf(kept + used, sizeof kept - used, used ? ", %s" : "%s", word);
    }
    strcpy(list, kept);
}

/* Whether an address is one of this machine. */
static bool is_ours(struct in_addr address) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = address};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ours =
        fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) == 0 || errno != EADDRNOTAVAIL;
    if (fd >= 0) close(fd);
    return ours;
}

/* Where the servers listen, for other machines. 0, or -1 with err. */
static int choose_listen(struct topo_info *info, const char *listen, struct lb_err *err) {
    struct in_addr address;
    if (!listen || !*listen) return 0;
    if (!info->listen_offered)
        return err_set(
            err, LB_EXIT_USAGE,
            "servers.listen: the servers of %s can't be reached from other hosts: start them yourself, and use --url",
            info->name);
    if (strlen(listen) >= sizeof info->listen || inet_pton(AF_INET, listen, &address) != 1)
        return err_set(err, LB_EXIT_USAGE,
                       "servers.listen: \"%.60s\" is no IPv4 address, such as 10.0.0.1", listen);
    if (address.s_addr == htonl(INADDR_ANY) || !is_ours(address))
        return err_set(
            err, LB_EXIT_USAGE,
            "servers.listen: %s is no address of this machine, on which the servers start: see `ip address`",
            listen);
    /* At 127.0.0.1 each server listens anyway, and at most once. */
    if (address.s_addr != htonl(INADDR_LOOPBACK)) strcpy(info->listen, listen);
    return 0;
}

int topo_info_flavour(struct topo_info *info, const char *program, const char *listen,
                      struct lb_err *err) {
    bool other = program && *program;
    if (choose_listen(info, listen, err) != 0) return -1;
    if (other && !*info->program)
        return err_set(
            err, LB_EXIT_USAGE,
            "servers.program: %s can't be started with another program: its script does not offer it",
            info->name);
    if (other) {
        char path[sizeof info->program];
        if (find_program(program, path, sizeof path, err) != 0) return -1;
        take_out(info->missing, info->program);
        strcpy(info->program, path);
        info->other_program = true;
    }
    return 0;
}
