#include "planner/import/safetensors_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/import/safetensors_writer.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using namespace literals;

SafetensorsHeader header_of(const std::vector<std::pair<std::string, int64_t>>& tensors) {
  SafetensorsHeader header;
  for (const auto& [name, elements] : tensors) {
    header.tensors.push_back({.name = name, .dtype = SafetensorsDType::kF16, .shape = {elements}});
  }
  return lay_out_safetensors("x.safetensors", header).value();
}

// 2 B a value: blocks of 10 + 5, 4, 6 and 3 values.
TEST(SafetensorsModelTest, BlocksByTheFirstNumber) {
  const Result<ImportedModel> imported =
      sizes_of_safetensors("folder/net.safetensors", header_of({{"a.layers.0.up.weight", 10},
                                                                {"a.layers.1.up.weight", 4},
                                                                {"a.layers.0.up.bias", 5},
                                                                {"a.norm.weight", 6},
                                                                {"odd name, alone", 3}}));
  ASSERT_TRUE(imported.ok());
  EXPECT_EQ(imported->model.name, "net");
  EXPECT_THAT(
      imported->model.layer_list()->layers,
      ElementsAre(PlainLayer{"a.layers.0", 30_B, 0_B}, PlainLayer{"a.layers.1", 8_B, 0_B},
                  PlainLayer{"a.norm", 12_B, 0_B}, PlainLayer{"odd_name__alone", 6_B, 0_B}));
  EXPECT_EQ(imported->stored->elements, 28);
  EXPECT_EQ(imported->stored->bytes, 56_B);
  EXPECT_THAT(imported->warnings, SizeIs(1));
}

TEST(SafetensorsModelTest, NoTensorsIsNoModel) {
  EXPECT_FALSE(sizes_of_safetensors("x.safetensors", header_of({})).ok());
}

}  // namespace
}  // namespace tidemark
