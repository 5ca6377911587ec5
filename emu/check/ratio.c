#include "check/ratio.h"

#include <inttypes.h>
#include <math.h>

#define FACTORS_MAX (EMU_MESH_MAX_AXES + 1)
#define REASONS_MAX 4
#define LARGEST 1e9

bool emu_ratio_near(double x, double tolerance, struct emu_ratio *ratio)
{
    if (!(fabs(x) < LARGEST) || x == 0.0)
        return false;
    double rest = fabs(x);
    int64_t top = 1, bottom = 0, last_top = 0, last_bottom = 1;
    for (int terms = 0; terms < 32; terms++) {
        double whole = floor(rest);
        if (whole > LARGEST)
            return false;
        int64_t next_top = (int64_t)whole * top + last_top;
        int64_t next_bottom = (int64_t)whole * bottom + last_bottom;
        if (next_bottom > EMU_RATIO_MOST || next_top > (int64_t)LARGEST * EMU_RATIO_MOST)
            return false;
        last_top = top;
        last_bottom = bottom;
        top = next_top;
        bottom = next_bottom;
        if (top > 0 && fabs((double)top / (double)bottom - fabs(x)) <= tolerance * fabs(x)) {
            *ratio = (struct emu_ratio){.top = x < 0 ? -top : top, .bottom = bottom};
            return true;
        }
        if (rest == whole)
            return false;
        rest = 1.0 / (rest - whole);
    }
    return false;
}

void emu_ratio_text(struct emu_text *out, struct emu_ratio ratio)
{
    emu_text_printf(out, "%" PRId64, ratio.top);
    if (ratio.bottom != 1)
        emu_text_printf(out, "/%" PRId64, ratio.bottom);
}

/* A number of the run that a gradient may have been multiplied or divided by. */
struct factor {
    const char *of; /* "size of " or "" */
    const char *name;
    int64_t size;
};

static size_t list_factors(const struct emu_plan *plan, struct factor factors[FACTORS_MAX])
{
    const struct emu_mesh *mesh = plan->roster.mesh;
    size_t count = 0;
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        if (mesh->axes[i].size > 1)
            factors[count++] =
                (struct factor){"size of ", mesh->axes[i].name, (int64_t)mesh->axes[i].size};
    if (plan->microbatches > 1 && plan->microbatches < (uint64_t)LARGEST)
        factors[count++] = (struct factor){"", "microbatches", (int64_t)plan->microbatches};
    return count;
}

/* Is top/bottom the same number as a/b? What does not fit in 64 bits is no size of a mesh. */
static bool equals(struct emu_ratio ratio, int64_t a, int64_t b)
{
    int64_t left, right;
    return !__builtin_mul_overflow(ratio.top, b, &left) &&
           !__builtin_mul_overflow(ratio.bottom, a, &right) && left == right;
}

struct reasons {
    struct emu_text *out;
    struct emu_ratio ratio;
    int count;
};

/* Start one more reason: "2 = " or ", or ". */
static bool add_reason(struct reasons *reasons)
{
    if (reasons->count == REASONS_MAX)
        return false;
    if (reasons->count++ == 0) {
        emu_ratio_text(reasons->out, reasons->ratio);
        emu_text_puts(reasons->out, " = ");
    } else {
        emu_text_puts(reasons->out, ", or ");
    }
    return true;
}

static void explain_single(struct reasons *reasons, const struct factor *f)
{
    bool times = equals(reasons->ratio, f->size, 1);
    if ((times || equals(reasons->ratio, 1, f->size)) && add_reason(reasons))
        emu_text_printf(reasons->out, "%s%s%s", times ? "" : "1 / ", f->of, f->name);
}

static void explain_pair(struct reasons *reasons, const struct factor *f, const struct factor *g)
{
    bool times = equals(reasons->ratio, f->size * g->size, 1);
    bool over = equals(reasons->ratio, 1, f->size * g->size);
    if ((times || over) && add_reason(reasons))
        emu_text_printf(reasons->out, times ? "%s%s * %s%s" : "1 / (%s%s * %s%s)", f->of, f->name,
                        g->of, g->name);
    if (equals(reasons->ratio, f->size, g->size) && add_reason(reasons))
        emu_text_printf(reasons->out, "%s%s / %s%s", f->of, f->name, g->of, g->name);
    if (equals(reasons->ratio, g->size, f->size) && add_reason(reasons))
        emu_text_printf(reasons->out, "%s%s / %s%s", g->of, g->name, f->of, f->name);
}

void emu_ratio_explain(struct emu_text *out, const struct emu_plan *plan, struct emu_ratio ratio)
{
    if (ratio.top == ratio.bottom)
        return;
    struct factor factors[FACTORS_MAX];
    size_t count = list_factors(plan, factors);
    struct reasons reasons = {.out = out, .ratio = ratio};
    for (size_t i = 0; i < count; i++)
        explain_single(&reasons, &factors[i]);
    if (reasons.count > 0)
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i; j < count; j++)
            explain_pair(&reasons, &factors[i], &factors[j]);
}
