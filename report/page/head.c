/* head: see head.h. */
#include "report/page/head.h"

#include "report/doc/escape.h"
#include "report/page/assets.h"

void head_open(FILE *out, const char *name, const char *when) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"generator\" content=\"lockbench\">\n<title>lockbench: ",
          out);
    escape_html(out, name);
    fputs(", ", out);
    escape_html(out, when);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", asset_style);
}

void head_title(FILE *out, const char *command) {
    fputs("<header>\n<p class=\"kicker\">", out);
    escape_html(out, command);
    fputs("</p>\n<h1>", out);
}

void head_close(FILE *out, const struct head_link *links) {
    fputs("</header>\n", out);
    if (links) {
        fputs("<nav aria-label=\"Sections\" tabindex=\"0\">", out);
        for (; links->id; links++)
            fprintf(out, "<a href=\"#%s\"%s>%s</a>", links->id,
                    links->alone ? " class=\"alone\"" : "", links->text);
        fputs("</nav>\n", out);
    }
    fputs("<main>\n", out);
}
