#include "planner/base/units.h"
