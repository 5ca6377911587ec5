/* What did the user ask for? Text (YAML, JSON as flow) -> one validated, immutable struct.
 *
 * One schema table names every key with its kind, bounds, words, default and a line of help: it
 * reads configs, checks --set, prints --help-config and suggests names. All errors of a text are
 * reported in one go with file:line:column, the source line and a caret. Nothing here makes a
 * system call: the caller reads the files.
 */
#ifndef EMU_CONFIG_CONFIG_H
#define EMU_CONFIG_CONFIG_H

#include "base/text.h"

#include <meshemu/mesh.h>
#include <meshemu/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum emu_model_kind { EMU_MODEL_MLP_LM, EMU_MODEL_LINEAR, EMU_MODEL_TRANSFORMER };
enum emu_activation { EMU_GELU, EMU_RELU, EMU_SILU };
enum emu_norm_kind { EMU_NORM_RMS, EMU_NORM_NONE, EMU_NORM_LAYER };
enum emu_loss_kind { EMU_CROSS_ENTROPY, EMU_SQUARED };
enum emu_cp_split { EMU_CONTIGUOUS, EMU_BALANCED };
enum emu_optimizer_kind { EMU_SGD, EMU_MOMENTUM, EMU_ADAMW };
enum emu_optimizer_shard { EMU_SHARD_NONE, EMU_ZERO1, EMU_ZERO2, EMU_ZERO3 };
enum emu_schedule_kind { EMU_ONE_F_ONE_B, EMU_GPIPE };
enum emu_initial { EMU_INITIAL_SEED, EMU_INITIAL_BROADCAST };
enum emu_arithmetic { EMU_ARITH_F64, EMU_ARITH_F32, EMU_ARITH_EXACT };
enum emu_positions { EMU_ROTARY, EMU_LEARNED, EMU_POSITIONS_NONE };
enum emu_recompute { EMU_RECOMPUTE_NONE, EMU_RECOMPUTE_SELECTIVE, EMU_RECOMPUTE_FULL };
enum emu_loss_reduction { EMU_LOSS_SUM, EMU_LOSS_MEAN };
enum emu_accumulate { EMU_ACC_SUM, EMU_ACC_MEAN, EMU_ACC_LAST };
enum emu_when { EMU_WHEN_STEP, EMU_WHEN_MICROBATCH, EMU_WHEN_FIRST, EMU_WHEN_LAST };
enum emu_norm_count { EMU_COUNT_UNIQUE, EMU_COUNT_LOCAL, EMU_COUNT_REPLICAS };

struct emu_model_config {
    enum emu_model_kind kind;
    /* mlp_lm */
    uint64_t context, embed, hidden, layers;
    enum emu_activation activation;
    enum emu_norm_kind norm;
    bool tie_embeddings;
    enum emu_loss_kind loss;
    enum emu_cp_split cp_split;
    bool sequence_parallel;
    uint64_t *stages; /* layers per pipeline stage; NULL: balanced */
    size_t stage_count;
    /* linear */
    uint64_t features;
    /* transformer (accounting only) */
    uint64_t heads, kv_heads, head_dim, ffn, vocab, vocab_multiple, sequence;
    bool gated, bias, qkv_bias, qk_norm, embedding_norm, dropout;
    enum emu_positions positions;
    bool has_experts, has_latent;
    struct {
        uint64_t count, active, shared, ffn, from_layer;
        bool router_bias;
    } experts;
    struct {
        uint64_t q, kv, nope, rope, value;
    } latent;
};

/* Inline tokens, flattened: value[((dp*cp_count + cp)*microbatches + mb) ...]; see token_index. */
struct emu_token_list {
    uint32_t dp_count, cp_count, microbatches;
    uint64_t features;
    uint64_t *first; /* dp*cp*mb + 1 entries: first token of each source; owned by the config */
    double *value;   /* tokens * features */
    bool *masked;    /* one a token */
    uint64_t tokens;
};

struct emu_data_config {
    char *text; /* path, resolved against the config file or, from --set, the working directory;
                   NULL: none */
    uint64_t sequence, batch, microbatches;
    struct emu_token_list *inline_tokens; /* NULL: none */
};

struct emu_reduce_config {
    char **over; /* axis names, or "tied", or "world" */
    size_t over_count;
    bool avg;
    char *params; /* "all" or a glob */
    enum emu_when when;
    char *scale;           /* rational expression, as text */
    uint32_t line, column; /* in the file; 0: from the command line */
};

struct emu_recipe_config {
    bool given; /* false: derive it */
    enum emu_loss_reduction loss;
    char *scale_loss;
    enum emu_accumulate accumulate;
    bool reduce_given;
    struct emu_reduce_config *reduce;
    size_t reduce_count;
    char *scale_grad;
    bool clip_given;
    double clip_max_norm;
    enum emu_norm_count norm;
};

struct emu_optimizer_config {
    enum emu_optimizer_kind kind;
    double lr, momentum, beta1, beta2, epsilon, weight_decay;
    enum emu_optimizer_shard shard;
    bool over_given;
    bool over_dp, over_cp;
};

struct emu_train_config {
    uint64_t steps, seed;
    enum emu_schedule_kind schedule;
    enum emu_initial initial;
};

struct emu_checks_config {
    uint64_t every, oracle_every;
    bool ledger, oracle, checksums;
};

struct emu_config {
    char *name; /* of the file, for messages */
    bool has_mesh, has_model, has_data;
    char *mesh_axes; /* as written */
    struct emu_mesh mesh;
    struct emu_model_config model;
    struct emu_data_config data;
    struct emu_recipe_config recipe;
    struct emu_optimizer_config optimizer;
    struct emu_train_config train;
    enum emu_arithmetic arithmetic;
    struct emu_checks_config checks;
    struct {
        bool given;
        uint64_t weight, gradient, master, moments, activation;
    } precision;
    struct {
        uint64_t micro, microbatches;
    } batch; /* accounting only */
    enum emu_recompute recompute;
    bool sequence_parallel, flash;
    bool dropout; /* equals model.dropout, whichever of them was given */
    char **faults;
    size_t fault_count;
    int64_t stall_after_ns; /* -1: no budget */
    uint64_t stop_grace_ns;
    void *store; /* owns every string and array above, and the places of all keys */
};

/* One override from the command line: "data.text=file.txt". */
struct emu_override {
    const char *text;
};

struct emu_config_params {
    const char *name;      /* of the file, in messages */
    const char *directory; /* paths in the text are relative to it; "" for the working directory */
    const char *text;
    size_t size;
    const struct emu_override *sets;
    size_t set_count;
};

/* EMU_OK with *config for emu_config_destroy, or EMU_EPARSE with every error appended to
 * diagnostics, ready to print. */
EMU_MUST_CHECK enum emu_status emu_config_read(const struct emu_config_params *params,
                                               struct emu_text *diagnostics,
                                               struct emu_config **config);
void emu_config_destroy(struct emu_config *config);

/* Append "FILE:LINE:COLUMN: error: ..." with source line and caret for the place where `key`
 * ("model.hidden") was given, or for its parent or the file where it was left to the default. For
 * checks that need more than one key (plan). */
void emu_config_complain(const struct emu_config *config, struct emu_text *diagnostics,
                         const char *key, const char *format, ...) EMU_PRINTF(4, 5);

/* All keys with kind, default, words and help, for --help-config. */
void emu_config_help(struct emu_text *out);

/* The resolved config as one JSON object (every key with the value in force), for the report.
 * Appends text; never fails but for memory (out->failed). */
void emu_config_to_json(const struct emu_config *config, struct emu_text *out);

#endif
