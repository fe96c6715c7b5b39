#include "planner/import/safetensors_model.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "planner/base/checked.h"

namespace tidemark {
namespace {

constexpr size_t kMostBlocks = 10'000;

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Up to the first component that is a number, else all but the last component.
std::string block_of(std::string_view name) {
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    if (is_number(name.substr(begin, end - begin))) return std::string(name.substr(0, end));
    begin = end + 1;
  }
  const size_t last = name.rfind('.');
  return std::string(name.substr(0, last == std::string_view::npos ? name.size() : last));
}

// Names of entries are listed with commas between them.
std::string listable(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ',' || c == ' '; }, '_');
  return name;
}

}  // namespace

Result<ImportedModel> sizes_of_safetensors(const std::string& file,
                                           const SafetensorsHeader& header) {
  LayerListSpec list;
  StoredSize stored;
  std::map<std::string, size_t> places;
  for (const SafetensorsTensor& tensor : header.tensors) {
    const auto [place, is_new] =
        places.emplace(listable(block_of(tensor.name)), list.layers.size());
    if (is_new) list.layers.push_back({.name = place->first});
    list.layers[place->second].weights += tensor.bytes();
    stored.elements = checked_add(stored.elements, element_count(tensor.shape));
    stored.bytes += tensor.bytes();
  }
  if (list.layers.empty() || list.layers.size() > kMostBlocks) {
    return Diagnostics{{.where = {.file = file},
                        .path = "model",
                        .message = list.layers.empty() ? "the file holds no tensors"
                                                       : "the file holds too many blocks",
                        .hint = "put the model's config.json beside it"}};
  }
  stored.stated_bytes = stored.bytes;
  return ImportedModel{
      .model = {.name = std::filesystem::path(file).stem().string(),
                .architecture = "layer-list",
                .source = file,
                .dims = std::move(list)},
      .format = "safetensors",
      .warnings =
          {"No config.json stands beside the file: the sizes of its weights are known, what "
           "they compute, and so the activations and the KV cache, is not."},
      .stored = stored};
}

}  // namespace tidemark
