#include "planner/config/yaml_reader.h"
