#include "planner/engine/engine_profile.h"
