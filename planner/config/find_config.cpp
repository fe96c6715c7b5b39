#include "planner/config/load.h"
