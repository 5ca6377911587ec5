/* A config from text, and its books. */
#ifndef EMU_TESTS_ACCOUNT_FIXTURE_H
#define EMU_TESTS_ACCOUNT_FIXTURE_H

#include "account/books.h"
#include "config/config.h"

#include <string.h>

struct fixture {
    struct emu_text diagnostics;
    struct emu_config *config;
    struct emu_books books;
    enum emu_status status;
};

static inline void fixture_begin(struct fixture *f, const char *text)
{
    struct emu_config_params params = {
        .name = "case.yaml", .directory = "", .text = text, .size = strlen(text)};
    *f = (struct fixture){0};
    f->status = emu_config_read(&params, &f->diagnostics, &f->config);
    if (f->status == EMU_OK)
        f->status = emu_books_make(f->config, &f->diagnostics, &f->books);
}

static inline void fixture_end(struct fixture *f)
{
    emu_books_finish(&f->books);
    emu_config_destroy(f->config);
    emu_text_finish(&f->diagnostics);
}

#endif
