/* Every combination of activation, norm, loss and tying, for parameterised tests. */
#ifndef TEST_NN_TINY_MODELS_H
#define TEST_NN_TINY_MODELS_H

#include "tiny_model.h"

enum { TINY_MODELS = 3 * 2 * 2 * 2 };

static inline struct tiny tiny_model_number(int i)
{
    static const enum emu_activation activations[] = {EMU_GELU, EMU_SILU, EMU_RELU};
    return (struct tiny){.vocab = 11,
                         .embed = 4,
                         .context = 3,
                         .hidden = 7,
                         .rows = 9,
                         .activation = activations[i % 3],
                         .norm = i / 3 % 2 ? EMU_NORM_RMS : EMU_NORM_NONE,
                         .loss = i / 6 % 2 ? EMU_CROSS_ENTROPY : EMU_SQUARED,
                         .tied = i / 12 % 2 == 1};
}

#endif
