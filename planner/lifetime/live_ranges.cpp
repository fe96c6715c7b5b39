#include "planner/lifetime/load_profile.h"
