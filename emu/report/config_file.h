/* How does a file become a config? Opens and reads it, then emu_config_read judges the text. */
#ifndef EMU_REPORT_CONFIG_FILE_H
#define EMU_REPORT_CONFIG_FILE_H

#include "config/config.h"

/* EMU_OK with *config for emu_config_destroy. EMU_EPARSE: the file cannot be read, is longer than a
 * config may be (1 MiB) or says something wrong; `diagnostics` then holds whole lines to print.
 * EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_config_file_read(const char *path,
                                                    const struct emu_override *sets,
                                                    size_t set_count, struct emu_text *diagnostics,
                                                    struct emu_config **config);

#endif
