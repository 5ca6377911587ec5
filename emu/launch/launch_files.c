#include "launch/launch_files.h"

#include "report/record_json.h"

#include <stdlib.h>
#include <string.h>

static const char *asked_for(const char *name)
{
    const char *path = getenv(name);
    return path && *path ? path : NULL;
}

/* Print why, if there is something to say; the text is finished. */
static enum emu_status tell(const char *name, enum emu_status status, struct emu_text *error)
{
    if (status != EMU_OK)
        fprintf(stderr, "meshemu: %s: %s\n", name,
                error->size ? emu_text_get(error) : emu_status_text(status));
    emu_text_finish(error);
    return status;
}

static enum emu_status open_one(const char *name, struct emu_json_output *output, bool *on_stdout)
{
    const char *path = asked_for(name);
    struct emu_text error = {0};
    if (!path)
        return EMU_OK;
    *on_stdout = *on_stdout || !strcmp(path, "-");
    return tell(name, emu_json_output_open(output, path, &error), &error);
}

enum emu_status emu_launch_files_open(struct emu_launch_files *files)
{
    *files = (struct emu_launch_files){0};
    enum emu_status status = open_one("MESHEMU_JSON", &files->json, &files->on_stdout);
    if (status == EMU_OK)
        status = open_one("MESHEMU_RECORD", &files->record, &files->on_stdout);
    if (status != EMU_OK)
        emu_launch_files_discard(files);
    return status;
}

static enum emu_status write_json(struct emu_launch_files *files,
                                  const struct emu_launch_report *report)
{
    struct emu_text error = {0};
    struct emu_json json;
    if (!files->json.stream)
        return EMU_OK;
    emu_json_init_file(&json, files->json.stream);
    emu_launch_to_json(report, &json);
    return tell("MESHEMU_JSON", emu_json_output_end(&files->json, &json, &error), &error);
}

static enum emu_status write_record(struct emu_launch_files *files,
                                    const struct emu_launch_report *report)
{
    struct emu_text error = {0};
    enum emu_status status =
        emu_record_write(report->result, report->roster->mesh, "launch", &files->record, &error);
    return tell("MESHEMU_RECORD", status, &error);
}

enum emu_status emu_launch_files_write(struct emu_launch_files *files,
                                       const struct emu_launch_report *report)
{
    enum emu_status status = write_json(files, report);
    enum emu_status record = write_record(files, report);
    emu_launch_files_discard(files);
    return status ? status : record;
}

void emu_launch_files_discard(struct emu_launch_files *files)
{
    emu_json_output_discard(&files->json);
    emu_json_output_discard(&files->record);
    *files = (struct emu_launch_files){0};
}
