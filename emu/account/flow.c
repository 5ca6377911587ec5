#include "account/flow.h"

#include <math.h>

static uint32_t bit_of(const struct emu_mesh *mesh, const char *name)
{
    int axis = emu_mesh_find(mesh, name);
    return axis >= 0 && mesh->axes[axis].size > 1 ? UINT32_C(1) << axis : 0;
}

static void add(struct emu_flow *flows, uint32_t *count, struct emu_flow flow)
{
    if (flow.bytes > 0)
        flows[(*count)++] = flow;
}

static double passes_per_layer(const struct emu_config *config, double forward, double again)
{
    return config->recompute == EMU_RECOMPUTE_FULL ? forward + again : forward;
}

static void add_layers(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                       const struct emu_traffic *traffic, struct emu_flow *flows, uint32_t *count)
{
    const struct emu_config *config = shapes->config;
    const struct emu_mesh *mesh = &config->mesh;
    double calls =
        (double)config->batch.microbatches * (double)(class->content.early + class->content.late);
    struct emu_flow tp = {.axes = bit_of(mesh, "tp"), .members = shapes->tp};
    tp.kind = config->sequence_parallel ? EMU_FLOW_GATHER : EMU_FLOW_REDUCE;
    tp.passes = calls * passes_per_layer(config, config->sequence_parallel ? 10 : 8, 4);
    tp.bytes = (double)traffic->tp;
    add(flows, count, tp);
    struct emu_flow cp = {.axes = bit_of(mesh, "cp"), .members = shapes->cp};
    cp.kind = EMU_FLOW_GATHER;
    cp.passes = calls * passes_per_layer(config, 2, 1);
    cp.bytes = (double)traffic->cp;
    add(flows, count, cp);
}

/* The table's gradient between the two ends, and what is left for the neighbours. */
static void add_stages(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                       const struct emu_traffic *traffic, struct emu_flow *flows, uint32_t *count)
{
    const struct emu_config *config = shapes->config;
    const struct emu_shape *table = &shapes->parts[EMU_PART_FIRST].shapes[0];
    bool first = class->content.first;
    bool last = class->content.last;
    uint32_t neighbours = (first ? 0U : 1U) + (last ? 0U : 1U);
    double tied = 0;
    if (table->tied && (first || last))
        tied = (double)emu_shape_local(table, &class->run) * (double)shapes->bytes.gradient;
    struct emu_flow pp = {.axes = bit_of(&config->mesh, "pp"), .members = shapes->pp};
    pp.kind = EMU_FLOW_MESSAGES;
    pp.passes = (double)config->batch.microbatches * neighbours;
    pp.bytes = (double)traffic->pp - tied;
    add(flows, count, pp);
    pp.members = 2;
    pp.passes = 2; /* an all-reduce of two sends its payload once, in two steps */
    pp.bytes = tied;
    pp.once = true;
    add(flows, count, pp);
}

static void add_data(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                     const struct emu_traffic *traffic, struct emu_flow *flows, uint32_t *count)
{
    const struct emu_config *config = shapes->config;
    const struct emu_optimizer_config *optimizer = &config->optimizer;
    uint32_t dp = bit_of(&config->mesh, "dp");
    uint32_t cp = bit_of(&config->mesh, "cp");
    uint32_t all = shapes->dp * shapes->cp;
    struct emu_flow rest = {.axes = dp | cp, .members = all, .kind = EMU_FLOW_REDUCE, .once = true};
    rest.passes = 2;
    rest.bytes = (double)traffic->data;
    if (optimizer->shard != EMU_SHARD_NONE) {
        uint64_t gathers = optimizer->shard == EMU_ZERO3 ? 2 : 1;
        struct emu_flow cut = {.members = shapes->shard, .kind = EMU_FLOW_GATHER, .once = true};
        cut.axes = (optimizer->over_dp ? dp : 0) | (optimizer->over_cp ? cp : 0);
        cut.passes = 1 + (double)gathers;
        cut.bytes = (double)emu_elements_of(shapes, class, shapes->shard) *
                    (double)(shapes->shard - 1) *
                    (double)(shapes->bytes.gradient + gathers * shapes->bytes.weight);
        add(flows, count, cut);
        rest.axes &= ~cut.axes;
        rest.members = all / shapes->shard;
        rest.bytes = rest.members > 1 ? rest.bytes - cut.bytes : 0;
    }
    add(flows, count, rest);
}

uint32_t emu_flows_of(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                      struct emu_flow flows[EMU_FLOWS_MOST])
{
    struct emu_traffic traffic;
    uint32_t count = 0;
    if (!emu_traffic_of(shapes, class, &traffic)) /* the books of these shapes were made before */
        return 0;
    add_layers(shapes, class, &traffic, flows, &count);
    add_stages(shapes, class, &traffic, flows, &count);
    add_data(shapes, class, &traffic, flows, &count);
    return count;
}

static struct emu_flow_time ring(const struct emu_flow *flow, const struct emu_links *links,
                                 bool crosses)
{
    double steps =
        flow->kind == EMU_FLOW_MESSAGES ? flow->passes : flow->passes * (flow->members - 1);
    if (crosses)
        return (struct emu_flow_time){steps * links->inter_delay, flow->bytes};
    return (struct emu_flow_time){steps * links->intra_delay + flow->bytes / links->intra, 0};
}

/* Bytes of the payload of one pass. */
static double payload_of(const struct emu_flow *flow)
{
    return flow->bytes / flow->passes * flow->members / (flow->members - 1);
}

static struct emu_flow_time two_level(const struct emu_flow *flow, const struct emu_links *links,
                                      double inside, double nodes)
{
    double payload = payload_of(flow);
    double near =
        payload * (inside - 1) / inside / links->intra + (inside - 1) * links->intra_delay;
    double far = payload / inside * (nodes - 1) / nodes;
    return (struct emu_flow_time){flow->passes * (near + (nodes - 1) * links->inter_delay),
                                  flow->passes * far};
}

static struct emu_flow_time tree(const struct emu_flow *flow, const struct emu_links *links,
                                 double inside, double nodes)
{
    double payload = payload_of(flow);
    double near_rounds = ceil(log2(inside));
    double far_rounds = ceil(log2(nodes));
    double delay = near_rounds * links->intra_delay + far_rounds * links->inter_delay;
    double near = near_rounds * payload;
    double far = far_rounds * payload;
    if (flow->kind == EMU_FLOW_GATHER) {
        near = payload * (inside - 1) / (inside * nodes);
        far = payload * (nodes - 1) / nodes;
    }
    return (struct emu_flow_time){flow->passes * (delay + near / links->intra), flow->passes * far};
}

struct emu_flow_time emu_flow_time_of(const struct emu_flow *flow, const struct emu_links *links,
                                      uint32_t inside, bool crosses)
{
    if (flow->kind == EMU_FLOW_MESSAGES || links->algorithm == EMU_LINK_RING)
        return ring(flow, links, crosses);
    double nodes = (double)flow->members / inside;
    if (links->algorithm == EMU_LINK_TREE)
        return tree(flow, links, inside, nodes);
    return two_level(flow, links, inside, nodes);
}

/* The root of a binomial tree sends the whole payload down in every round. */
double emu_flow_bytes(const struct emu_flow *flow, const struct emu_links *links)
{
    if (links->algorithm != EMU_LINK_TREE || flow->kind != EMU_FLOW_REDUCE)
        return flow->bytes;
    return flow->passes / 2 * payload_of(flow) * ceil(log2(flow->members));
}
