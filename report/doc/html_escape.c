/* html_escape: texts from elsewhere, made harmless for a page. See html_parts.h. */
#include "report/doc/screen.h"
#include "report/page/html_parts.h"

void html_text(FILE *out, const char *text) {
    if (!text) text = NUMBER_NONE;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        switch (c) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            if ((c & 0xC0) != 0x80 && c != '\n' && screen_is_control(text)) {
                fputc(' ', out);
                while (((unsigned char)text[1] & 0xC0) == 0x80) text++;
            } else {
                fputc(c, out);
            }
        }
    }
}

void html_json(FILE *out, const char *json) {
    /* These occur in JSON only inside texts, where an escape means the same. */
    for (; *json; json++) {
        switch (*json) {
        case '<':
            fputs("\\u003c", out);
            break;
        case '>':
            fputs("\\u003e", out);
            break;
        case '&':
            fputs("\\u0026", out);
            break;
        default:
            fputc(*json, out);
        }
    }
}
