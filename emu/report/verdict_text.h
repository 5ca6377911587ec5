/* The end of every report that people read: the verdict in one line, then the findings. */
#ifndef EMU_REPORT_VERDICT_TEXT_H
#define EMU_REPORT_VERDICT_TEXT_H

#include "base/text.h"

#include <meshemu/finding.h>
#include <meshemu/mesh.h>

#include <stdbool.h>

enum emu_tone { EMU_TONE_GOOD, EMU_TONE_BAD, EMU_TONE_QUIET };

/* A word of judgement, with ANSI escapes where colour is wanted. */
void emu_tone_text(const char *word, enum emu_tone tone, bool colour, struct emu_text *out);

/* "verdict: fail, 1 fault, 2 notes"; passed is what has no fault and was not interrupted. */
void emu_verdict_text(const struct emu_findings *findings, bool interrupted,
                      const struct emu_mesh *mesh, bool colour, struct emu_text *out);

/* "dp=2,tp=2: 4 ranks, one process each", and the line's end. */
void emu_processes_text(const struct emu_mesh *mesh, struct emu_text *out);

#endif
