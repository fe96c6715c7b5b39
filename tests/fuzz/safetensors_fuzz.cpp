// Any bytes as a safetensors file: read or refused. What was read can be written, and reads the
// same.
#include "corpus.h"
#include "planner/import/safetensors_writer.h"

namespace tidemark::fuzz {
namespace {

std::string whole_file(const SafetensorsHeader& laid_out) {
  std::string bytes = encode_safetensors_header(laid_out);
  bytes.resize(static_cast<size_t>(laid_out.parts.front().file_bytes.count()), '\0');
  return bytes;
}

std::vector<Seed> seeds() {
  SafetensorsHeader all{.metadata = {{"format", "pt"}}};
  for (const SafetensorsFormat& format : safetensors_formats()) {
    all.tensors.push_back(
        {.name = std::string(format.name), .dtype = format.dtype, .shape = {2, 4}});
  }
  SafetensorsHeader scalar;
  scalar.tensors = {{.name = "\"\\\n"}, {.name = "empty", .shape = {0}}};
  std::vector<Seed> seeds;
  for (const auto& [name, header] : {std::pair<std::string, SafetensorsHeader>{"empty", {}},
                                     {"dtypes", all},
                                     {"scalar", scalar}}) {
    seeds.emplace_back(name + ".safetensors",
                       whole_file(lay_out_safetensors(name, header).value()));
  }
  return seeds;
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
  const Result<SafetensorsHeader> read = parse_safetensors_header("x", source);
  fuzz::use_problems(read);
  if (!read) return 0;
  Bytes end{};
  for (const SafetensorsTensor& tensor : read->tensors) {
    fuzz::require(tensor.begin == end);
    fuzz::require(whole_bytes(tensor.dtype, tensor.shape) == tensor.bytes());
    end = tensor.end;
  }
  fuzz::require((read->data_offset() + end).count() == static_cast<int64_t>(size));

  const Result<SafetensorsHeader> laid_out = lay_out_safetensors("x", *read);
  fuzz::use_problems(laid_out);
  fuzz::require(laid_out.ok());
  const std::string bytes = fuzz::whole_file(*laid_out);
  MemorySource written(std::as_bytes(std::span(bytes)));
  const Result<SafetensorsHeader> again = parse_safetensors_header("x", written);
  fuzz::require(again.ok());
  fuzz::require(again->tensors == read->tensors && again->metadata == read->metadata);
  return 0;
}
