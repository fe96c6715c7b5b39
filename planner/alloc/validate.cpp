#include "planner/alloc/problem.h"
