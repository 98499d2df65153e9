/* doc_page: see doc_page.h. */
#include "report/page/doc_page.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "bench/base/utf8.h"
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

void doc_page_chart(struct doc *doc, const char *view) {
    char place[100];
    snprintf(place, sizeof place, "<div class=\"view\" data-view=\"%s\" hidden></div>\n", view);
    doc_html(doc, *asset_bundle ? place
                                : "<p class=\"notice\">This lockbench was built without charts: "
                                  "install nodejs and npm, then make.</p>\n");
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

/* The members that the bundle wants of every page (report/src/data.js) are empty. */
static int write_data(const struct doc_page *page, FILE *out, struct lb_err *err) {
    json_t *root = json_pack("{s:[], s:[], s:[], s:[]}", "runs", "locks", "groups", "durabilities");
    char *dump = NULL;
    if (root && json_object_set(root, page->name, (json_t *)page->data) == 0)
        dump = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(root);
    if (!dump) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    fputs("<script type=\"application/json\" id=\"data\">", out);
    escape_script(out, dump);
    fprintf(out, "</script>\n<script>%s</script>\n", asset_bundle);
    free(dump);
    return 0;
}

int doc_page_write(const struct doc_page *page, const struct doc *doc, FILE *out,
                   struct lb_err *err) {
    head_open(out, page->command, page->title);
    write_header(page, out);
    if (doc_write(doc, DOC_HTML, false, out, err) != 0) return -1;
    fputs("</main>\n<footer>\n", out);
    if (page->data && *asset_licences) {
        fputs("<details class=\"fold\"><summary>Licences of what is in this page</summary>"
              "<pre class=\"licences\">",
              out);
        escape_html(out, asset_licences);
        fputs("</pre></details>\n", out);
    }
    fputs("</footer>\n", out);
    if (page->data && *asset_bundle && write_data(page, out, err) != 0) return -1;
    fputs("</body>\n</html>\n", out);
    return output_check(out, "the page", err);
}
