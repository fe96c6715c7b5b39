// Keys of a GGUF header, each said once. A second, different value for the same key means that GGUF
// cannot say what the model is; that is a problem.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/import/gguf_header.h"
#include "planner/import/problems.h"

namespace tidemark {

class GgufKeyWriter {
 public:
  // Keys go into `header` as "<prefix>.<key>".
  GgufKeyWriter(GgufHeader& header, std::string prefix, Problems& problems)
      : header_(header), prefix_(std::move(prefix)), problems_(problems) {}

  void number(std::string_view key, int64_t value);
  void real(std::string_view key, float value);
  void flag(std::string_view key, bool value);
  void flags(std::string_view key, const std::vector<bool>& values);
  // One number when all are equal, else an array.
  void per_layer(std::string_view key, const std::vector<int64_t>& values);
  // With the whole name: "general.file_type".
  void general_number(const std::string& name, int64_t value);
  void general_text(const std::string& name, std::string_view value);

 private:
  void put(const std::string& name, GgufValue value);
  std::string full(std::string_view key) const { return prefix_ + "." + std::string(key); }

  GgufHeader& header_;
  std::string prefix_;
  Problems& problems_;
};

}  // namespace tidemark
