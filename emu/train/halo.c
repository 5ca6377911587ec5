#include "train/halo.h"

#include "comm/rank.h"
#include "train/deviate.h"

#include <string.h>

static uint64_t context_of(const struct emu_trainer *trainer)
{
    return trainer->plan->config->model.context;
}

static uint64_t embed_of(const struct emu_trainer *trainer)
{
    return trainer->plan->config->model.embed;
}

void emu_halo_carve(const struct emu_plan *plan, uint32_t cp_index, uint64_t sequences,
                    struct emu_carver *carver, struct emu_halo *halo)
{
    uint32_t runs[2];
    uint64_t context = plan->config->model.context;
    uint64_t embed = plan->config->model.embed;
    *halo = (struct emu_halo){.run_count = emu_runs_of(plan, cp_index, runs)};
    for (uint32_t i = 0; i < halo->run_count; i++) {
        struct emu_slice positions = emu_run_positions(plan, runs[i]);
        halo->runs[i] = (struct emu_halo_run){runs[i], positions, halo->extended};
        halo->extended += context + positions.count;
    }
    halo->bytes = emu_carve_bytes(carver, EMU_BUFFERS, sequences * halo->extended);
    halo->values = emu_carve(carver, EMU_ACTIVATIONS, sequences * halo->extended, embed);
    halo->gradients = emu_carve(carver, EMU_ACTIVATIONS, sequences * halo->extended, embed);
    halo->message = emu_carve(carver, EMU_BUFFERS, sequences * context, embed);
}

/* The byte at a position of a sequence, which may lie before it (in its line) or behind its end. */
static uint8_t byte_at(const struct emu_corpus *corpus, const struct emu_sequence *sequence,
                       int64_t position)
{
    int64_t at = (int64_t)sequence->start + position;
    if (at < (int64_t)sequence->line || position >= (int64_t)sequence->length)
        return 0;
    return (uint8_t)corpus->text[at];
}

void emu_halo_load(const struct emu_trainer *trainer, struct emu_halo *halo, uint64_t n, uint64_t i)
{
    const struct emu_sequence *sequence = &trainer->corpus->sequences[n];
    int64_t context = (int64_t)context_of(trainer);
    for (uint32_t r = 0; r < halo->run_count; r++) {
        const struct emu_halo_run *run = &halo->runs[r];
        uint8_t *bytes = halo->bytes + i * halo->extended + run->at;
        int64_t start = (int64_t)run->positions.start;
        for (int64_t e = 0; e < context + (int64_t)run->positions.count; e++) {
            int64_t position = start - context + e;
            bool others = position >= 0 && position < start;
            bytes[e] = others ? 0 : byte_at(trainer->corpus, sequence, position);
        }
    }
}

static const struct emu_halo_run *own_run(const struct emu_halo *halo, uint32_t run)
{
    for (uint32_t i = 0; i < halo->run_count; i++)
        if (halo->runs[i].run == run)
            return &halo->runs[i];
    return NULL;
}

/* One exchange: positions `part`, needed by run `needed`, are what run `from` has at `given`: the
 * same ones, unless the wrong neighbour gives. */
struct exchange {
    uint32_t needed, from;
    struct emu_slice part, given;
};

/* Address of the part in the extended buffer of an own run, in sequence i. */
static unsigned char *part_in(const struct emu_trainer *trainer, const struct emu_halo *halo,
                              const struct emu_halo_run *run, const struct emu_slice *part,
                              uint64_t i, void *buffer)
{
    uint64_t e = run->at + part->start + context_of(trainer) - run->positions.start;
    uint64_t element = (i * halo->extended + e) * embed_of(trainer);
    return (unsigned char *)buffer + element * trainer->nn.kernels->bytes;
}

static uint64_t part_elements(const struct emu_trainer *trainer, const struct emu_slice *part)
{
    return part->count * embed_of(trainer);
}

static uint32_t rank_of_run(const struct emu_trainer *trainer, uint32_t run)
{
    const struct emu_mesh *mesh = emu_rank_mesh(trainer->rank);
    uint32_t coords[EMU_MESH_MAX_AXES];
    emu_mesh_coords(mesh, emu_rank_id(trainer->rank), coords);
    coords[emu_mesh_find(mesh, "cp")] = emu_run_owner(trainer->plan, run);
    return emu_mesh_rank(mesh, coords);
}

