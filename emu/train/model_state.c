#include "train/model_state.h"

extern const struct emu_model_ops emu_model_mlp_ops;    /* model_mlp.c */
extern const struct emu_model_ops emu_model_linear_ops; /* model_linear.c */

const struct emu_model_ops *emu_model_ops_of(enum emu_model_kind kind)
{
    return kind == EMU_MODEL_LINEAR ? &emu_model_linear_ops : &emu_model_mlp_ops;
}
