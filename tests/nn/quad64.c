/* The formulas of f64 in quadruple precision. */
#define CONSTANT double
#define TABLE quad_of_f64
#define TABLE_NAME "quad of f64"
#include "quad_body.inc.h"
