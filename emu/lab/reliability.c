#include "lab/reliability.h"

#include "base/number.h"
#include "base/philox.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A replica that is stopped or starved does not answer; nobody waits for it longer. */
#define ANSWER_NS UINT64_C(10000000000)

void emu_lab_reset(struct emu_lab *lab)
{
    uint64_t trial = lab->trial;
    *lab = (struct emu_lab){.n = 4, .majority = 3, .trial = trial};
}

static bool refuse(char error[EMU_LAB_ERROR_MAX], const char *format, const char *key,
                   uint32_t least, uint32_t most)
{
    snprintf(error, EMU_LAB_ERROR_MAX, format, key, least, most);
    return false;
}

static bool read_count(const char *key, const char *value, uint32_t least, uint32_t most,
                       uint32_t *out, char error[EMU_LAB_ERROR_MAX])
{
    uint64_t number;
    if (!emu_parse_u64(value, &number) || number < least || number > most)
        return refuse(error, "%s is a whole number from %" PRIu32 " to %" PRIu32, key, least, most);
    *out = (uint32_t)number;
    return true;
}

static void take_n(struct emu_lab *lab, uint32_t n)
{
    lab->n = n;
    lab->k = lab->k > n ? n : lab->k;
    if (!lab->majority_set)
        lab->majority = n / 2 + 1;
}

static bool set_mesh(struct emu_lab *lab, const char *value, char error[EMU_LAB_ERROR_MAX])
{
    struct emu_mesh mesh;
    struct emu_mesh_error why;
    if (!strcmp(value, "none")) {
        lab->has_mesh = false;
        return true;
    }
    if (emu_mesh_parse(value, &mesh, &why) != EMU_OK) {
        snprintf(error, EMU_LAB_ERROR_MAX, "mesh: %s", why.message);
        return false;
    }
    if (mesh.world > EMU_REPLICAS_MOST) {
        snprintf(error, EMU_LAB_ERROR_MAX, "mesh: %" PRIu32 " ranks are more than %d replicas",
                 mesh.world, EMU_REPLICAS_MOST);
        return false;
    }
    lab->mesh = mesh;
    lab->has_mesh = true;
    take_n(lab, mesh.world);
    return true;
}

static bool set_n(struct emu_lab *lab, const char *value, char error[EMU_LAB_ERROR_MAX])
{
    uint32_t n;
    if (!read_count("n", value, 1, EMU_REPLICAS_MOST, &n, error))
        return false;
    if (lab->has_mesh && n != lab->mesh.world) {
        snprintf(error, EMU_LAB_ERROR_MAX,
                 "n is %" PRIu32 " on this mesh; change the mesh, or set it to none",
                 lab->mesh.world);
        return false;
    }
    take_n(lab, n);
    return true;
}

static bool set_prediction(struct emu_lab *lab, const char *value, char error[EMU_LAB_ERROR_MAX])
{
    lab->has_prediction = strcmp(value, "none") != 0;
    if (!lab->has_prediction)
        return true;
    return read_count("predict", value, 0, EMU_REPLICAS_MOST, &lab->prediction, error);
}

static bool set_one(struct emu_lab *lab, const char *key, const char *value,
                    char error[EMU_LAB_ERROR_MAX])
{
    if (!strcmp(key, "n"))
        return set_n(lab, value, error);
    if (!strcmp(key, "k"))
        return read_count("k", value, 0, lab->n, &lab->k, error);
    if (!strcmp(key, "predict"))
        return set_prediction(lab, value, error);
    if (!strcmp(key, "mesh"))
        return set_mesh(lab, value, error);
    if (!strcmp(key, "majority")) {
        lab->majority_set = true;
        return read_count("majority", value, 1, EMU_REPLICAS_MOST, &lab->majority, error);
    }
    snprintf(error, EMU_LAB_ERROR_MAX, "'%.40s' cannot be set; n, k, predict, majority, mesh can",
             key);
    return false;
}

