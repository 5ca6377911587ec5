#include "config/schema.h"

#include "config/duration.h"

#define AT(field) offsetof(struct emu_config, field)
#define IN_REDUCE(field) offsetof(struct emu_reduce_config, field)
#define IN_MESH(field) offsetof(struct emu_mesh_mapping, field)

/* The largest integer: it must survive a JSON reader that knows 64 bits with a sign. */
#define MOST INT64_MAX
/* Tables are built with one entry a layer. */
#define MOST_LAYERS 1000000
#define MOST_BYTES 1024
#define ENDLESS 1.7976931348623157e308

#define LM EMU_VARIANT(EMU_MODEL_MLP_LM)
#define LINEAR EMU_VARIANT(EMU_MODEL_LINEAR)
#define TF EMU_VARIANT(EMU_MODEL_TRANSFORMER)
#define MOMENTUM EMU_VARIANT(EMU_MOMENTUM)
#define ADAMW EMU_VARIANT(EMU_ADAMW)
#define TEXT EMU_VARIANT(0)

#define LIST(name, ...) static const struct emu_word name[] = {__VA_ARGS__, {NULL, 0}}
LIST(model_kinds, {"mlp_lm", EMU_MODEL_MLP_LM}, {"linear", EMU_MODEL_LINEAR},
     {"transformer", EMU_MODEL_TRANSFORMER});
LIST(activations, {"gelu", EMU_GELU}, {"relu", EMU_RELU}, {"silu", EMU_SILU});
LIST(lm_norms, {"rms", EMU_NORM_RMS}, {"none", EMU_NORM_NONE});
LIST(tf_norms, {"rms", EMU_NORM_RMS}, {"layer", EMU_NORM_LAYER});
LIST(losses, {"cross_entropy", EMU_CROSS_ENTROPY}, {"squared", EMU_SQUARED});
LIST(cp_splits, {"contiguous", EMU_CONTIGUOUS}, {"balanced", EMU_BALANCED});
LIST(positions, {"rotary", EMU_ROTARY}, {"learned", EMU_LEARNED}, {"none", EMU_POSITIONS_NONE});
LIST(loss_reductions, {"sum", EMU_LOSS_SUM}, {"mean", EMU_LOSS_MEAN});
LIST(accumulations, {"sum", EMU_ACC_SUM}, {"mean", EMU_ACC_MEAN}, {"last", EMU_ACC_LAST});
LIST(reduce_ops, {"sum", false}, {"avg", true});
LIST(whens, {"step", EMU_WHEN_STEP}, {"microbatch", EMU_WHEN_MICROBATCH}, {"first", EMU_WHEN_FIRST},
     {"last", EMU_WHEN_LAST});
LIST(norm_counts, {"unique", EMU_COUNT_UNIQUE}, {"local", EMU_COUNT_LOCAL},
     {"replicas", EMU_COUNT_REPLICAS});
LIST(optimizers, {"sgd", EMU_SGD}, {"momentum", EMU_MOMENTUM}, {"adamw", EMU_ADAMW});
LIST(shards, {"none", EMU_SHARD_NONE}, {"zero1", EMU_ZERO1}, {"zero2", EMU_ZERO2},
     {"zero3", EMU_ZERO3});
LIST(schedules, {"1f1b", EMU_ONE_F_ONE_B}, {"gpipe", EMU_GPIPE});
LIST(initials, {"seed", EMU_INITIAL_SEED}, {"broadcast", EMU_INITIAL_BROADCAST});
LIST(arithmetics, {"f64", EMU_ARITH_F64}, {"f32", EMU_ARITH_F32}, {"exact", EMU_ARITH_EXACT});
LIST(recomputes, {"none", EMU_RECOMPUTE_NONE}, {"selective", EMU_RECOMPUTE_SELECTIVE},
     {"full", EMU_RECOMPUTE_FULL});

/* Rows name what differs from zero. */
#define KEY(kind_, path_, ...)                                                                     \
    {                                                                                              \
        .path = path_, .kind = EMU_KEY_##kind_, __VA_ARGS__                                        \
    }
