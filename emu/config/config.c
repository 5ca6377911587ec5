#include "config/config.h"

#include "config/complaint.h"
#include "config/document.h"
#include "config/reading.h"
#include "config/schema.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void finish_keep(struct emu_config_keep *keep)
{
    if (!keep)
        return;
    emu_store_finish(&keep->store);
    free(keep);
}

static struct emu_config_keep *make_keep(const struct emu_config_params *params)
{
    struct emu_config_keep *keep = calloc(1, sizeof *keep);
    if (!keep)
        return NULL;
    const char *name = params->name ? params->name : "config";
    size_t size = params->size;
    if (size > EMU_SOURCE_MAX_BYTES)
        size = EMU_SOURCE_MAX_BYTES; /* refused below; its size is still reported */
    keep->source.name = emu_store_copy(&keep->store, name, strlen(name));
    keep->source.text = emu_store_copy(&keep->store, params->text, size);
    keep->source.size = params->size;
    if (!keep->store.failed)
        return keep;
    finish_keep(keep);
    return NULL;
}

/* The file's tree with every --set in it. false: nothing to go on with. */
static bool read_tree(struct emu_reading *r, const struct emu_config_params *params,
                      struct emu_node **root)
{
    enum emu_status status = emu_document_read(r->source, r->complaints, root);
    if (status == EMU_ENOMEM)
        r->store->failed = true;
    if (status != EMU_OK)
        return false;
    for (size_t i = 0; i < params->set_count; i++)
        emu_override_apply(r, params->sets[i].text, (uint32_t)i + 1, root);
    return !r->store->failed;
}

static void read_root(struct emu_reading *r, struct emu_node *root)
{
    r->root = root;
    if (!root || emu_node_is_null(root)) {
        emu_complaints_add(r->complaints, (struct emu_spot){r->source, 0, 1},
                           "the config is empty; it needs at least 'mesh'");
        emu_complaints_note(r->complaints, "write, for example, mesh: dp=2,tp=2");
        return;
    }
    if (root->kind != EMU_NODE_MAP) {
        if (root->kind != EMU_NODE_BROKEN)
            emu_complaints_add(r->complaints, emu_node_spot(root),
                               "a config is a mapping of keys to values, not %s",
                               emu_node_describe(root));
        return;
    }
    r->mesh_bad = !emu_node_get(root, "mesh");
    emu_section_read(r, "", root, r->config);
    if (!r->store->failed)
        emu_config_crosscheck(r);
}

static enum emu_status read_config(const struct emu_config_params *params,
                                   struct emu_complaints *complaints, struct emu_config_keep *keep,
                                   struct emu_config *config)
{
    struct emu_reading r = {
        .config = config,
        .store = &keep->store,
        .complaints = complaints,
        .source = &keep->source,
        .directory = params->directory ? params->directory : "",
    };
    struct emu_node *root = NULL;
    config->stall_after_ns = -1;
    config->name = emu_store_copy(&keep->store, keep->source.name, strlen(keep->source.name));
    if (read_tree(&r, params, &root))
        read_root(&r, root);
    keep->root = root;
    config->store = keep;
    if (keep->store.failed)
        return EMU_ENOMEM;
    return complaints->total ? EMU_EPARSE : EMU_OK;
}

enum emu_status emu_config_read(const struct emu_config_params *params,
                                struct emu_text *diagnostics, struct emu_config **config)
{
    struct emu_config_keep *keep = make_keep(params);
    struct emu_config *made = keep ? emu_store_alloc(&keep->store, 1, sizeof *made) : NULL;
    struct emu_complaints *complaints =
        made ? emu_store_alloc(&keep->store, 1, sizeof *complaints) : NULL;
    if (!complaints) {
        finish_keep(keep);
        return EMU_ENOMEM;
    }
    complaints->store = &keep->store;
    enum emu_status status = read_config(params, complaints, keep, made);
    if (status == EMU_OK) {
        *config = made;
        return EMU_OK;
    }
    if (status == EMU_EPARSE)
        emu_complaints_print(complaints, diagnostics);
    emu_config_destroy(made);
    return status;
}

void emu_config_destroy(struct emu_config *config)
{
    if (!config)
        return;
    emu_mesh_finish(&config->mesh);
    finish_keep(config->store);
}

void emu_config_complain(const struct emu_config *config, struct emu_text *diagnostics,
                         const char *key, const char *format, ...)
{
    const struct emu_config_keep *keep = config->store;
    struct emu_spot spot = emu_reading_spot(&keep->source, keep->root, key);
    struct emu_text message = {0};
    struct emu_text clean = {0};
    va_list arguments;
    va_start(arguments, format);
    emu_text_vprintf(&message, format, arguments);
    va_end(arguments);
    emu_source_add_clean(&clean, emu_text_get(&message), message.size);
    struct emu_complaint complaint = {
        .source = spot.source,
        .offset = spot.offset,
        .length = spot.length,
        .message = emu_text_get(&clean),
    };
    emu_complaint_print(&complaint, diagnostics);
    emu_text_finish(&message);
    emu_text_finish(&clean);
}
