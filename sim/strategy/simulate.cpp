#include "sim/strategy/simulate.h"
