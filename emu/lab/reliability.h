/* n replicas, k of them down: how many are up, was that predicted, is it a majority?
 *
 * A step forks n real processes, kills k of them, and counts those that still answer. That counts
 * available replicas and nothing else. Beside it stands what the count does not show: on a mesh,
 * how many different shards the survivors hold. A shard is what the ranks of one tp and pp
 * coordinate hold; all other axes copy it.
 */
#ifndef EMU_LAB_RELIABILITY_H
#define EMU_LAB_RELIABILITY_H

#include "os/replica_processes.h"

#include <meshemu/mesh.h>

struct emu_lab {
    uint32_t n, k;
    uint32_t majority; /* replicas that are needed */
    bool majority_set; /* else it follows n: more than half */
    bool has_prediction;
    uint32_t prediction;
    bool has_mesh;
    struct emu_mesh mesh; /* of n ranks */
    uint64_t trial;       /* steps taken: other replicas are killed in each */
};

struct emu_lab_result {
    uint32_t n, up;
    bool alive[EMU_REPLICAS_MOST];
    pid_t pids[EMU_REPLICAS_MOST];
    uint32_t shards, shards_alive; /* where there is a mesh */
};

/* n=4, k=0, majority 3, no prediction, no mesh. */
void emu_lab_reset(struct emu_lab *lab);

/* Set one of n, k, majority, predict, mesh; "none" forgets a prediction or a mesh. false: *error
 * (of EMU_LAB_ERROR_MAX bytes) says what is allowed, nothing changed. */
#define EMU_LAB_ERROR_MAX 320
EMU_MUST_CHECK bool emu_lab_set(struct emu_lab *lab, const char *key, const char *value,
                                char error[EMU_LAB_ERROR_MAX]);

/* Fork, kill, count. EMU_ESYSTEM with the reason. */
EMU_MUST_CHECK enum emu_status emu_lab_step(struct emu_lab *lab, struct emu_lab_result *result,
                                            struct emu_reason *reason);

/* Replicas of the shard with this number that are up, of *copies. */
uint32_t emu_lab_holders(const struct emu_lab *lab, const struct emu_lab_result *result,
                         uint32_t shard, uint32_t *copies);

/* "tp=1", "pp=0,tp=1", "the whole model": at most EMU_LAB_SHARD_MAX bytes. */
#define EMU_LAB_SHARD_MAX 64
void emu_lab_shard_name(const struct emu_lab *lab, uint32_t shard, char out[EMU_LAB_SHARD_MAX]);

#endif
