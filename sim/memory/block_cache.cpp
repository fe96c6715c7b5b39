#include "sim/memory/block_cache.h"
