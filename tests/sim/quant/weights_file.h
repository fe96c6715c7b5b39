// Small files of weights with real values in them, for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tidemark::testing {

// One tensor as it lies in the file.
struct FileEntry {
  std::string name{};
  std::string type = "F32";      // as safetensors and GGUF call it
  std::vector<int64_t> shape{};  // outermost first
  std::string data{};            // its bytes
};

std::string f32_bytes(const std::vector<float>& values);
std::string f16_bytes(const std::vector<float>& values);   // rounded
std::string bf16_bytes(const std::vector<float>& values);  // cut off

FileEntry f32_entry(std::string name, std::vector<int64_t> shape, const std::vector<float>& values);

void write_safetensors_file(const std::filesystem::path& path,
                            const std::vector<FileEntry>& entries);

// Types by their names in ggml.
void write_gguf_file(const std::filesystem::path& path, const std::vector<FileEntry>& entries);

void write_bytes(const std::filesystem::path& path, const std::string& bytes);

}  // namespace tidemark::testing
