/* Read a config in a test: text in, config or diagnostics out. */
#ifndef TESTS_CONFIG_READER_H
#define TESTS_CONFIG_READER_H

#include "base/text.h"
#include "config/config.h"

#include <stddef.h>

struct reading_result {
    enum emu_status status;
    struct emu_config *config; /* NULL unless EMU_OK */
    struct emu_text diagnostics;
};

/* Read NUL-terminated text as "test.yaml" in the directory "place". */
struct reading_result read_text(const char *text);

/* The same with the overrides of a NULL-terminated list. */
struct reading_result read_with(const char *text, const char *const *sets);

/* Read the bytes of a file, named by the last part of its path. Fails the test where the file
 * cannot be opened. */
struct reading_result read_path(const char *path);

void reading_finish(struct reading_result *result);

/* All bytes of a file, NUL-terminated, for free(); NULL where it cannot be opened. */
char *load_file(const char *path, size_t *size);

/* Path beside the tests of this folder ("bad/empty.yaml"); valid until the next call. */
const char *beside(const char *name);

#endif
