#include "planner/report/writers.h"
