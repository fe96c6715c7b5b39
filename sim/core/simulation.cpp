#include "sim/core/server.h"
