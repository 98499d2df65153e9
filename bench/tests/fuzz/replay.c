/* replay: gives a fuzz target the inputs of a folder, each once, where the fuzzer itself is not there: `make quick` so
 * repeats what the seeds keep. It ends as the target does: an input that breaks the target ends the program. */
#include <dirent.h>

#include "bench/tests/fuzz/fuzz.h"

static uint8_t *read_input(const char *path, size_t *ret_size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    *ret_size = data ? fread(data, 1, (size_t)size, file) : 0;
    fclose(file);
    return data;
}

int main(int argc, char **argv) {
    struct dirent *entry;
    char path[4096];
    int count = 0;
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: replay_TARGET FOLDER\n");
        return 1;
    }
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.') continue;
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        uint8_t *data = read_input(path, &size);
        if (!data) {
            fprintf(stderr, "%s: can't be read\n", path);
            return 1;
        }
        fprintf(stderr, "%s\n", entry->d_name);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
        count++;
    }
    closedir(folder);
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
