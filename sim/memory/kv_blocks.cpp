#include "sim/memory/kv_blocks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "planner/base/check.h"
#include "planner/base/checked.h"

namespace tidemark {
namespace {

struct Sequence {
  std::vector<int64_t> blocks{};
  int64_t length = 0;
};

struct Block {
  int64_t sharers = 0;
  std::vector<int64_t> last_of{};  // sequences of which it is the unfinished last
  bool spilled = false;
  // As it stands in the totals.
  int64_t counted_sharers = 0;
  int64_t counted_tokens = 0;
  bool counted_spilled = false;
};

}  // namespace

struct KvBlockPool::Impl {
  KvBlockOptions options{};
  std::map<int64_t, Sequence> sequences{};
  std::map<int64_t, Block> blocks{};
  int64_t next_sequence = 0;
  int64_t next_block = 0;
  KvBlockUse totals{};
  int64_t references = 0;

  int64_t per_block() const { return options.block_tokens.count(); }
  int64_t blocks_for(int64_t tokens) const {
    return tokens / per_block() + (tokens % per_block() == 0 ? 0 : 1);
  }
  int64_t free() const { return options.blocks - totals.held; }

  Sequence& at(SequenceId id) {
    const auto found = sequences.find(id.value());
    check(found != sequences.end(), "the sequence lives");
    return found->second;
  }

  // Tokens of living sequences in a block: all of it, unless it is the last of each.
  int64_t tokens_in(const Block& block) const {
    if (block.sharers > static_cast<int64_t>(block.last_of.size())) return per_block();
    int64_t most = 0;
    for (const int64_t id : block.last_of)
      most = std::max(most, sequences.at(id).length % per_block());
    return most;
  }

  void count(const Block& block, int64_t sign) {
    if (block.counted_sharers == 0) return;
    references += sign * block.counted_sharers;
    totals.shared += block.counted_sharers > 1 ? sign : 0;
    (block.counted_spilled ? totals.spilled : totals.held) += sign;
    (block.counted_spilled ? totals.spilled_tokens : totals.tokens) += sign * block.counted_tokens;
  }

  // After any change of a block. It goes with its last sharer.
  void recount(int64_t id) {
    Block& block = blocks.at(id);
    count(block, -1);
    block.counted_sharers = block.sharers;
    block.counted_tokens = tokens_in(block);
    block.counted_spilled = block.spilled;
    count(block, +1);
    if (block.sharers == 0) blocks.erase(id);
    check(totals.held <= options.blocks, "the pool holds no more blocks than it has");
  }

  void set_last(int64_t id, bool is_last) {
    const Sequence& sequence = sequences.at(id);
    if (sequence.length % per_block() == 0) return;
    std::vector<int64_t>& last_of = blocks.at(sequence.blocks.back()).last_of;
    if (is_last) {
      last_of.push_back(id);
    } else {
      std::erase(last_of, id);
    }
  }

  int64_t make_block() {
    blocks[next_block].sharers = 1;
    return next_block++;
  }

  KvAppend append(SequenceId id, int64_t tokens) {
    Sequence& sequence = at(id);
    const int64_t length = checked_add(sequence.length, tokens);
    const auto had = static_cast<int64_t>(sequence.blocks.size());
    const bool writes_last = tokens > 0 && sequence.length % per_block() != 0;
    const bool copies = writes_last && blocks.at(sequence.blocks.back()).sharers > 1;
    const bool returns = writes_last && !copies && blocks.at(sequence.blocks.back()).spilled;
    KvAppend result{.new_blocks = blocks_for(length) - had + (copies ? 1 : 0),
                    .copied = copies ? sequence.length % per_block() : 0,
                    .brought_back = returns ? 1 : 0};
    result.missing = std::max<int64_t>(result.new_blocks + result.brought_back - free(), 0);
    if (result.missing > 0) return {.missing = result.missing};
    set_last(id.value(), false);
    std::vector<int64_t> changed;
    if (had > 0) changed.push_back(sequence.blocks.back());
    if (copies) {
      --blocks.at(sequence.blocks.back()).sharers;
      sequence.blocks.back() = make_block();
      changed.push_back(sequence.blocks.back());
    }
    if (returns) blocks.at(sequence.blocks.back()).spilled = false;
    while (static_cast<int64_t>(sequence.blocks.size()) < blocks_for(length)) {
      sequence.blocks.push_back(make_block());
      changed.push_back(sequence.blocks.back());
    }
    sequence.length = length;
    set_last(id.value(), true);
    totals.in_sequences += tokens;
    for (const int64_t block : changed) recount(block);
    result.done = true;
    return result;
  }

