#include "planner/graph/build_graph.h"
