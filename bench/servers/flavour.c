/* flavour: see flavour.h. */
#include "bench/servers/flavour.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* Writes the program's absolute path, since servers have working folders of their own. A mere name is looked for in
 * PATH. Links are not resolved, because a program may behave according to the name by which it is called. */
static int find_program(const char *program, char *ret_path, size_t size, struct lb_err *err) {
    char real[PATH_MAX], tried[PATH_MAX];
    const char *places = getenv("PATH");
    bool found = false;
    if (strchr(program, '/')) {
        char *folder = getcwd(tried, sizeof tried);
        snprintf(real, sizeof real, "%s%s%s",
                 *program == '/' ? ""
                 : folder        ? folder
                                 : "",
                 *program == '/' ? "" : "/", program);
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

/* Where the servers listen, for other hosts. 0, or -1 with err. */
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
    if (!is_ours(address))
        return err_set(
            err, LB_EXIT_USAGE,
            "servers.listen: %s is no address of this machine, on which the servers start: see `ip address`",
            listen);
    strcpy(info->listen, listen);
    return 0;
}

int topo_info_flavour(struct topo_info *info, const struct topo_flavour *flavour,
                      struct lb_err *err) {
    bool other = flavour->program && *flavour->program;
    if (choose_listen(info, flavour->listen, err) != 0) return -1;
    if (other && !*info->program)
        return err_set(
            err, LB_EXIT_USAGE,
            "servers.program: %s can't be started with another program: its script does not offer it",
            info->name);
    if (other) {
        char path[sizeof info->program];
        if (find_program(flavour->program, path, sizeof path, err) != 0) return -1;
        take_out(info->missing, info->program);
        strcpy(info->program, path);
        info->other_program = true;
    }
    return 0;
}
