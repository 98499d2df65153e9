/* vars: see vars.h. */
#include "bench/servers/vars.h"

#include <stdarg.h>
#include <stdio.h>

void vars_add(struct vars *vars, const char *format, ...) {
    char *var = vars->text + vars->used;
    size_t room = sizeof vars->text - vars->used;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(var, room, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= room || vars->count == VARS_MAX) return;
    vars->used += (size_t)len + 1;
    vars->list[vars->count++] = var;
}
