// Any bytes as the index of a checkpoint in shards: read or refused.
#include "corpus.h"
#include "planner/import/safetensors_index.h"

namespace tidemark::fuzz {
namespace {

std::vector<Seed> seeds() {
  return {
      {"empty.json", R"({"weight_map":{}})"},
      {"whole.json", R"({"metadata":{"total_size":24},"weight_map":{"a":"m-00001-of-00002.)"
                     R"(safetensors","b":"m-00002-of-00002.safetensors"}})"},
      {"float.json", R"({"metadata":{"total_size":2.4e1,"x":[1,{"y":null}]},)"
                     R"("weight_map":{"\u00e9":"pytorch_model-00001-of-00001.bin"}})"},
  };
}

}  // namespace
}  // namespace tidemark::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  tidemark::fuzz::write_corpus_if_asked(*argc, *argv, tidemark::fuzz::seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;
  const std::string text(data, data + size);
  const Result<CheckpointIndex> index = parse_checkpoint_index("x.json", text);
  fuzz::use_problems(index);
  if (!index) return 0;
  fuzz::require(!index->total_size || index->total_size->count() >= 0);
  for (const std::string& shard : index->shards()) {
    // Nothing leads out of the index's folder.
    fuzz::require(std::filesystem::path(shard).filename() == shard && shard != "..");
  }
  return 0;
}
