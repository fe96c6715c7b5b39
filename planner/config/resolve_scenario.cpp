#include "planner/config/settings.h"
