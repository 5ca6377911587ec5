/* A mesh from a text that must be right. */
#ifndef EMU_TESTS_MESH_CASES_H
#define EMU_TESTS_MESH_CASES_H

#include <meshemu/mesh.h>

#include <criterion/criterion.h>

static inline struct emu_mesh mesh_of(const char *text)
{
    struct emu_mesh mesh;
    struct emu_mesh_error error;
    enum emu_status status = emu_mesh_parse(text, &mesh, &error);
    cr_assert_eq(status, EMU_OK, "%s: %s", text, error.message);
    return mesh;
}

static inline struct emu_axes axes_of(const struct emu_mesh *mesh, const char *text)
{
    struct emu_axes axes;
    struct emu_mesh_error error;
    enum emu_status status = emu_axes_parse(mesh, text, &axes, &error);
    cr_assert_eq(status, EMU_OK, "%s: %s", text, error.message);
    return axes;
}

#endif
