// Reads the values of GGUF keys, keeping what gguf_header.h promises and stepping over the rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "planner/import/byte_reader.h"
#include "planner/import/gguf_header.h"
#include "planner/import/problems.h"

namespace tidemark {

// Bytes of one element of a type of fixed size; 0 for strings and arrays.
int64_t size_of(GgufType type);
inline bool is_known(GgufType type) { return type <= GgufType::kFloat64; }

class GgufValueReader {
 public:
  GgufValueReader(ByteReader& reader, Problems& problems) : reader_(reader), problems_(problems) {}

  // The value of `key` at the cursor, its type included. False: it cannot be passed over, and a
  // problem says why.
  bool read(std::string_view key, GgufValue& value);

  // A string of at most `most` bytes, as names are. `what` is for the message.
  bool read_name(std::string_view what, int64_t most, std::string& name);

  // Says that the file ended inside `what`, or why else the cursor could not go on. Gives false.
  bool cut_off(std::string_view key, std::string_view what);

 private:
  bool read_type(std::string_view key, GgufType& type);
  bool read_element(std::string_view key, GgufValue& value);
  bool read_text(std::string_view key, GgufValue& value);
  bool read_array(std::string_view key, GgufValue& value);
  bool skip_elements(std::string_view key, GgufType type, int64_t count, int depth);
  void drop(GgufValue& value);

  ByteReader& reader_;
  Problems& problems_;
  // What may still be kept, in bytes of memory over the whole file.
  int64_t budget_ = int64_t{64} * 1024 * 1024;
};

}  // namespace tidemark
