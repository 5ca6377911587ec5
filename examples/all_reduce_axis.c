/* One all_reduce on each axis of a mesh, checked against what the members must add up to.
 *
 *   all_reduce_axis [MESH]      default dp=2,tp=3
 *
 * Every rank brings its own number. Over an axis the members of a group differ in that coordinate
 * alone, so on dp=2,tp=3 the group of rank 4 over tp is 3,4,5 and over dp is 1,4.
 */
#include <meshemu/meshemu.h>

#include <stdio.h>

/* What the ranks of this rank's group over the axis add up to, by arithmetic alone. */
static int64_t expected_sum(const struct emu_mesh *mesh, const struct emu_axes *axis, uint32_t rank)
{
    struct emu_group group = emu_group_of(mesh, axis, rank);
    int64_t sum = 0;

    for (uint32_t i = 0; i < group.size; i++)
        sum += emu_group_member(&group, i);
    return sum;
}

static int sum_axes(struct emu_rank *rank, void *user)
{
    const struct emu_mesh *mesh = emu_rank_mesh(rank);
    uint32_t id = emu_rank_id(rank);
    int wrong = 0;

    (void)user;
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        struct emu_axes axis = {.count = 1, .index = {(uint8_t)i}};
        int64_t mine = id;
        int64_t sum = 0;
        uint32_t group;

        enum emu_status status = emu_rank_group(rank, mesh->axes[i].name, &group);
        if (status == EMU_OK)
            status = emu_all_reduce(rank, group, &mine, &sum, 1, EMU_I64, EMU_SUM);
        if (status != EMU_OK) {
            fprintf(stderr, "%s: %s\n", mesh->axes[i].name, emu_status_text(status));
            return 1;
        }
        int64_t expected = expected_sum(mesh, &axis, id);
        printf("over %s: %lld%s\n", mesh->axes[i].name, (long long)sum,
               sum == expected ? "" : ", which is wrong");
        wrong += sum != expected;
    }
    return wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct emu_launch_options options = {.mesh = argc > 1 ? argv[1] : "dp=2,tp=3"};
    struct emu_outcome *outcome = NULL;

    if (emu_launch(&options, sum_axes, NULL, &outcome) != EMU_OK)
        return 3; /* the reason is on standard error */

    bool passed = emu_outcome_passed(outcome);
    if (!passed)
        emu_outcome_print(outcome, stderr);
    emu_outcome_destroy(outcome);
    return passed ? 0 : 1;
}
