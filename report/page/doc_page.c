/* doc_page: see doc_page.h. */
#include "report/page/doc_page.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "bench/base/text.h"
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

static void write_header(const struct doc_page *page, FILE *out) {
    char about[600];
    snprintf(about, sizeof about, "%s", page->about);
    utf8_clean(about); /* it has paths and commands, maybe cut */
    head_title(out, page->command);
    escape_html(out, page->title);
    fputs("</h1>\n<p class=\"meta\">", out);
    escape_html(out, about);
    fputs("</p>\n", out);
    head_close(out, NULL);
}

int doc_page_write(const struct doc_page *page, const struct doc *doc, FILE *out,
                   struct lb_err *err) {
    head_open(out, page->command, page->title);
    write_header(page, out);
    if (doc_write(doc, DOC_HTML, false, out, err) != 0) return -1;
    fputs("</main>\n</body>\n</html>\n", out);
    return output_check(out, "the page", err);
}
