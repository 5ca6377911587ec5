#include "evidence_maker.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 64 /* elements of a block at most */
#define BATCH 8

static void plan_tensor(struct emu_tensor_plan *tensor, const char *name, uint64_t rows,
                        uint64_t columns, int dimension)
{
    *tensor =
        (struct emu_tensor_plan){.rows = rows,
                                 .columns = columns,
                                 .init = EMU_INIT_UNIFORM,
                                 .init_scale = 0.5,
                                 .over_tp = {.kind = dimension < 0 ? EMU_REPLICATE : EMU_SHARD,
                                             .dimension = dimension > 0 ? 1 : 0}};
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
}

static void make_plan(struct made *made, const char *mesh, enum emu_dtype dtype)
{
    cr_assert_eq(emu_mesh_parse(mesh, &made->mesh, NULL), EMU_OK);
    made->config = (struct emu_config){
        .train = {.seed = 7}, .arithmetic = dtype == EMU_F32 ? EMU_ARITH_F32 : EMU_ARITH_F64};
    plan_tensor(&made->tensors[MADE_EMBED], "embed.weight", 8, 4, 0);
    plan_tensor(&made->tensors[MADE_NORM], "layers.0.norm.weight", 1, 4, -1);
    plan_tensor(&made->tensors[MADE_UP], "layers.0.up.weight", 5, 4, 0);
    plan_tensor(&made->tensors[MADE_DOWN], "layers.0.down.weight", 4, 6, 1);
    made->plan = (struct emu_plan){.config = &made->config,
                                   .dp = emu_mesh_size(&made->mesh, "dp"),
                                   .tp = emu_mesh_size(&made->mesh, "tp"),
                                   .batch = BATCH,
                                   .microbatches = 3,
                                   .tp_family = UINT32_MAX,
                                   .gradient_family = UINT32_MAX,
                                   .dtype = dtype,
                                   .tensors = made->tensors,
                                   .tensor_count = MADE_TENSORS,
                                   .moments = 2};
    emu_roster_init(&made->plan.roster, &made->mesh);
    if (emu_roster_find(&made->plan.roster, "tp", &made->plan.tp_family) != EMU_OK)
        made->plan.tp_family = UINT32_MAX;
}

/* What every rank should hold for a logical element. */
static double right_value(const struct made *made, uint32_t tensor, enum emu_state state,
                          uint64_t logical)
{
    if (state == EMU_STATE_WEIGHT)
        return emu_plan_draw(&made->plan, tensor, logical);
    return (double)(1 + tensor) * (double)(logical + 1) / 64.0 + (double)state;
}

static unsigned char *array_of(struct made *made, uint32_t rank, uint32_t tensor,
                               enum emu_state state)
{
    return made->arenas[rank] +
           ((size_t)tensor * EMU_STATE_COUNT + (size_t)state) * ROOM * sizeof(double);
}

static size_t element_size(const struct made *made)
{
    return made->plan.dtype == EMU_F32 ? sizeof(float) : sizeof(double);
}

static void store(struct made *made, uint32_t rank, uint32_t tensor, enum emu_state state,
                  uint64_t local, double value)
{
    unsigned char *at = array_of(made, rank, tensor, state) + local * element_size(made);
    float narrow = (float)value;
    memcpy(at, made->plan.dtype == EMU_F32 ? (const void *)&narrow : (const void *)&value,
           element_size(made));
}

static void rehash(struct made *made, uint32_t rank, uint32_t tensor)
{
    struct emu_tensor_record *record = &made->records[rank]->tensors[tensor];
    size_t bytes = emu_evidence_elements(record) * element_size(made);
    record->weight_hash = emu_hash_of(array_of(made, rank, tensor, EMU_STATE_WEIGHT), bytes);
    record->gradient_hash = emu_hash_of(array_of(made, rank, tensor, EMU_STATE_GRADIENT), bytes);
    for (int i = 0; i < 2; i++)
        record->moment_hash[i] = emu_hash_of(
            array_of(made, rank, tensor, (enum emu_state)(EMU_STATE_MOMENT_0 + i)), bytes);
}

