#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "planner/base/units.h"
#include "planner/import/byte_reader.h"
#include "planner/import/foreign_begin.h"
#include "planner/import/json_events.h"
#include "planner/import/problems.h"
#include "planner/import/safetensors_header.h"

namespace tidemark {
namespace {

constexpr uint64_t kMostJsonBytes = 100'000'000;
constexpr int64_t kPrologueBytes = 8;
constexpr size_t kMostDims = 32;
constexpr std::string_view kMetadata = "__metadata__";

// A tensor as far as its entry was read.
struct Entry {
  SafetensorsTensor tensor{};
  int64_t byte = 0;  // where its entry begins
  int64_t problems_before = 0;
  bool has_dtype = false;
  bool has_shape = false;
  std::vector<int64_t> offsets{};
};

// Collects the entries of the JSON header. Members of an entry that the format does not define are
// passed over, as other readers do.
class EntryHandler : public JsonHandler {
 public:
  explicit EntryHandler(Problems& problems) : problems_(problems) {}

  void on(const JsonEvent& event, const JsonPath& path) override {
    if (path.empty()) return on_document(event);
    if (path[0] == kMetadata) return on_metadata(event, path);
    if (path.size() == 1) return on_entry(event, path[0]);
    if (path.size() == 2) return on_member(event, path[1]);
    if (path.size() == 3) return on_element(event, path[1]);
  }

  std::vector<Entry> entries{};
  std::map<std::string, std::string, std::less<>> metadata{};

 private:
  void on_document(const JsonEvent& event) {
    const bool is_object =
        event.kind == JsonKind::kBeginObject || event.kind == JsonKind::kEndObject;
    if (!is_object) problems_.add("", event.byte, "the header must be an object");
  }
  void on_metadata(const JsonEvent& event, const JsonPath& path);
  void on_entry(const JsonEvent& event, const std::string& name);
  void on_member(const JsonEvent& event, const std::string& member);
  void on_element(const JsonEvent& event, const std::string& member);
  void finish(Entry& entry);

  Problems& problems_;
  bool in_entry_ = false;
};

void EntryHandler::on_metadata(const JsonEvent& event, const JsonPath& path) {
  if (path.size() == 1) {
    const bool is_object =
        event.kind == JsonKind::kBeginObject || event.kind == JsonKind::kEndObject;
    if (!is_object) problems_.add(kMetadata, event.byte, "must be an object of texts");
  } else if (path.size() == 2 && event.kind == JsonKind::kText) {
    metadata.insert_or_assign(path[1], std::string(event.text));
  } else if (path.size() == 2 && event.kind != JsonKind::kEndObject &&
             event.kind != JsonKind::kEndArray) {
    problems_.add(path[1], event.byte, "a value of __metadata__ must be a text");
  }
}

void EntryHandler::on_entry(const JsonEvent& event, const std::string& name) {
  if (event.kind == JsonKind::kBeginObject) {
    in_entry_ = true;
    entries.push_back(
        {.tensor = {.name = name}, .byte = event.byte, .problems_before = problems_.count()});
    if (name.empty()) problems_.add("", event.byte, "the name of a tensor is empty");
  } else if (event.kind == JsonKind::kEndObject) {
    in_entry_ = false;
    finish(entries.back());
  } else if (event.kind != JsonKind::kEndArray) {
    problems_.add(name, event.byte, "must be an object with dtype, shape and data_offsets");
  }
}

void EntryHandler::on_member(const JsonEvent& event, const std::string& member) {
  if (!in_entry_) return;
  Entry& entry = entries.back();
  const bool begins = event.kind != JsonKind::kEndArray && event.kind != JsonKind::kEndObject;
  if (member == "dtype" && begins) {
    entry.has_dtype = true;
    const std::optional<SafetensorsDType> dtype =
        event.kind == JsonKind::kText ? parse_safetensors_dtype(event.text) : std::nullopt;
    if (dtype) {
      entry.tensor.dtype = *dtype;
    } else {
      problems_.add(entry.tensor.name, event.byte,
                    event.kind == JsonKind::kText
                        ? fmt::format("unknown dtype \"{}\"", printable(event.text))
                        : std::string("dtype must be a text"));
    }
  } else if ((member == "shape" || member == "data_offsets") && begins) {
    if (member == "shape") entry.has_shape = true;
    if (event.kind != JsonKind::kBeginArray) {
      problems_.add(entry.tensor.name, event.byte,
                    fmt::format("{} must be a list of integers", member));
    }
  }
}

void EntryHandler::on_element(const JsonEvent& event, const std::string& member) {
  if (!in_entry_ || (member != "shape" && member != "data_offsets")) return;
  if (event.kind == JsonKind::kEndArray || event.kind == JsonKind::kEndObject) return;
  Entry& entry = entries.back();
  std::vector<int64_t>& list = member == "shape" ? entry.tensor.shape : entry.offsets;
  const size_t most = member == "shape" ? kMostDims : 2;
  if (event.kind != JsonKind::kInteger || event.integer < 0) {
    problems_.add(entry.tensor.name, event.byte,
                  fmt::format("{} must hold integers from 0 to 2^63 - 1", member));
  } else if (list.size() == most) {
    problems_.add(entry.tensor.name, event.byte,
                  fmt::format("{} has more than {} values", member, most));
  } else {
    list.push_back(event.integer);
  }
}

void EntryHandler::finish(Entry& entry) {
  SafetensorsTensor& tensor = entry.tensor;
  const std::string_view missing = !entry.has_dtype            ? "dtype is missing"
                                   : !entry.has_shape          ? "shape is missing"
                                   : entry.offsets.size() != 2 ? "data_offsets must be two integers"
                                                               : "";
  // What follows from a member that is wrong by itself is not said again.
  if (problems_.count() != entry.problems_before) return;
  if (!missing.empty()) return problems_.add(tensor.name, entry.byte, missing);
  tensor.begin = Bytes::of(entry.offsets[0]);
  tensor.end = Bytes::of(entry.offsets[1]);
  if (tensor.end < tensor.begin) {
    return problems_.add(tensor.name, entry.byte, "data_offsets: the end is before the begin");
  }
  try {
    const std::optional<Bytes> bytes = whole_bytes(tensor.dtype, tensor.shape);
    if (!bytes) {
      problems_.add(tensor.name, entry.byte,
                    fmt::format("{} elements of {} bits are no whole number of bytes",
                                element_count(tensor.shape), format_of(tensor.dtype).bits));
    } else if (*bytes != tensor.bytes()) {
      problems_.add(tensor.name, entry.byte,
                    fmt::format("shape and dtype need {} bytes, data_offsets span {}",
                                bytes->count(), tensor.bytes().count()));
    }
  } catch (const std::overflow_error&) {
    problems_.add(tensor.name, entry.byte, "the size of the tensor does not fit into 63 bits");
  }
}

// The data must be covered from its begin to the end of the file. One gap, one problem.
void check_layout(std::vector<Entry>& entries, Bytes data_begin, Bytes file_end,
                  Problems& problems) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.tensor.begin, a.tensor.end) < std::pair(b.tensor.begin, b.tensor.end);
  });
  Bytes covered{};
  for (const Entry& entry : entries) {
    const SafetensorsTensor& tensor = entry.tensor;
    if (tensor.begin != covered) {
      problems.add(tensor.name, entry.byte,
                   fmt::format("its data begins at {}, but the tensors before it end at {}: {}",
                               tensor.begin.count(), covered.count(),
                               tensor.begin < covered ? "they overlap" : "there is a hole"));
    }
    covered = std::max(covered, tensor.end);
  }
  const Bytes have = file_end - data_begin;
  if (covered > have) {
    problems.add("", file_end.count(),
                 fmt::format("the file ends here, but its data needs {} bytes more",
                             (covered - have).count()),
                 "the file was cut off: fetch it again");
  } else if (covered < have) {
    problems.add("", (data_begin + covered).count(),
                 fmt::format("{} bytes follow that belong to no tensor", (have - covered).count()));
  }
}

