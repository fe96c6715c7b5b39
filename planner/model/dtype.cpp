#include "planner/model/weights.h"
