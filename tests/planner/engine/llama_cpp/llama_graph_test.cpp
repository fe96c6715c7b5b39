#include "planner/engine/llama_cpp/llama_graph.h"

#include <gtest/gtest.h>
