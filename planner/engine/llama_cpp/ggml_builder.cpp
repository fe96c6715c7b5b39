#include "planner/engine/llama_cpp/ggml_builder.h"

#include <utility>

#include "planner/base/check.h"

namespace tidemark {
namespace {

int64_t block_elements(DType type) { return format_of(type).block_elements; }
int64_t block_bytes(DType type) { return format_of(type).block_bytes; }

GgmlShape packed_strides(DType type, const GgmlShape& ne) {
  GgmlShape nb{};
  nb[0] = block_bytes(type);
  nb[1] = checked_mul(nb[0], ne[0] / block_elements(type));
  nb[2] = checked_mul(nb[1], ne[1]);
  nb[3] = checked_mul(nb[2], ne[2]);
  return nb;
}

int64_t elements_of(const GgmlShape& ne) {
  return checked_mul(checked_mul(ne[0], ne[1]), checked_mul(ne[2], ne[3]));
}

}  // namespace

std::string ggml_type_name(DType type) {
  std::string name(name_of(type));
  for (size_t i = 0; i < name.size(); ++i) {
    const bool is_last_k = i + 1 == name.size() && name[i] == 'K';
    if (name[i] >= 'A' && name[i] <= 'Z' && !is_last_k) name[i] = static_cast<char>(name[i] + 32);
  }
  return name;
}

Bytes GgmlBuilder::bytes_of(BuiltId id) const {
  const BuiltTensor& tensor = tensors_[id.index()];
  const int64_t block = block_elements(tensor.type);
  int64_t bytes = block == 1 ? checked_add(block_bytes(tensor.type),
                                           checked_mul(tensor.ne[0] - 1, tensor.nb[0]))
                             : checked_mul(tensor.ne[0] / block, tensor.nb[0]);
  for (size_t i = 1; i < 4; ++i) {
    bytes = checked_add(bytes, checked_mul(tensor.ne[i] - 1, tensor.nb[i]));
  }
  const bool is_empty = elements_of(tensor.ne) == 0;
  return is_empty ? Bytes{} : Bytes::of(bytes);
}

bool GgmlBuilder::is_contiguous(BuiltId id) const {
  const BuiltTensor& tensor = tensors_[id.index()];
  const int64_t block = block_elements(tensor.type);
  int64_t next = block_bytes(tensor.type);
  if (tensor.ne[0] != block && tensor.nb[0] != next) return false;
  next *= tensor.ne[0] / block;
  for (size_t i = 1; i < 4; ++i) {
    if (tensor.ne[i] == 1) continue;
    if (tensor.nb[i] != next) return false;
    next *= tensor.ne[i];
  }
  return true;
}

BuiltId GgmlBuilder::keep(BuiltTensor tensor) {
  if (tensors_.size() >= kMostGgmlTensors) throw std::overflow_error("too many tensors");
  for (const int64_t n : tensor.ne) {
    check(n >= 0, "a tensor has no negative side");
    if (n > kLargestGgmlNumber) throw std::overflow_error("tensor side out of range");
  }
  tensors_.push_back(std::move(tensor));
  const auto id = BuiltId::of(tensors_.size() - 1);
  if (bytes_of(id).count() > kLargestGgmlNumber) throw std::overflow_error("tensor out of range");
  return id;
}

BuiltId GgmlBuilder::weight(std::string name, DType type, GgmlShape ne) {
  return keep({.name = std::move(name),
               .type = type,
               .ne = ne,
               .nb = packed_strides(type, ne),
               .external = true});
}

BuiltId GgmlBuilder::input(std::string name, DType type, GgmlShape ne) {
  return keep({.name = std::move(name),
               .type = type,
               .ne = ne,
               .nb = packed_strides(type, ne),
               .input = true});
}

BuiltId GgmlBuilder::op(std::string_view op, GgmlShape ne, std::vector<BuiltId> sources,
                        DType type) {
  return keep({.op = op,
               .type = type,
               .ne = ne,
               .nb = packed_strides(type, ne),
               .sources = std::move(sources)});
}

BuiltId GgmlBuilder::map(std::string_view name, std::vector<BuiltId> sources) {
  const BuiltTensor& first = (*this)[sources.front()];
  return op(name, first.ne, std::move(sources), first.type);
}

BuiltId GgmlBuilder::into(std::string_view op, BuiltId target, std::vector<BuiltId> sources) {
  BuiltTensor made = (*this)[target];
  made.owner = made.owner.value_or(target);
  made.name += " (view)";
  made.op = op;
  made.input = made.output = false;
  made.sources = std::move(sources);
  made.placed.reset();
  return keep(std::move(made));
}

BuiltId GgmlBuilder::see(std::string_view op, BuiltId source, GgmlShape ne,
                         std::string_view suffix) {
  const BuiltTensor& seen = (*this)[source];
  return keep({.name = seen.name + std::string(suffix),
               .op = op,
               .type = seen.type,
               .ne = ne,
               .nb = packed_strides(seen.type, ne),
               .external = seen.external,
               .owner = seen.owner.value_or(source),
               .offset = seen.offset,
               .sources = {source}});
}

BuiltId GgmlBuilder::view(BuiltId source, GgmlShape ne, GgmlStrides strides, int64_t offset) {
  const BuiltId id = see("VIEW", source, ne, " (view)");
  BuiltTensor& made = tensors_[id.index()];
  made.nb = {made.nb[0], strides.nb1, strides.nb2, strides.nb3};
  made.offset = checked_add(made.offset, offset);
  return id;
}

BuiltId GgmlBuilder::reshape(BuiltId source, GgmlShape ne) {
  check(elements_of(ne) == elements_of((*this)[source].ne), "a reshape keeps its elements");
  return see("RESHAPE", source, ne, " (reshaped)");
}

BuiltId GgmlBuilder::permute(BuiltId source, std::array<size_t, 4> axes) {
  const GgmlShape ne = (*this)[source].ne;
  const GgmlShape nb = (*this)[source].nb;
  const BuiltId id = see("PERMUTE", source, ne, " (permuted)");
  for (size_t i = 0; i < 4; ++i) {
    tensors_[id.index()].ne[axes[i]] = ne[i];
    tensors_[id.index()].nb[axes[i]] = nb[i];
  }
  return id;
}

BuiltId GgmlBuilder::transpose(BuiltId source) {
  const BuiltTensor seen = (*this)[source];
  const BuiltId id = see("TRANSPOSE", source, seen.ne, " (transposed)");
  BuiltTensor& made = tensors_[id.index()];
  made.ne = {seen.ne[1], seen.ne[0], seen.ne[2], seen.ne[3]};
  made.nb = {seen.nb[1], seen.nb[0], seen.nb[2], seen.nb[3]};
  return id;
}

BuiltId GgmlBuilder::cont(BuiltId source) { return cont(source, (*this)[source].ne); }

BuiltId GgmlBuilder::cont(BuiltId source, GgmlShape ne) {
  const BuiltId id = op("CONT", ne, {source}, (*this)[source].type);
  name(id, (*this)[source].name + " (cont)");
  return id;
}

BuiltId GgmlBuilder::mul_mat(BuiltId a, BuiltId b) {
  const GgmlShape& by = (*this)[b].ne;
  return op("MUL_MAT", {(*this)[a].ne[1], by[1], by[2], by[3]}, {a, b});
}

void GgmlBuilder::name(BuiltId id, std::string name) {
  tensors_[id.index()].name = std::move(name);
}

void GgmlBuilder::output(BuiltId id) { tensors_[id.index()].output = true; }

// Depth first with a stack of its own: a graph is as deep as its model has layers.
void GgmlBuilder::expand(BuiltId id) {
  std::vector<std::pair<BuiltId, size_t>> path{{id, 0}};  // and the next source to look at
  if ((*this)[id].placed) return;
  while (!path.empty()) {
    const auto [at, next] = path.back();
    if (next < (*this)[at].sources.size()) {
      ++path.back().second;
      const BuiltId source = (*this)[at].sources[next];
      if (!(*this)[source].placed) path.emplace_back(source, 0);
    } else {
      path.pop_back();
      if (!(*this)[at].placed) place(at);
    }
  }
}

void GgmlBuilder::place(BuiltId id) {
  BuiltTensor& tensor = tensors_[id.index()];
  const bool is_leaf = tensor.op == "NONE";
  std::vector<BuiltId>& list = is_leaf ? leaves_ : nodes_;
  tensor.placed = TensorId::of(list.size());
  if (tensor.name.empty()) {
    tensor.name = (is_leaf ? "leaf_" : "node_") + std::to_string(list.size());
  }
  list.push_back(id);
}

GgmlGraph GgmlBuilder::graph() const {
  const auto number = [&](BuiltId id) {
    const BuiltTensor& tensor = (*this)[id];
    const size_t before = tensor.op == "NONE" ? 0 : leaves_.size();
    return TensorId::of(before + tensor.placed->index());
  };
  GgmlGraph made;
  made.tensors.reserve(leaves_.size() + nodes_.size());
  for (const std::vector<BuiltId>* list : {&leaves_, &nodes_}) {
    for (const BuiltId id : *list) {
      const BuiltTensor& tensor = (*this)[id];
      GgmlTensor next{.name = tensor.name,
                      .op = std::string(tensor.op),
                      .type = ggml_type_name(tensor.type),
                      .ne = tensor.ne,
                      .bytes = bytes_of(id),
                      .leaf = tensor.op == "NONE",
                      .contiguous = is_contiguous(id),
                      .external = tensor.external,
                      .input = tensor.input,
                      .output = tensor.output,
                      .offset_in_owner = Bytes::of(tensor.offset)};
      if (tensor.owner) next.owner = number(*tensor.owner);
      for (const BuiltId source : tensor.sources) next.sources.push_back(number(source));
      add(made, std::move(next));
    }
  }
  return made;
}

}  // namespace tidemark
