// Any bytes as a GGUF file: read or refused. What was read can be written, and reads the same.
#include "corpus.h"
#include "planner/import/ggml_types.h"
#include "planner/import/gguf_reader.h"
#include "planner/import/gguf_writer.h"
#include "support/sparse_source.h"

namespace tidemark::fuzz {
namespace {

GgufValue value_of(GgufType type, GgufScalar element) {
  return {.type = type, .element_type = type, .elements = {std::move(element)}};
}

// Header and (short) data of a file in memory.
Seed seed(std::string name, GgufHeader header) {
  const GgufHeader laid_out = lay_out_gguf(name, std::move(header)).value();
  std::string bytes = encode_gguf_header(laid_out);
  bytes.resize(static_cast<size_t>(laid_out.parts.front().file_bytes.count()), '\0');
  return {std::move(name), std::move(bytes)};
}

std::vector<Seed> seeds() {
  GgufHeader scalars;
  for (uint32_t type = 0; type <= 12; ++type) {
    const auto kind = static_cast<GgufType>(type);
    GgufScalar element = int64_t{1};
    if (kind == GgufType::kBool) element = true;
    if (kind == GgufType::kString) element = std::string("text");
    if (kind == GgufType::kFloat32 || kind == GgufType::kFloat64) element = 0.5;
    if (kind == GgufType::kArray) continue;
    const std::string name(name_of(kind));
    scalars.keys[name] = value_of(kind, element);
    scalars.keys[name + "s"] = {
        .type = GgufType::kArray, .element_type = kind, .count = 2, .elements = {element, element}};
  }
  GgufHeader tensors;
  tensors.keys["general.alignment"] = value_of(GgufType::kUint32, int64_t{64});
  for (const GgmlType& type : ggml_types()) {
    if (is_retired(type)) continue;
    tensors.tensors.push_back(
        {.name = std::string(type.name), .dims = {type.block_elements, 2}, .type_id = type.id});
  }
  GgufHeader part;
  part.keys["split.no"] = value_of(GgufType::kUint16, int64_t{0});
  part.keys["split.count"] = value_of(GgufType::kUint16, int64_t{2});
  part.tensors = {{.name = "w", .dims = {2, 3, 1, 1}}};
  return {seed("empty.gguf", {}), seed("scalars.gguf", scalars), seed("tensors.gguf", tensors),
          seed("part.gguf", part)};
}

void check_round_trip(const GgufHeader& header) {
  const Result<GgufHeader> laid_out = lay_out_gguf("x", header);
  use_problems(laid_out);
  if (!laid_out) return;  // what was not kept cannot be written
  SparseSource source(encode_gguf_header(*laid_out), laid_out->parts.front().file_bytes.count());
  const Result<GgufHeader> again = parse_gguf_header("x", source);
  require(again.ok());
  require(again->tensors == laid_out->tensors);
  require(again->keys.size() == laid_out->keys.size());
}

}  // namespace
}  // namespace tidemark::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  tidemark::fuzz::write_corpus_if_asked(*argc, *argv, tidemark::fuzz::seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;
  MemorySource source(fuzz::as_source(data, size));
  const Result<GgufHeader> read = parse_gguf_header("x.gguf", source);
  fuzz::use_problems(read);
  if (!read) return 0;
  for (const GgufTensor& tensor : read->tensors) {
    fuzz::require(find_ggml_type(tensor.type_id) != nullptr);
    fuzz::require((read->data_offset() + tensor.offset + tensor.bytes).count() <=
                  static_cast<int64_t>(size));
  }
  for (const auto& [key, value] : read->keys) {
    fuzz::require(!value.kept || static_cast<int64_t>(value.elements.size()) == value.count);
  }
  fuzz::check_round_trip(*read);
  return 0;
}
