#include "cli/lab_prompt.h"

#include <inttypes.h>

#define SHARDS_SHOWN 8

static void print_shards(const struct emu_lab *lab, const struct emu_lab_result *result, FILE *out)
{
    fprintf(out,
            "ownership: on this mesh the %" PRIu32 " that are up hold %" PRIu32 " of %" PRIu32
            " distinct shards\n",
            result->up, result->shards_alive, result->shards);
    for (uint32_t shard = 0; shard < result->shards && shard < SHARDS_SHOWN; shard++) {
        char name[EMU_LAB_SHARD_MAX];
        uint32_t copies;
        uint32_t up = emu_lab_holders(lab, result, shard, &copies);
        emu_lab_shard_name(lab, shard, name);
        fprintf(out, "  %-16s %" PRIu32 " of %" PRIu32 " holders up%s\n", name, up, copies,
                up ? "" : ": LOST");
    }
    if (result->shards > SHARDS_SHOWN)
        fprintf(out, "  ... %" PRIu32 " more shards (--json FILE lists those that are lost)\n",
                result->shards - SHARDS_SHOWN);
}

void emu_lab_print_result(const struct emu_lab *lab, const struct emu_lab_result *result, FILE *out)
{
    fprintf(out, "%" PRIu32 " processes forked, %" PRIu32 " killed: %" PRIu32 " up\n", result->n,
            lab->k, result->up);
    if (lab->has_prediction)
        fprintf(out, "prediction: %" PRIu32 ", %s\n", lab->prediction,
                lab->prediction == result->up ? "right" : "wrong");
    else
        fputs("prediction: none made\n", out);
    fprintf(out, "majority: %" PRIu32 " needed, %s\n", lab->majority,
            result->up >= lab->majority ? "reached" : "not reached");
    if (lab->has_mesh)
        print_shards(lab, result, out);
    else
        fputs("ownership: not shown by this count; set mesh dp=2,tp=2 shows what they hold\n", out);
    fputs("A count of replicas is availability alone: majority plays no part in any parameter "
          "formula.\n",
          out);
}
