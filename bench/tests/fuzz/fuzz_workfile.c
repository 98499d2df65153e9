/* fuzz_workfile: a workload file from anywhere: each setting has a section, a key and a line, or the error names
 * the line. */
#include "bench/tests/fuzz/fuzz.h"
#include "bench/workload/workfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[40];
    int fd = input_file(data, size, path);
    struct arena arena = {0};
    struct settings settings = {0};
    struct lb_err err = {0};
    if (workfile_read(path, &arena, &settings, &err) != 0 &&
        strncmp(err.text, path, strlen(path)) != 0)
        abort();
    for (const struct setting *setting = settings.first; setting; setting = setting->next) {
        char source[200];
        if (!setting->section[0] || !setting->key[0] || !setting->value || setting->line < 1)
            abort();
        setting_source(setting, source, sizeof source);
        if (!settings_find(&settings, setting->section, setting->key)) abort();
    }
    arena_done(&arena);
    close(fd);
    return 0;
}
