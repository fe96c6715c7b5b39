#include "sim/device/device_model.h"
