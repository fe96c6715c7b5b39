#include <fmt/format.h>

#include "planner/graph/graph.h"

namespace tidemark {
namespace {

// For use between double quotes. Control characters other than the line break have no place in a
// label.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    if (character == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(character) < 0x20) {
      out += ' ';
    } else {
      out += character;
    }
  }
  return out;
}

// "x f32 [4,2] 32 B"; a tensor of a stated size has no shape to show: "x 32 B".
std::string label_of(const Tensor& tensor) {
  size_t dimensions = tensor.shape.size();
  while (dimensions > 1 && tensor.shape[dimensions - 1] == 1) --dimensions;
  std::string shape;
  if (tensor.shape[0] > 0) {
    const std::span<const int64_t> shown(tensor.shape.data(), dimensions);
    shape =
        fmt::format(" {} [{}]", name_of(tensor.dtype), fmt::join(shown.begin(), shown.end(), ","));
  }
  return fmt::format("{}{} {} B", escaped(tensor.name), shape, tensor.bytes.count());
}

}  // namespace

std::string to_dot(const Graph& graph) {
  std::string out = "digraph tidemark {\n  node [shape=box];\n";
  for (const Op& op : graph.ops()) {
    out += fmt::format("  op{} [label=\"{}\\n{}\"];\n", op.id.value(), escaped(op.name),
                       name_of(op.kind));
  }
  for (const Tensor& tensor : graph.tensors()) {
    const std::optional<OpId> writer = graph.producer(tensor.id);
    const std::vector<OpId> readers = graph.consumers(tensor.id);
    if (!writer || readers.empty()) {
      out += fmt::format("  tensor{} [shape=ellipse, label=\"{}\"];\n", tensor.id.value(),
                         label_of(tensor));
    }
    if (writer && readers.empty()) {
      out += fmt::format("  op{} -> tensor{};\n", writer->value(), tensor.id.value());
    }
    for (OpId reader : readers) {
      const std::string label = label_of(tensor);
      out += writer ? fmt::format("  op{} -> op{} [label=\"{}\"];\n", writer->value(),
                                  reader.value(), label)
                    : fmt::format("  tensor{} -> op{};\n", tensor.id.value(), reader.value());
    }
  }
  return out + "}\n";
}

}  // namespace tidemark
