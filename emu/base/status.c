#include <meshemu/status.h>

#include <stddef.h>

struct status_row {
    enum emu_status status;
    const char *name;
    const char *text;
};

static const struct status_row rows[] = {
#define STATUS_ROW(name, value, text) {name, #name, text},
    EMU_STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

static const struct status_row *find(enum emu_status status)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].status == status)
            return &rows[i];
    return NULL;
}

const char *emu_status_name(enum emu_status status)
{
    const struct status_row *row = find(status);
    return row ? row->name : "EMU_?";
}

const char *emu_status_text(enum emu_status status)
{
    const struct status_row *row = find(status);
    return row ? row->text : "unknown status";
}
