#include "train/weigh.h"

#include "train/model_state.h"

/* fresh * weight joins the gradient; with one source they are one buffer. */
static void join(struct emu_trainer *trainer, const struct emu_rational *weights, uint32_t source,
                 uint64_t terms)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    uint32_t sources = emu_plan_sources(trainer->plan);
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *p = &trainer->parameters[i];
        const struct emu_rational *weight = &weights[(size_t)i * sources + source];
        kernels->scale(p->fresh, p->elements, (double)weight->numerator,
                       (double)weight->denominator);
        kernels->add_term(p->gradient, p->fresh, p->elements, terms);
    }
}

enum emu_status emu_trainer_weigh(struct emu_trainer *trainer, const struct emu_rational *weights,
                                  uint64_t terms)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    const struct emu_model_ops *ops = emu_model_ops_of(trainer->plan->config->model.kind);
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++)
        kernels->zero(trainer->parameters[i].gradient, trainer->parameters[i].room);
    for (uint32_t source = 0; source < emu_plan_sources(trainer->plan); source++) {
        for (uint32_t i = 0; i < trainer->plan->tensor_count; i++)
            kernels->zero(trainer->parameters[i].fresh, trainer->parameters[i].room);
        kernels->zero(trainer->source_loss, 1);
        enum emu_status status = ops->forward(trainer, source);
        if (status == EMU_OK)
            status = ops->backward(trainer, source);
        if (status != EMU_OK)
            return status;
        join(trainer, weights, source, terms);
    }
    return EMU_OK;
}
