/* Four processes, each of which says where it stands on the mesh.
 *
 *   hello_ranks [MESH]      default dp=2,tp=2
 *
 * The common ground of C and C++: this file compiles as either.
 */
#include <meshemu/meshemu.h>

#include <stdio.h>

/* Runs in every rank's own process; what it returns is the exit code of that process. */
static int hello(struct emu_rank *rank, void *user)
{
    const struct emu_mesh *mesh = emu_rank_mesh(rank);
    uint32_t coords[EMU_MESH_MAX_AXES];
    char place[EMU_MESH_MAX_AXES * (EMU_NAME_MAX + 12)] = "";
    int length = 0;

    (void)user;
    emu_mesh_coords(mesh, emu_rank_id(rank), coords);
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        length += snprintf(place + length, sizeof place - (size_t)length, " %s=%u",
                           mesh->axes[i].name, coords[i]);
    printf("hello from rank %u of %u at%s\n", emu_rank_id(rank), emu_rank_world(rank), place);
    return 0;
}

int main(int argc, char **argv)
{
    struct emu_launch_options options = {0};
    struct emu_outcome *outcome = NULL;

    options.mesh = argc > 1 ? argv[1] : "dp=2,tp=2";
    if (emu_launch(&options, hello, NULL, &outcome) != EMU_OK)
        return 3; /* the reason is on standard error */

    bool passed = emu_outcome_passed(outcome);
    if (!passed)
        emu_outcome_print(outcome, stderr);
    emu_outcome_destroy(outcome);
    return passed ? 0 : 1;
}
