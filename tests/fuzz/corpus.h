// What every fuzz target shares: bytes as a source, and the seeds.
//
// A target run as `TARGET --write-corpus FOLDER` writes its seeds there and ends; any other command
// line is libFuzzer's own. See docs/how-to/fuzz.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/base/files.h"

namespace tidemark::fuzz {

// Name of a file, and its content.
using Seed = std::pair<std::string, std::string>;

inline std::span<const std::byte> as_source(const uint8_t* data, size_t size) {
  return std::as_bytes(std::span(data, size));
}

// Ends the process when the command line asks for the seeds. To be called by
// LLVMFuzzerInitialize.
inline void write_corpus_if_asked(int argc, char** argv, const std::vector<Seed>& seeds) {
  if (argc != 3 || std::string_view(argv[1]) != "--write-corpus") return;
  const std::filesystem::path folder = argv[2];
  std::filesystem::create_directories(folder);
  for (const auto& [name, content] : seeds) {
    const Result<Bytes> written = write_file(folder / name, content);
    if (!written) {
      std::cerr << to_string(written.diagnostics());
      std::exit(2);
    }
  }
  std::exit(0);
}

// A failure that libFuzzer reports together with the input.
inline void require(bool holds) {
  if (!holds) std::abort();
}

// What any front end does with a refusal: there is an error, and it can be printed.
template <typename T>
void use_problems(const Result<T>& result) {
  if (result.ok()) return;
  require(has_errors(result.diagnostics()));
  require(!to_string(result.diagnostics()).empty());
}

}  // namespace tidemark::fuzz