// The JSON between the prologue and the data; empty with a problem.
std::string read_json(ByteSource& source, Problems& problems) {
  ByteReader reader(source, source.size());
  const std::optional<uint64_t> length = reader.number<uint64_t>();
  if (!length) {
    problems.add("", reader.offset(), "the file ends inside the length of its header",
                 "the file was cut off: fetch it again");
    return {};
  }
  if (*length > kMostJsonBytes) {
    problems.add("", 0,
                 fmt::format("a header of {} bytes is more than the {} that the format "
                             "allows",
                             *length, kMostJsonBytes),
                 hint_of_foreign(source, "is this a safetensors file?"));
    return {};
  }
  if (static_cast<int64_t>(*length) > reader.remaining()) {
    problems.add("", 0,
                 fmt::format("a header of {} bytes does not fit into the {} that follow", *length,
                             reader.remaining()),
                 "the file was cut off or is no safetensors file");
    return {};
  }
  std::string json(static_cast<size_t>(*length), '\0');
  if (!reader.bytes(std::as_writable_bytes(std::span(json)))) {
    problems.add("", reader.offset(), "cannot read the file");
    return {};
  }
  if (json.empty() || json.front() != '{') {
    problems.add("", kPrologueBytes, "the header does not begin with \"{\"",
                 "is this a safetensors file?");
  }
  return json;
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(const std::string& file, ByteSource& source) {
  Problems problems(file);
  const std::string json = read_json(source, problems);
  if (!problems.empty()) return problems.take();
  EntryHandler handler(problems);
  const bool complete = parse_json(json, kPrologueBytes, handler, problems);
  const Bytes data_begin = Bytes::of(kPrologueBytes + static_cast<int64_t>(json.size()));
  const Bytes file_end = Bytes::of(source.size());
  if (complete && problems.empty()) {
    check_layout(handler.entries, data_begin, file_end, problems);
  }
  if (!problems.empty()) return problems.take();
  SafetensorsHeader header{
      .metadata = std::move(handler.metadata),
      .parts = {{.file = file, .data_offset = data_begin, .file_bytes = file_end}}};
  header.tensors.reserve(handler.entries.size());
  for (Entry& entry : handler.entries) header.tensors.push_back(std::move(entry.tensor));
  return header;
}

Result<SafetensorsHeader> read_safetensors(const std::filesystem::path& path) {
  Result<FileSource> opened = FileSource::open(path);
  if (!opened) return opened.diagnostics();
  FileSource source = std::move(opened).value();
  return parse_safetensors_header(path.string(), source);
}

}  // namespace tidemark
