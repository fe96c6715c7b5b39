#include "support/llamacpp_data.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "support/gguf_tensors.h"

namespace tidemark::testing {
namespace {

std::vector<std::string> split(const std::string& line, char sign) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, sign);) cells.push_back(cell);
  return cells;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \"'");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \"'") - begin + 1);
}

int64_t padded(int64_t count) { return (count + 255) / 256 * 256; }

class Keys {
 public:
  Keys(GgufHeader& header, std::string prefix) : header_(header), prefix_(std::move(prefix)) {}

  void text(const std::string& name, const std::string& value) {
    header_.keys[name] = {
        .type = GgufType::kString, .element_type = GgufType::kString, .elements = {value}};
  }
  void number(const std::string& key, int64_t value) {
    header_.keys[prefix_ + "." + key] = {.elements = {value}};
  }
  void list(const std::string& key, const std::string& value) {
    GgufValue array{.type = GgufType::kArray, .element_type = GgufType::kInt32, .count = 0};
    for (const std::string& one : split(value.substr(1, value.size() - 2), ',')) {
      array.elements.emplace_back(int64_t{std::stoll(one)});
      ++array.count;
    }
    header_.keys[prefix_ + "." + key] = array;
  }

 private:
  GgufHeader& header_;
  std::string prefix_;
};

void add_latent_keys(const YamlModel& model, bool is_split, Keys& keys) {
  const int64_t nope = number(model, "qk_nope");
  const int64_t rope = number(model, "qk_rope");
  const int64_t latent = number(model, "kv_lora");
  keys.number("attention.kv_lora_rank", latent);
  if (model.contains("q_lora")) keys.number("attention.q_lora_rank", number(model, "q_lora"));
  keys.number("rope.dimension_count", rope);
  keys.number("attention.key_length", is_split ? latent + rope : nope + rope);
  if (!is_split) return;
  keys.number("attention.value_length", latent);
  keys.number("attention.key_length_mla", nope + rope);
  keys.number("attention.value_length_mla", number(model, "v_head"));
  keys.number("leading_dense_block_count", number(model, "n_dense_lead"));
  keys.number("expert_shared_count", number(model, "n_expert_shared"));
}

void add_numbers(const YamlModel& model, Keys& keys) {
  const std::map<std::string, std::string> names = {{"n_vocab", "vocab_size"},
                                                    {"n_ctx_train", "context_length"},
                                                    {"n_embd", "embedding_length"},
                                                    {"n_layer", "block_count"},
                                                    {"n_ff", "feed_forward_length"},
                                                    {"n_head", "attention.head_count"},
                                                    {"n_expert", "expert_count"},
                                                    {"n_expert_used", "expert_used_count"},
                                                    {"n_swa", "attention.sliding_window"},
                                                    {"ssm_d_conv", "ssm.conv_kernel"},
                                                    {"ssm_d_inner", "ssm.inner_size"},
                                                    {"ssm_d_state", "ssm.state_size"},
                                                    {"ssm_dt_rank", "ssm.time_step_rank"},
                                                    {"ssm_n_group", "ssm.group_count"},
                                                    {"n_ff_exp", "expert_feed_forward_length"}};
  for (const auto& [ours, key] : names) {
    if (model.contains(ours)) keys.number(key, number(model, ours));
  }
}

}  // namespace

std::vector<CsvRow> read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> columns = split(line, ',');
  std::vector<CsvRow> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line, ',');
    CsvRow row;
    for (size_t i = 0; i < columns.size(); ++i) row[columns[i]] = i < cells.size() ? cells[i] : "";
    rows.push_back(row);
  }
  return rows;
}

std::map<std::string, YamlModel> read_yaml_models(const std::filesystem::path& path) {
  std::map<std::string, YamlModel> models;
  std::ifstream file(path);
  std::string name;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with("#") || colon == std::string::npos) continue;
    if (!line.starts_with(" ")) {
      name = trimmed(line.substr(0, colon));
    } else {
      models[name][trimmed(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
    }
  }
  return models;
}

int64_t number(const YamlModel& model, const std::string& key, int64_t absent) {
  const auto found = model.find(key);
  return found == model.end() ? absent : std::stoll(found->second);
}

GgufHeader converted_header(const std::string& name, const YamlModel& model) {
  GgufHeader header;
  const std::string architecture = model.at("arch");
  Keys keys(header, architecture);
  keys.text("general.architecture", architecture);
  keys.text("general.name", name);
  add_numbers(model, keys);
  const std::string kv_heads = model.at("n_head_kv");
  if (kv_heads.starts_with("[")) {
    keys.list("attention.head_count_kv", kv_heads);
  } else {
    keys.number("attention.head_count_kv",
                architecture == "deepseek2" ? 1 : number(model, "n_head_kv"));
  }
  if (model.contains("kv_lora")) {
    add_latent_keys(model, architecture == "deepseek2", keys);
  } else if (model.contains("head_dim")) {
    keys.number("attention.key_length", number(model, "head_dim"));
    keys.number("attention.value_length", number(model, "head_dim"));
  }
  for (const GgufTensor& tensor : gguf_tensors(gguf_model(name))) {
    std::vector<int64_t> dims = {tensor.columns, tensor.rows, tensor.count};
    while (dims.size() > 1 && dims.back() == 1) dims.pop_back();
    header.tensors.push_back({.name = tensor.name, .dims = dims});
  }
  return header;
}

ContextShape rounded_context(const ContextRequest& request) {
  ContextShape shape;
  const int64_t asked = request.n_ctx > 0 ? request.n_ctx : request.n_ctx_train;
  shape.n_batch = std::min(asked, request.n_batch);
  shape.n_ubatch =
      std::min(shape.n_batch, request.n_ubatch > 0 ? request.n_ubatch : request.n_batch);
  shape.n_ctx = padded(asked);
  shape.n_ctx_seq = shape.n_ctx;
  if (request.unified) return shape;
  shape.n_ctx_seq = padded(shape.n_ctx / request.n_seq);
  shape.n_ctx = shape.n_ctx_seq * request.n_seq;
  return shape;
}

}  // namespace tidemark::testing