  void end(SequenceId id) {
    const Sequence& sequence = at(id);
    set_last(id.value(), false);
    for (const int64_t block : sequence.blocks) {
      --blocks.at(block).sharers;
      recount(block);
    }
    totals.in_sequences -= sequence.length;
    sequences.erase(id.value());
  }
};

KvBlockPool::KvBlockPool(KvBlockOptions options) : impl_(std::make_unique<Impl>()) {
  check(options.blocks >= 0 && options.block_tokens.count() >= 1, "a pool of blocks");
  check(options.token_bytes >= Bytes{}, "a token's size is not negative");
  impl_->options = options;
}
KvBlockPool::~KvBlockPool() = default;
KvBlockPool::KvBlockPool(KvBlockPool&& other) noexcept = default;
KvBlockPool& KvBlockPool::operator=(KvBlockPool&& other) noexcept = default;

SequenceId KvBlockPool::start() {
  impl_->sequences[impl_->next_sequence] = {};
  return SequenceId(impl_->next_sequence++);
}

SequenceId KvBlockPool::fork(SequenceId parent, Tokens prefix) {
  const Sequence& from = impl_->at(parent);
  check(prefix.count() >= 0 && prefix.count() <= from.length, "a prefix of the sequence");
  const auto shared = static_cast<std::ptrdiff_t>(impl_->blocks_for(prefix.count()));
  Sequence child{.blocks = {from.blocks.begin(), from.blocks.begin() + shared},
                 .length = prefix.count()};
  const int64_t id = impl_->next_sequence++;
  const Sequence& stored = impl_->sequences[id] = std::move(child);
  for (const int64_t block : stored.blocks) ++impl_->blocks.at(block).sharers;
  impl_->set_last(id, true);
  for (const int64_t block : stored.blocks) impl_->recount(block);
  impl_->totals.in_sequences += prefix.count();
  return SequenceId(id);
}

KvAppend KvBlockPool::append(SequenceId sequence, Tokens tokens) {
  check(tokens.count() >= 0, "a number of tokens");
  return impl_->append(sequence, tokens.count());
}

void KvBlockPool::end(SequenceId sequence) { impl_->end(sequence); }

int64_t KvBlockPool::length(SequenceId sequence) const { return impl_->at(sequence).length; }

int64_t KvBlockPool::spilled_blocks(SequenceId sequence) const {
  const std::vector<int64_t>& blocks = impl_->at(sequence).blocks;
  return std::count_if(blocks.begin(), blocks.end(),
                       [&](int64_t id) { return impl_->blocks.at(id).spilled; });
}

std::vector<KvBlockId> KvBlockPool::spill(int64_t count) {
  std::vector<KvBlockId> moved;
  for (auto& [id, block] : impl_->blocks) {
    if (static_cast<int64_t>(moved.size()) >= count) break;
    if (block.spilled || !block.last_of.empty()) continue;
    block.spilled = true;
    impl_->recount(id);
    moved.emplace_back(id);
  }
  return moved;
}

std::vector<KvBlockId> KvBlockPool::bring_back(int64_t count) {
  std::vector<KvBlockId> moved;
  for (auto block = impl_->blocks.rbegin(); block != impl_->blocks.rend(); ++block) {
    if (static_cast<int64_t>(moved.size()) >= count || impl_->free() == 0) break;
    if (!block->second.spilled) continue;
    block->second.spilled = false;
    impl_->recount(block->first);
    moved.emplace_back(block->first);
  }
  return moved;
}

Bytes KvBlockPool::block_bytes() const {
  return impl_->options.token_bytes * impl_->options.block_tokens.count();
}

KvBlockUse KvBlockPool::use() const {
  KvBlockUse use = impl_->totals;
  use.free = impl_->free();
  use.reserved = use.held * block_bytes();
  use.used = use.tokens * impl_->options.token_bytes;
  use.saved = (impl_->references - use.held - use.spilled) * block_bytes();
  return use;
}

}  // namespace tidemark