#define SIZE(path_, field_, ...)                                                                   \
    KEY(U64, path_, .offset = AT(field_), .least = 1, .most = MOST, __VA_ARGS__)
#define COUNT(path_, field_, ...)                                                                  \
    KEY(U64, path_, .offset = AT(field_), .least = 0, .most = MOST, __VA_ARGS__)
#define BYTES(path_, field_, ...)                                                                  \
    KEY(U64, path_, .offset = AT(field_), .least = 0, .most = MOST_BYTES, __VA_ARGS__)
#define FLAG(path_, field_, ...) KEY(BOOL, path_, .offset = AT(field_), __VA_ARGS__)
#define WORD(path_, field_, words_, ...)                                                           \
    KEY(WORD, path_, .offset = AT(field_), .words = words_, __VA_ARGS__)

static const struct emu_key rows[] = {
    KEY(MESH, "mesh", .offset = AT(mesh), .flag = AT(has_mesh), .required = true,
        .help = "axes and sizes, outermost first, such as dp=2,tp=4"),
    KEY(TEXT, "mesh.axes", .offset = IN_MESH(axes), .required = true,
        .help = "the same, where the ranks are arranged explicitly"),
    KEY(COUNTS, "mesh.ranks", .offset = IN_MESH(ranks), .extra = IN_MESH(rank_count), .least = 0,
        .most = INT32_MAX, .required = true, .help = "the rank at each place, row-major"),

    KEY(SECTION, "model", .flag = AT(has_model), .nullable = true, .help = "what is trained"),
    WORD("model.kind", model.kind, model_kinds, .fallback = "mlp_lm",
         .help = "byte-level language model, one weight vector, or shapes for accounting"),
    SIZE("model.context", model.context, .variants = LM, .fallback = "8",
         .help = "bytes seen for each prediction"),
    SIZE("model.embed", model.embed, .variants = LM, .fallback = "16",
         .help = "width of the stream and of a byte's embedding"),
    SIZE("model.hidden", model.hidden, .variants = LM, .fallback = "64",
         .help = "width inside each layer"),
    KEY(U64, "model.layers", .offset = AT(model.layers), .least = 1, .most = MOST_LAYERS,
        .variants = LM, .fallback = "2", .help = "number of layers"),
    WORD("model.activation", model.activation, activations, .variants = LM, .fallback = "gelu",
         .help = "between up and down projection"),
    WORD("model.norm", model.norm, lm_norms, .variants = LM, .fallback = "rms",
         .help = "at the input of each layer"),
    FLAG("model.tie_embeddings", model.tie_embeddings, .variants = LM, .fallback = "true",
         .help = "the output head is the embedding table"),
    WORD("model.loss", model.loss, losses, .variants = LM, .fallback = "cross_entropy",
         .help = "loss of one token"),
    WORD("model.cp_split", model.cp_split, cp_splits, .variants = LM, .fallback = "contiguous",
         .help = "how cp cuts the positions of a sequence"),
    FLAG("model.sequence_parallel", model.sequence_parallel, .variants = LM, .fallback = "false",
         .help = "tp ranks share the positions between their layers"),

    SIZE("model.features", model.features, .variants = LINEAR, .required = true,
         .help = "elements of the weight vector"),

    KEY(U64, "model.layers", .offset = AT(model.layers), .least = 1, .most = MOST_LAYERS,
        .variants = TF, .required = true, .help = "number of layers"),
    SIZE("model.hidden", model.hidden, .variants = TF, .required = true,
         .help = "width of the stream"),
    SIZE("model.heads", model.heads, .variants = TF, .required = true, .help = "attention heads"),
    SIZE("model.kv_heads", model.kv_heads, .variants = TF, .nullable = true,
         .help = "key-value heads (default: heads)"),
    SIZE("model.head_dim", model.head_dim, .variants = TF, .nullable = true,
         .help = "width of a head (default: hidden/heads)"),
    SIZE("model.ffn", model.ffn, .variants = TF, .nullable = true,
         .help = "width of the MLP; needed unless every layer has experts"),
    FLAG("model.gated", model.gated, .variants = TF, .fallback = "false",
         .help = "three matrices in the MLP instead of two"),
    SIZE("model.vocab", model.vocab, .variants = TF, .required = true, .help = "logical tokens"),
    SIZE("model.vocab_multiple", model.vocab_multiple, .variants = TF, .fallback = "1",
         .help = "the table is padded to a multiple of this times tp"),
    SIZE("model.sequence", model.sequence, .variants = TF, .required = true,
         .help = "positions of a sequence"),
    WORD("model.positions", model.positions, positions, .variants = TF, .fallback = "rotary",
         .help = "how positions enter"),
    WORD("model.norm", model.norm, tf_norms, .variants = TF, .fallback = "rms",
         .help = "layer has weights and biases, rms weights alone"),
    FLAG("model.bias", model.bias, .variants = TF, .fallback = "false",
         .help = "biases of q, k, v, o and the dense MLP"),
    FLAG("model.qkv_bias", model.qkv_bias, .variants = TF, .fallback = "false",
         .help = "biases of q, k and v"),
    FLAG("model.qk_norm", model.qk_norm, .variants = TF, .fallback = "false",
         .help = "norms of q and k"),
    FLAG("model.tie_embeddings", model.tie_embeddings, .variants = TF, .fallback = "false",
         .help = "the output head is the embedding table"),
    FLAG("model.embedding_norm", model.embedding_norm, .variants = TF, .fallback = "false",
         .help = "a norm behind the embedding"),
    FLAG("model.dropout", model.dropout, .variants = TF, .fallback = "true",
         .help = "dropout masks count among the activations"),
    KEY(SECTION, "model.experts", .flag = AT(model.has_experts), .variants = TF, .nullable = true,
        .bare = true, .help = "mixture of experts"),
    SIZE("model.experts.count", model.experts.count, .required = true, .help = "experts a layer"),
    SIZE("model.experts.active", model.experts.active, .required = true,
         .help = "experts that see one token"),
    COUNT("model.experts.shared", model.experts.shared, .fallback = "0",
          .help = "experts that see every token"),
    SIZE("model.experts.ffn", model.experts.ffn, .required = true, .help = "width of an expert"),
    COUNT("model.experts.from_layer", model.experts.from_layer, .fallback = "0",
          .help = "the layers before are dense"),
    FLAG("model.experts.router_bias", model.experts.router_bias, .fallback = "false",
         .help = "one bias an expert in the router"),
    KEY(SECTION, "model.latent", .flag = AT(model.has_latent), .variants = TF, .nullable = true,
        .bare = true, .help = "latent attention"),
    SIZE("model.latent.q", model.latent.q, .nullable = true,
         .help = "rank of the query projection (default: not compressed)"),
    SIZE("model.latent.kv", model.latent.kv, .required = true, .help = "rank of keys and values"),
    COUNT("model.latent.nope", model.latent.nope, .required = true,
          .help = "width of a head without positions"),
    COUNT("model.latent.rope", model.latent.rope, .required = true,
          .help = "width of a head with positions"),
    SIZE("model.latent.value", model.latent.value, .required = true,
         .help = "width of a head's value"),

    KEY(COUNTS, "model.stages", .offset = AT(model.stages), .extra = AT(model.stage_count),
        .least = 1, .most = MOST_LAYERS, .variants = LM | TF, .fallback = "[]",
        .help = "layers of each pipeline stage (empty: balanced)"),

    KEY(SECTION, "data", .flag = AT(has_data), .nullable = true, .help = "what it is trained on"),
    KEY(PATH, "data.text", .offset = AT(data.text), .nullable = true,
        .help = "text file or named pipe; a line is a document"),
    SIZE("data.sequence", data.sequence, .variants = TEXT, .fallback = "32",
         .help = "longest sequence in bytes"),
    SIZE("data.batch", data.batch, .variants = TEXT, .fallback = "16",
         .help = "sequences of a step over the whole mesh"),
    SIZE("data.microbatches", data.microbatches, .fallback = "1",
         .help = "microbatches of a step on each rank"),
    KEY(TOKENS, "data.tokens", .offset = AT(data.inline_tokens), .nullable = true,
        .help = "inline tokens[dp][cp][microbatch][token] for model.kind linear"),

    KEY(SECTION, "recipe", .flag = AT(recipe.given), .nullable = true,
        .help = "how gradients are combined (default: derived from the mesh)"),
    WORD("recipe.loss", recipe.loss, loss_reductions, .fallback = "sum",
         .help = "over the valid tokens of this rank in the microbatch"),
    KEY(EXPRESSION, "recipe.scale_loss", .offset = AT(recipe.scale_loss), .fallback = "1",
        .help = "factor before backward"),
    WORD("recipe.accumulate", recipe.accumulate, accumulations, .fallback = "sum",
         .help = "over the microbatches"),
    KEY(SECTIONS, "recipe.reduce", .offset = AT(recipe.reduce), .extra = AT(recipe.reduce_count),
        .flag = AT(recipe.reduce_given), .nullable = true,
        .help = "reductions in this order (default: those of the plan)"),
    KEY(NAMES, "recipe.reduce[].over", .offset = IN_REDUCE(over), .extra = IN_REDUCE(over_count),
        .required = true, .help = "axes; or world, or tied"),
    KEY(WORD, "recipe.reduce[].op", .offset = IN_REDUCE(avg), .words = reduce_ops,
        .fallback = "sum", .help = "avg divides by the number of members"),
    KEY(TEXT, "recipe.reduce[].params", .offset = IN_REDUCE(params), .fallback = "all",
        .help = "all, or a glob on parameter names"),
    KEY(WORD, "recipe.reduce[].when", .offset = IN_REDUCE(when), .words = whens, .fallback = "step",
        .help = "step: the accumulated gradient; otherwise the fresh one of microbatches"),
    KEY(EXPRESSION, "recipe.reduce[].scale", .offset = IN_REDUCE(scale), .fallback = "1",
        .help = "factor of the result"),
    KEY(EXPRESSION, "recipe.scale_grad", .offset = AT(recipe.scale_grad), .fallback = "1",
        .help = "factor after the reductions (1/tokens in the derived recipe)"),
    KEY(SECTION, "recipe.clip", .flag = AT(recipe.clip_given), .nullable = true, .bare = true,
        .help = "clip the gradient"),
    KEY(F64, "recipe.clip.max_norm", .offset = AT(recipe.clip_max_norm), .high = ENDLESS,
        .above = true, .required = true, .help = "largest global norm"),
    WORD("recipe.norm", recipe.norm, norm_counts, .fallback = "unique",
         .help = "which elements the global norm counts"),

    KEY(SECTION, "optimizer", .help = "the update"),
    WORD("optimizer.kind", optimizer.kind, optimizers, .fallback = "adamw", .help = "the rule"),
    KEY(F64, "optimizer.lr", .offset = AT(optimizer.lr), .high = ENDLESS, .above = true,
        .fallback = "1e-3", .help = "learning rate"),
    KEY(F64, "optimizer.momentum", .offset = AT(optimizer.momentum), .high = 1,
        .variants = MOMENTUM, .fallback = "0.9", .help = "share of the last update that is kept"),
    KEY(F64, "optimizer.beta1", .offset = AT(optimizer.beta1), .high = 1, .variants = ADAMW,
        .fallback = "0.9", .help = "decay of the first moment"),
    KEY(F64, "optimizer.beta2", .offset = AT(optimizer.beta2), .high = 1, .variants = ADAMW,
        .fallback = "0.999", .help = "decay of the second moment"),
    KEY(F64, "optimizer.epsilon", .offset = AT(optimizer.epsilon), .high = ENDLESS, .above = true,
        .variants = ADAMW, .fallback = "1e-8", .help = "added to the denominator"),
    KEY(F64, "optimizer.weight_decay", .offset = AT(optimizer.weight_decay), .high = ENDLESS,
        .variants = ADAMW, .fallback = "0", .help = "decoupled weight decay"),
    WORD("optimizer.shard", optimizer.shard, shards, .fallback = "none",
         .help = "what is sharded over the replicas"),
    KEY(AXES, "optimizer.over", .offset = AT(optimizer.over_dp), .extra = AT(optimizer.over_cp),
        .flag = AT(optimizer.over_given), .fallback = "[dp, cp]",
        .help = "axes over which it is sharded"),

    KEY(SECTION, "train", .help = "the loop"),
    SIZE("train.steps", train.steps, .fallback = "20", .help = "optimizer steps"),
    COUNT("train.seed", train.seed, .fallback = "1", .help = "of every random number"),
    WORD("train.schedule", train.schedule, schedules, .fallback = "1f1b",
         .help = "order of microbatches in the pipeline"),
    WORD("train.initial", train.initial, initials, .fallback = "seed",
         .help = "every rank draws its parameters, or the first copy broadcasts"),

    WORD("arithmetic", arithmetic, arithmetics, .fallback = "f64",
         .help = "exact: inputs for which nothing rounds, compared bit for bit"),

    KEY(SECTION, "checks", .help = "what is proved while it runs"),
    SIZE("checks.every", checks.every, .fallback = "1", .help = "steps between two checks"),
    FLAG("checks.ledger", checks.ledger, .fallback = "true",
         .help = "the coefficient of every source of gradient"),
    FLAG("checks.oracle", checks.oracle, .fallback = "true",
         .help = "the same step on a mesh of one"),
    SIZE("checks.oracle_every", checks.oracle_every, .fallback = "1",
         .help = "steps between two comparisons with the oracle"),
    FLAG("checks.checksums", checks.checksums, .fallback = "true",
         .help = "sums of the bytes that collectives move"),

    KEY(SECTION, "precision", .flag = AT(precision.given), .nullable = true, .bare = true,
        .help = "bytes per element, for accounting"),
    BYTES("precision.weight", precision.weight, .required = true, .help = "bytes of a weight"),
    BYTES("precision.gradient", precision.gradient, .required = true,
          .help = "bytes of its gradient"),
    BYTES("precision.master", precision.master, .required = true,
          .help = "bytes of its master copy"),
    BYTES("precision.moments", precision.moments, .required = true,
          .help = "bytes of its optimizer state"),
    BYTES("precision.activation", precision.activation, .fallback = "2",
          .help = "bytes of an activation"),

    KEY(SECTION, "batch", .help = "batch for accounting"),
    SIZE("batch.micro", batch.micro, .fallback = "1", .help = "sequences of a microbatch"),
    SIZE("batch.microbatches", batch.microbatches, .fallback = "1",
         .help = "microbatches of a step"),
    WORD("recompute", recompute, recomputes, .fallback = "none",
         .help = "activations computed again in backward, for accounting"),
    FLAG("sequence_parallel", sequence_parallel, .fallback = "false", .help = "for accounting"),
    FLAG("dropout", dropout, .fallback = "true",
         .help = "the same as model.dropout, for accounting"),
    FLAG("flash", flash, .fallback = "false",
         .help = "attention scores are not kept, for accounting"),

    KEY(TEXTS, "faults", .offset = AT(faults), .extra = AT(fault_count), .fallback = "[]",
        .help = "faults to inject: kind key=value..."),
    KEY(DURATION, "stall_after", .offset = AT(stall_after_ns), .nullable = true, .fallback = "null",
        .help = "budget of a rank that keeps others waiting"),
    KEY(DURATION, "stop_grace", .offset = AT(stop_grace_ns), .fallback = "2s",
        .help = "how long a stopped rank may hold up all others"),
};

const struct emu_key *emu_schema_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}