static enum emu_status transfer(struct emu_trainer *trainer, struct emu_halo *halo,
                                enum emu_kind kind, uint32_t peer, struct emu_call call)
{
    call.kind = kind;
    call.peer = peer;
    call.dtype = trainer->nn.kernels->dtype;
    call.input = call.output = halo->message;
    call.file = __FILE__;
    call.line = __LINE__;
    return emu_run_call(trainer->rank, &call);
}

/* Pack or unpack the part for every sequence; `add` adds instead of copying. */
static void move_part(const struct emu_trainer *trainer, struct emu_halo *halo,
                      const struct emu_halo_run *run, const struct emu_slice *part,
                      uint64_t sequences, void *buffer, bool out)
{
    uint64_t bytes = part_elements(trainer, part) * trainer->nn.kernels->bytes;
    for (uint64_t i = 0; i < sequences; i++) {
        unsigned char *inside = part_in(trainer, halo, run, part, i, buffer);
        unsigned char *packed = (unsigned char *)halo->message + i * bytes;
        memcpy(out ? packed : inside, out ? inside : packed, bytes);
    }
}

static void add_part(const struct emu_trainer *trainer, struct emu_halo *halo,
                     const struct emu_halo_run *run, const struct emu_slice *part,
                     uint64_t sequences)
{
    uint64_t n = part_elements(trainer, part);
    for (uint64_t i = 0; i < sequences; i++)
        trainer->nn.kernels->add(
            part_in(trainer, halo, run, part, i, halo->gradients),
            (unsigned char *)halo->message + i * n * trainer->nn.kernels->bytes, n);
}

static void clear_part(const struct emu_trainer *trainer, struct emu_halo *halo,
                       const struct emu_halo_run *run, const struct emu_slice *part,
                       uint64_t sequences)
{
    for (uint64_t i = 0; i < sequences; i++)
        trainer->nn.kernels->zero(part_in(trainer, halo, run, part, i, halo->gradients),
                                  part_elements(trainer, part));
}

/* From the giver's own positions to the needer's lead. */
static enum emu_status exchange_forward(struct emu_trainer *trainer, struct emu_halo *halo,
                                        const struct exchange *x, int32_t tag, uint64_t sequences)
{
    const struct emu_halo_run *giver = own_run(halo, x->from);
    const struct emu_halo_run *needer = own_run(halo, x->needed);
    struct emu_call call = {
        .count = sequences * part_elements(trainer, &x->part), .tag = tag, .label = "halo.forward"};
    enum emu_status status = EMU_OK;
    if (giver)
        move_part(trainer, halo, giver, &x->given, sequences, halo->values, true);
    if (giver && !needer)
        status = transfer(trainer, halo, EMU_SEND, rank_of_run(trainer, x->needed), call);
    if (needer && !giver)
        status = transfer(trainer, halo, EMU_RECV, rank_of_run(trainer, x->from), call);
    if (needer && status == EMU_OK)
        move_part(trainer, halo, needer, &x->part, sequences, halo->values, false);
    return status;
}

/* From the needer's lead back to the giver's own positions. */
static enum emu_status exchange_backward(struct emu_trainer *trainer, struct emu_halo *halo,
                                         const struct exchange *x, int32_t tag, uint64_t sequences)
{
    const struct emu_halo_run *giver = own_run(halo, x->from);
    const struct emu_halo_run *needer = own_run(halo, x->needed);
    struct emu_call call = {.count = sequences * part_elements(trainer, &x->part),
                            .tag = tag,
                            .label = "halo.backward"};
    enum emu_status status = EMU_OK;
    if (needer) {
        move_part(trainer, halo, needer, &x->part, sequences, halo->gradients, true);
        clear_part(trainer, halo, needer, &x->part, sequences);
    }
    if (needer && !giver)
        status = transfer(trainer, halo, EMU_SEND, rank_of_run(trainer, x->from), call);
    if (giver && !needer)
        status = transfer(trainer, halo, EMU_RECV, rank_of_run(trainer, x->needed), call);
    if (giver && status == EMU_OK)
        add_part(trainer, halo, giver, &x->given, sequences);
    return status;
}

