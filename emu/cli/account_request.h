/* What was asked of `meshemu account`, once everything in it was found to be right? */
#ifndef EMU_CLI_ACCOUNT_REQUEST_H
#define EMU_CLI_ACCOUNT_REQUEST_H

#include "account/claim.h"
#include "account/survival.h"
#include "cli/command_line.h"

#include <stdio.h>

struct emu_account_request {
    struct emu_config *config; /* owned */
    struct emu_books books;
    struct emu_claim claims[EMU_BOOK_CATEGORIES];
    bool has_rank;
    struct emu_rank_class rank; /* where has_rank */
    uint64_t survive;           /* losses to look at; 0: not asked */
    struct emu_survival survival;
};

/* Read the arguments and keep the books; what is wrong is printed. Returns an exit code; 0:
 * *request is to be finished. */
int emu_account_request_read(const struct emu_arguments *arguments,
                             struct emu_account_request *request);
void emu_account_request_finish(struct emu_account_request *request);

/* Read a config that has a mesh and a model; what is wrong is printed. Returns an exit code. */
int emu_account_config_read(const struct emu_arguments *arguments, struct emu_config **config);

/* The whole report. false: a write failed, or memory ran out. */
bool emu_account_write_json(const struct emu_account_request *request, FILE *out);

/* Survival as a table. false: memory ran out. */
bool emu_account_print_survival(const struct emu_account_request *request, FILE *out);

#endif