static void fill_block(struct made *made, uint32_t rank, uint32_t tensor, struct emu_block block)
{
    struct emu_tensor_record *record = &made->records[rank]->tensors[tensor];
    const unsigned char *base = made->arenas[rank];
    *record = (struct emu_tensor_record){
        .weight = (uint64_t)(array_of(made, rank, tensor, EMU_STATE_WEIGHT) - base),
        .gradient = (uint64_t)(array_of(made, rank, tensor, EMU_STATE_GRADIENT) - base),
        .moment = {(uint64_t)(array_of(made, rank, tensor, EMU_STATE_MOMENT_0) - base),
                   (uint64_t)(array_of(made, rank, tensor, EMU_STATE_MOMENT_1) - base)},
        .first_row = block.first_row,
        .rows = block.rows,
        .first_column = block.first_column,
        .columns = block.columns,
        .finite = true};
    for (uint64_t local = 0; local < emu_evidence_elements(record); local++)
        for (int state = 0; state < EMU_STATE_COUNT; state++)
            store(made, rank, tensor, (enum emu_state)state, local,
                  right_value(made, tensor, (enum emu_state)state,
                              emu_evidence_logical(&made->evidence, rank, tensor, local)));
    rehash(made, rank, tensor);
}

static void make_rank(struct made *made, uint32_t rank, uint64_t step)
{
    struct emu_step_record *record = calloc(1, emu_step_record_bytes(MADE_TENSORS));
    made->arenas[rank] = calloc((size_t)MADE_TENSORS * EMU_STATE_COUNT * ROOM, sizeof(double));
    cr_assert(record && made->arenas[rank]);
    made->records[rank] = record;
    uint32_t dp = emu_mesh_coord(&made->mesh, rank, "dp");
    struct emu_slice shard = emu_slice_chunk(BATCH, made->plan.dp, dp);
    record->step = step;
    record->tensor_count = MADE_TENSORS;
    record->first_sequence = (step > 0 ? (step - 1) * BATCH : 0) + shard.start;
    record->sequences = shard.count;
    record->tokens = 10 * shard.count;
    record->step_tokens = 10 * BATCH;
    record->loss_sum = (double)shard.count;
    record->step_loss = 0.125;
    record->grad_norm = 2.5;
    record->batch_hash = emu_hash_of(&shard.start, sizeof shard.start);
    for (uint32_t tensor = 0; tensor < MADE_TENSORS; tensor++)
        fill_block(made, rank, tensor,
                   emu_tensor_block(&made->plan, tensor, emu_mesh_coord(&made->mesh, rank, "tp")));
}

static void make_oracle(struct made *made)
{
    for (int state = 0; state < EMU_STATE_COUNT; state++)
        for (uint32_t tensor = 0; tensor < MADE_TENSORS; tensor++) {
            struct emu_bounded *array = calloc(ROOM, sizeof *array);
            cr_assert_not_null(array);
            made->expected[state][tensor] = array;
            for (uint64_t i = 0; i < made->tensors[tensor].rows * made->tensors[tensor].columns;
                 i++)
                array[i] = (struct emu_bounded){
                    .value = right_value(made, tensor, (enum emu_state)state, i), .bound = 1e-12};
        }
    made->oracle = (struct emu_oracle_step){
        .weight = (const struct emu_bounded **)made->expected[EMU_STATE_WEIGHT],
        .gradient = (const struct emu_bounded **)made->expected[EMU_STATE_GRADIENT],
        .moment = {(const struct emu_bounded **)made->expected[EMU_STATE_MOMENT_0],
                   (const struct emu_bounded **)made->expected[EMU_STATE_MOMENT_1]},
        .loss = {0.125, 1e-12},
        .grad_norm = {2.5, 1e-12},
        .tokens = 10 * BATCH};
}

