#include "report/fault_json.h"

void emu_faults_to_json(const struct emu_fault_told *faults, size_t count, struct emu_json *json)
{
    emu_json_key(json, "faults");
    emu_json_array_begin(json);
    for (size_t i = 0; i < count && !json->failed; i++) {
        emu_json_object_begin(json);
        emu_json_put_string(json, "fault", faults[i].spec);
        emu_json_put_u64(json, "fired", faults[i].fired);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
}