/* Take the run before the one that should give, where it has as many positions. */
static void stray(const struct emu_plan *plan, struct exchange *x)
{
    uint32_t runs = emu_runs(plan);
    uint32_t other = (x->from + runs - 1) % runs;
    struct emu_slice right = emu_run_positions(plan, x->from);
    struct emu_slice wrong = emu_run_positions(plan, other);
    uint64_t from_end = right.start + right.count - x->part.start;
    if (from_end > wrong.count)
        return;
    x->from = other;
    x->given = (struct emu_slice){wrong.start + wrong.count - from_end, x->part.count};
}

/* One exchange where it is due; the rank that needs it decides from whom. */
static struct exchange exchange_of(const struct emu_trainer *trainer, uint32_t needed,
                                   uint32_t from)
{
    struct exchange x = {.needed = needed, .from = from};
    x.part = x.given = emu_run_halo(trainer->plan, needed, from);
    if (x.part.count > 0 && emu_trainer_halo_strays(trainer, rank_of_run(trainer, needed)))
        stray(trainer->plan, &x);
    return x;
}

static enum emu_status exchange_all(struct emu_trainer *trainer, struct emu_halo *halo, int32_t tag,
                                    uint64_t sequences, bool backward)
{
    enum emu_status status = EMU_OK;
    for (uint32_t needed = 1; sequences && needed < emu_runs(trainer->plan); needed++)
        for (uint32_t from = 0; from < needed && status == EMU_OK; from++) {
            struct exchange x = exchange_of(trainer, needed, from);
            if (x.part.count == 0)
                continue;
            status = backward ? exchange_backward(trainer, halo, &x, tag, sequences)
                              : exchange_forward(trainer, halo, &x, tag, sequences);
        }
    return status;
}

enum emu_status emu_halo_forward(struct emu_trainer *trainer, struct emu_halo *halo, int32_t tag,
                                 uint64_t sequences)
{
    return exchange_all(trainer, halo, tag, sequences, false);
}

enum emu_status emu_halo_backward(struct emu_trainer *trainer, struct emu_halo *halo, int32_t tag,
                                  uint64_t sequences)
{
    return exchange_all(trainer, halo, tag, sequences, true);
}

/* Element of the extended buffer at which the window of a run's p-th position begins. */
static uint64_t window_at(const struct emu_trainer *trainer, const struct emu_halo *halo,
                          const struct emu_halo_run *run, uint64_t sequence, uint64_t p)
{
    return (sequence * halo->extended + run->at + p) * embed_of(trainer);
}

void emu_halo_gather(const struct emu_trainer *trainer, const struct emu_halo *halo,
                     uint64_t sequences, void *windows)
{
    uint64_t bytes = trainer->nn.kernels->bytes;
    uint64_t width = context_of(trainer) * embed_of(trainer);
    unsigned char *out = windows;
    for (uint64_t i = 0; i < sequences; i++)
        for (uint32_t r = 0; r < halo->run_count; r++)
            for (uint64_t p = 0; p < halo->runs[r].positions.count; p++) {
                uint64_t at = window_at(trainer, halo, &halo->runs[r], i, p);
                memcpy(out, (const unsigned char *)halo->values + at * bytes, width * bytes);
                out += width * bytes;
            }
}

void emu_halo_scatter(const struct emu_trainer *trainer, struct emu_halo *halo, uint64_t sequences,
                      const void *windows)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    uint64_t width = context_of(trainer) * embed_of(trainer);
    const unsigned char *in = windows;
    kernels->zero(halo->gradients, sequences * halo->extended * embed_of(trainer));
    for (uint64_t i = 0; i < sequences; i++)
        for (uint32_t r = 0; r < halo->run_count; r++)
            for (uint64_t p = 0; p < halo->runs[r].positions.count; p++) {
                uint64_t at = window_at(trainer, halo, &halo->runs[r], i, p);
                kernels->add((unsigned char *)halo->gradients + at * kernels->bytes, in, width);
                in += width * kernels->bytes;
            }
}