void made_init(struct made *made, const char *mesh, uint64_t step, enum emu_dtype dtype)
{
    *made = (struct made){0};
    make_plan(made, mesh, dtype);
    made->records = calloc(made->mesh.world, sizeof *made->records);
    made->arenas = calloc(made->mesh.world, sizeof *made->arenas);
    cr_assert(made->records && made->arenas);
    made->evidence =
        (struct emu_evidence){.plan = &made->plan,
                              .step = step,
                              .records = (const struct emu_step_record **)made->records,
                              .arenas = (const unsigned char **)made->arenas};
    for (uint32_t rank = 0; rank < made->mesh.world; rank++)
        make_rank(made, rank, step);
    make_oracle(made);
    emu_audit_init(&made->audit);
}

void made_finish(struct made *made)
{
    emu_audit_finish(&made->audit);
    for (uint32_t rank = 0; rank < made->mesh.world; rank++) {
        free(made->records[rank]);
        free(made->arenas[rank]);
    }
    for (int state = 0; state < EMU_STATE_COUNT; state++)
        for (uint32_t tensor = 0; tensor < MADE_TENSORS; tensor++)
            free(made->expected[state][tensor]);
    free(made->records);
    free(made->arenas);
    emu_roster_finish(&made->plan.roster);
    emu_mesh_finish(&made->mesh);
}

void made_set(struct made *made, uint32_t rank, enum made_tensor tensor, enum emu_state state,
              uint64_t local, double value)
{
    store(made, rank, tensor, state, local, value);
    rehash(made, rank, tensor);
}

void made_add(struct made *made, uint32_t rank, enum made_tensor tensor, enum emu_state state,
              uint64_t local, double amount)
{
    double value = emu_evidence_value(&made->evidence, rank, tensor, state, local);
    made_set(made, rank, tensor, state, local, value + amount);
}

void made_scale(struct made *made, uint32_t rank, enum made_tensor tensor, enum emu_state state,
                double factor)
{
    uint64_t count = emu_evidence_elements(&made->records[rank]->tensors[tensor]);
    for (uint64_t local = 0; local < count; local++)
        store(made, rank, tensor, state, local,
              factor * emu_evidence_value(&made->evidence, rank, tensor, state, local));
    rehash(made, rank, tensor);
}

void made_move_block(struct made *made, uint32_t rank, enum made_tensor tensor,
                     struct emu_block block)
{
    fill_block(made, rank, tensor, block);
}

void made_check(struct made *made)
{
    if (made->evidence.step == 0)
        emu_check_init(&made->evidence, &made->audit);
    emu_check_tiling(&made->evidence, &made->audit);
    emu_check_data(&made->evidence, &made->audit);
    emu_check_replicas(&made->evidence, &made->audit);
    if (made->evidence.step > 0)
        emu_check_oracle(&made->evidence, &made->oracle, &made->audit);
}

const struct emu_finding *made_finding(const struct made *made, enum emu_class class_id)
{
    const struct emu_findings *findings = &made->audit.findings;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->count > 1 || findings->items[i].class_id != class_id)
            cr_log_info("%s: %s", emu_class_name(findings->items[i].class_id),
                        findings->items[i].message);
    cr_assert_eq(findings->count, 1, "%zu findings, wanted one", findings->count);
    cr_assert_eq(findings->items[0].class_id, class_id, "class %s, wanted %s",
                 emu_class_name(findings->items[0].class_id), emu_class_name(class_id));
    cr_assert_not_null(findings->items[0].message);
    return &findings->items[0];
}

void made_culprits(const struct emu_finding *finding, const char *expected)
{
    struct emu_text got = {0};
    for (size_t i = 0; i < finding->culprit_count; i++)
        emu_text_printf(&got, "%s%u", i > 0 ? "," : "", (unsigned)finding->culprits[i]);
    bool same = strcmp(emu_text_get(&got), expected) == 0;
    cr_expect(same, "culprits %s, wanted %s", emu_text_get(&got), expected);
    cr_expect_eq(finding->undecided, finding->culprit_count == 0);
    emu_text_finish(&got);
}
