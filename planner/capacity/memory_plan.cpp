#include "planner/capacity/textbook.h"
