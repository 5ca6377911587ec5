/* The "memory" and "traffic" of a run's JSON report: what each rank held and sent. */
#ifndef EMU_REPORT_BOOKS_JSON_H
#define EMU_REPORT_BOOKS_JSON_H

#include "check/outcome.h"
#include "report/json_writer.h"

/* Two keys of the open object: "memory": {"ranks": [{"rank", "requested": {category: bytes},
 * "rounded", "pss"}]} and "traffic": {"ranks": [{"rank", "collectives": {family: bytes},
 * "messages": {axis: bytes}, "lent_calls"}], "pairs": [{"from", "to", "bytes"}]}, bytes of the last
 * step at their stated cost; zeros left out. lent_calls: of all steps, see seg/ways.h. pss: an
 * opinion of the kernel's and no check, null where it has none. What counts for a pair:
 * report/traffic_map.h. Empty objects where nothing ran. */
void emu_books_to_json(const struct emu_training_result *result, struct emu_json *json);

#endif
