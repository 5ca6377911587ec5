/* How do the catalogue of faults and the score of a campaign look? */
#ifndef EMU_CLI_FAULTS_PRINT_H
#define EMU_CLI_FAULTS_PRINT_H

#include "base/text.h"
#include "report/json_writer.h"
#include "run/campaign.h"

/* Every kind: its parameters, the classes that may catch it in this plan, or why it does not apply.
 */
void emu_faults_list_text(const struct emu_plan *plan, struct emu_text *out);
void emu_faults_list_json(const struct emu_plan *plan, struct emu_json *json);

/* The matrix kinds x checks, what went wrong, and the verdict. */
void emu_campaign_to_text(const struct emu_campaign *campaign, struct emu_text *out);
void emu_campaign_to_json(const struct emu_campaign *campaign, struct emu_json *json);

#endif
