#include "nn/halt.h"

#include <stddef.h>

static _Thread_local bool (*question)(const void *context);
static _Thread_local const void *question_context;

void emu_halt_watch(bool (*asked)(const void *context), const void *context)
{
    question = asked;
    question_context = context;
}

bool emu_halt_asked(void)
{
    return question && question(question_context);
}
