/* The formulas of f32 in quadruple precision. */
#define CONSTANT float
#define TABLE quad_of_f32
#define TABLE_NAME "quad of f32"
#include "quad_body.inc.h"
