/* reference: writes results/FIELDS.md and results/schema/, as `make fields` does.
 * usage: reference FOLDER */
#include <stdio.h>
#include <sys/stat.h>

#include "results/format/reference.h"

int main(int argc, char **argv) {
    char path[600];
    if (argc != 2) return fputs("usage: reference FOLDER\n", stderr), 1;
    snprintf(path, sizeof path, "%s/FIELDS.md", argv[1]);
    FILE *out = fopen(path, "we");
    if (!out) return perror(path), 1;
    reference_write(out);
    if (fclose(out) != 0) return perror(path), 1;
    snprintf(path, sizeof path, "%s/schema", argv[1]);
    mkdir(path, 0777);
    for (const struct result_document *const *document = result_documents; *document; document++) {
        snprintf(path, sizeof path, "%s/schema/%s.schema.json", argv[1], (*document)->name);
        json_t *schema = reference_schema(*document);
        if (json_dump_file(schema, path, JSON_INDENT(1)) != 0) return perror(path), 1;
        json_decref(schema);
    }
    return 0;
}