bool emu_lab_set(struct emu_lab *lab, const char *key, const char *value,
                 char error[EMU_LAB_ERROR_MAX])
{
    struct emu_lab changed = *lab;
    if (!set_one(&changed, key, value, error))
        return false;
    *lab = changed;
    return true;
}

/* k different replicas, others in each trial but the same in every run of the program. */
static void kill_some(const struct emu_lab *lab, struct emu_replicas *replicas)
{
    uint32_t order[EMU_REPLICAS_MOST];
    for (uint32_t i = 0; i < lab->n; i++)
        order[i] = i;
    for (uint32_t i = 0; i < lab->k; i++) {
        uint32_t other = i + (uint32_t)(emu_random_bits(1, lab->trial, i) % (lab->n - i));
        uint32_t victim = order[other];
        order[other] = order[i];
        order[i] = victim;
        emu_replicas_kill(replicas, victim);
    }
}

/* The axes that copy a shard. */
static struct emu_axes copy_axes(const struct emu_mesh *mesh)
{
    struct emu_axes axes = {0};
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        if (strcmp(mesh->axes[i].name, "tp") != 0 && strcmp(mesh->axes[i].name, "pp") != 0)
            axes.index[axes.count++] = (uint8_t)i;
    }
    return axes;
}

uint32_t emu_lab_holders(const struct emu_lab *lab, const struct emu_lab_result *result,
                         uint32_t shard, uint32_t *copies)
{
    struct emu_axes axes = copy_axes(&lab->mesh);
    struct emu_group group = emu_group_nth(&lab->mesh, &axes, shard);
    uint32_t up = 0;
    for (uint32_t i = 0; i < group.size; i++)
        up += result->alive[emu_group_member(&group, i)];
    *copies = group.size;
    return up;
}

void emu_lab_shard_name(const struct emu_lab *lab, uint32_t shard, char out[EMU_LAB_SHARD_MAX])
{
    struct emu_axes axes = copy_axes(&lab->mesh);
    struct emu_group group = emu_group_nth(&lab->mesh, &axes, shard);
    uint32_t rank = emu_group_member(&group, 0);
    size_t used = 0;
    snprintf(out, EMU_LAB_SHARD_MAX, "the whole model");
    for (uint32_t i = 0; i < lab->mesh.axis_count; i++) {
        const char *name = lab->mesh.axes[i].name;
        if (strcmp(name, "tp") != 0 && strcmp(name, "pp") != 0)
            continue;
        used += (size_t)snprintf(out + used, EMU_LAB_SHARD_MAX - used, "%s%s=%" PRIu32,
                                 used ? "," : "", name, emu_mesh_coord(&lab->mesh, rank, name));
    }
}

static void count_shards(const struct emu_lab *lab, struct emu_lab_result *result)
{
    struct emu_axes axes = copy_axes(&lab->mesh);
    uint32_t copies;
    result->shards = emu_axes_group_count(&lab->mesh, &axes);
    result->shards_alive = 0;
    for (uint32_t shard = 0; shard < result->shards; shard++)
        result->shards_alive += emu_lab_holders(lab, result, shard, &copies) > 0;
}

enum emu_status emu_lab_step(struct emu_lab *lab, struct emu_lab_result *result,
                             struct emu_reason *reason)
{
    struct emu_replicas replicas;
    enum emu_status status = emu_replicas_start(&replicas, lab->n, reason);
    if (status != EMU_OK)
        return status;
    result->n = lab->n;
    memcpy(result->pids, replicas.pids, sizeof result->pids);
    kill_some(lab, &replicas);
    result->up = emu_replicas_ask(&replicas, ANSWER_NS, result->alive);
    emu_replicas_finish(&replicas);
    lab->trial++;
    if (lab->has_mesh)
        count_shards(lab, result);
    return EMU_OK;
}
