/* What a call can answer.
 *
 * 0 is success. Every function that can fail returns one of these, is marked must-check, writes
 * its outputs last and only on success. The list below is the only place where a status is named.
 */
#ifndef MESHEMU_STATUS_H
#define MESHEMU_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define EMU_MUST_CHECK __attribute__((warn_unused_result))
#define EMU_PRINTF(format_index, first_argument)                                                   \
    __attribute__((format(printf, format_index, first_argument)))
#define EMU_PUBLIC __attribute__((visibility("default")))
#else
#define EMU_MUST_CHECK
#define EMU_PRINTF(format_index, first_argument)
#define EMU_PUBLIC
#endif

#define EMU_STATUS_LIST(X)                                                                         \
    X(EMU_OK, 0, "success")                                                                        \
    X(EMU_EINVAL, 1, "an argument breaks the contract of the call")                                \
    X(EMU_ENOMEM, 2, "out of memory")                                                              \
    X(EMU_ERANGE, 3, "a number does not fit")                                                      \
    X(EMU_EPARSE, 4, "the text could not be read; the diagnostics say where")                      \
    X(EMU_ENOTFOUND, 5, "no such name")                                                            \
    X(EMU_ENOTMEMBER, 6, "the caller is not a member of the group")                                \
    X(EMU_EMISMATCH, 7, "the members of the group made different calls; no data was written")      \
    X(EMU_EPEER, 8, "a member of the group failed or ended before the call")                       \
    X(EMU_EABORTED, 9, "the whole run was ended")                                                  \
    X(EMU_ETIMEOUT, 10, "the deadline passed")                                                     \
    X(EMU_ESYSTEM, 11, "the system refused memory, processes or files")                            \
    X(EMU_EUNSUPPORTED, 12, "not available here")                                                  \
    X(EMU_EINTERNAL, 13, "a defect of meshemu itself")                                             \
    X(EMU_ECORRUPT, 14, "the bytes of a member did not arrive as they were sent")

enum emu_status {
#define EMU_STATUS_ENUMERATOR(name, value, text) name = value,
    EMU_STATUS_LIST(EMU_STATUS_ENUMERATOR)
#undef EMU_STATUS_ENUMERATOR
};

/* The enumerator as text ("EMU_EINVAL"); never NULL, "EMU_?" for an unknown value. */
EMU_PUBLIC const char *emu_status_name(enum emu_status status);

/* One sentence about the status; never NULL. */
EMU_PUBLIC const char *emu_status_text(enum emu_status status);

#ifdef __cplusplus
}
#endif
#endif
