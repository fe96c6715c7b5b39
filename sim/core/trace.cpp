#include "sim/core/trace.h"
