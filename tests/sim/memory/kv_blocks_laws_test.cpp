// The pool of KV blocks beside its naive judge, and its laws.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "sim/memory/kv_blocks.h"

namespace tidemark {
namespace {

int64_t number(int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); }

// Blocks as lists of tokens that sequences point to: who shares a block is who points to it.
class NaivePool {
 public:
  struct Block {
    int64_t made = 0;
    std::vector<int64_t> tokens{};
    bool spilled = false;
  };
  struct Sequence {
    std::vector<std::shared_ptr<Block>> blocks{};
    std::vector<int64_t> tokens{};  // what it should hold
  };

  NaivePool(int64_t blocks, int64_t block_tokens) : blocks_(blocks), per_block_(block_tokens) {}

  std::map<int64_t, Sequence> sequences{};

  void fork(int64_t parent, int64_t prefix, int64_t id) {
    const Sequence& from = sequences.at(parent);
    Sequence child;
    for (int64_t i = 0; i < prefix; i += per_block_)
      child.blocks.push_back(from.blocks[static_cast<size_t>(i / per_block_)]);
    child.tokens.assign(from.tokens.begin(), from.tokens.begin() + prefix);
    sequences[id] = child;
  }

  // Token by token; undone if the pool then holds too much.
  bool append(int64_t id, int64_t count) {
    const Sequence before = sequences.at(id);
    const int64_t made_before = made_;
    std::optional<Block> last_before;
    if (!before.blocks.empty()) last_before = *before.blocks.back();
    Sequence& sequence = sequences.at(id);
    for (int64_t i = 0; i < count; ++i) append_one(sequence);
    if (held() <= blocks_) return true;
    sequence = before;
    if (last_before) *sequence.blocks.back() = *last_before;
    made_ = made_before;
    return false;
  }

  std::set<std::shared_ptr<Block>> all() const {
    std::set<std::shared_ptr<Block>> blocks;
    for (const auto& [id, sequence] : sequences)
      blocks.insert(sequence.blocks.begin(), sequence.blocks.end());
    return blocks;
  }
  int64_t held() const {
    const auto blocks = all();
    return std::count_if(blocks.begin(), blocks.end(), [](const auto& b) { return !b->spilled; });
  }
  int64_t sharers(const std::shared_ptr<Block>& block) const {
    return std::count_if(sequences.begin(), sequences.end(), [&](const auto& entry) {
      return std::count(entry.second.blocks.begin(), entry.second.blocks.end(), block) > 0;
    });
  }
  // Cells that some living sequence reads.
  int64_t filled(const std::shared_ptr<Block>& block) const {
    int64_t most = 0;
    for (const auto& [id, sequence] : sequences) {
      for (size_t i = 0; i < sequence.blocks.size(); ++i) {
        if (sequence.blocks[i] != block) continue;
        const auto rest = static_cast<int64_t>(sequence.tokens.size() - i * size());
        most = std::max(most, std::min(rest, per_block_));
      }
    }
    return most;
  }

  std::vector<int64_t> spill(int64_t count) {
    std::map<int64_t, std::shared_ptr<Block>> by_age;
    for (const auto& block : all()) by_age[block->made] = block;
    for (const auto& [id, sequence] : sequences) {
      if (sequence.tokens.size() % size() != 0) by_age.erase(sequence.blocks.back()->made);
    }
    std::vector<int64_t> moved;
    for (const auto& [made, block] : by_age) {
      if (block->spilled || static_cast<int64_t>(moved.size()) >= count) continue;
      block->spilled = true;
      moved.push_back(made);
    }
    return moved;
  }

  void expect(const KvBlockUse& use) const {
    KvBlockUse want{.held = held(), .free = blocks_ - held()};
    int64_t references = 0;
    for (const auto& block : all()) {
      references += sharers(block);
      want.shared += sharers(block) > 1 ? 1 : 0;
      want.spilled += block->spilled ? 1 : 0;
      (block->spilled ? want.spilled_tokens : want.tokens) += filled(block);
    }
    for (const auto& [id, sequence] : sequences) {
      want.in_sequences += static_cast<int64_t>(sequence.tokens.size());
      std::vector<int64_t> held_tokens;
      for (const auto& block : sequence.blocks)
        held_tokens.insert(held_tokens.end(), block->tokens.begin(), block->tokens.end());
      held_tokens.resize(sequence.tokens.size());
      RC_ASSERT(held_tokens == sequence.tokens);  // the judge itself has lost nothing
    }
    want.reserved = Bytes::of(want.held * per_block_);
    want.used = Bytes::of(want.tokens);
    want.saved = Bytes::of((references - want.held - want.spilled) * per_block_);
    RC_ASSERT(use == want);
    RC_ASSERT(use.used <= use.reserved);
    RC_ASSERT(use.tokens + use.spilled_tokens <= use.in_sequences);
  }

 private:
  size_t size() const { return static_cast<size_t>(per_block_); }

  void append_one(Sequence& sequence) {
    const size_t fill = sequence.tokens.size() % size();
    if (fill == 0) {
      sequence.blocks.push_back(std::make_shared<Block>(Block{.made = made_++}));
    } else if (sharers(sequence.blocks.back()) > 1) {
      const std::vector<int64_t>& old = sequence.blocks.back()->tokens;
      Block own{.made = made_++};
      own.tokens.assign(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(fill));
      sequence.blocks.back() = std::make_shared<Block>(own);
    }
    sequence.blocks.back()->spilled = false;
    sequence.blocks.back()->tokens.resize(fill);
    sequence.blocks.back()->tokens.push_back(next_token_);
    sequence.tokens.push_back(next_token_++);
  }

  int64_t blocks_;
  int64_t per_block_;
  int64_t made_ = 0;
  int64_t next_token_ = 0;
};

std::vector<int64_t> numbers(const std::vector<KvBlockId>& ids) {
  std::vector<int64_t> all;
  for (const KvBlockId id : ids) all.push_back(id.value());
  return all;
}

TEST(KvBlockPoolLawsTest, CountsAsItsNaiveJudgeAndLeaksNothing) {
  EXPECT_TRUE(rc::check("pointers to lists of tokens", [] {
    const int64_t blocks = number(0, 12);
    const int64_t per_block = number(1, 5);
    KvBlockPool pool(
        {.blocks = blocks, .block_tokens = Tokens(per_block), .token_bytes = Bytes::of(1)});
    NaivePool judge(blocks, per_block);
    std::vector<SequenceId> ids;
    for (int64_t step = number(0, 40); step > 0; --step) {
      const int64_t what = number(0, 9);
      if (ids.empty() || what == 0) {
        ids.push_back(pool.start());
        judge.sequences[ids.back().value()] = {};
      } else {
        const auto at = static_cast<size_t>(number(0, static_cast<int64_t>(ids.size()) - 1));
        const SequenceId id = ids[at];
        if (what <= 5) {
          const int64_t count = number(0, 6);
          RC_ASSERT(pool.append(id, Tokens(count)).done == judge.append(id.value(), count));
        } else if (what <= 7) {
          const int64_t prefix = number(0, pool.length(id));
          ids.push_back(pool.fork(id, Tokens(prefix)));
          judge.fork(id.value(), prefix, ids.back().value());
        } else if (what == 8) {
          const int64_t count = number(0, 3);
          RC_ASSERT(numbers(pool.spill(count)) == judge.spill(count));
        } else {
          pool.end(id);
          judge.sequences.erase(id.value());
          ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at));
        }
      }
      judge.expect(pool.use());
    }
    for (const SequenceId id : ids) pool.end(id);
    RC_ASSERT(pool.use() == KvBlockUse{.free = blocks});
  }));
}

// The same lengths, once as forks of a common prompt and once each for itself.
TEST(KvBlockPoolLawsTest, SharingNeverRaisesWhatIsHeld) {
  EXPECT_TRUE(rc::check([] {
    const int64_t per_block = number(1, 8);
    const KvBlockOptions options{.blocks = 1000, .block_tokens = Tokens(per_block)};
    KvBlockPool shared(options);
    KvBlockPool apart(options);
    const int64_t prompt = number(0, 40);
    const SequenceId first = shared.start();
    shared.append(first, Tokens(prompt));
    apart.append(apart.start(), Tokens(prompt));
    for (int64_t i = number(0, 6); i > 0; --i) {
      const int64_t more = number(0, 20);
      shared.append(shared.fork(first, Tokens(prompt)), Tokens(more));
      apart.append(apart.start(), Tokens(prompt + more));
      RC_ASSERT(shared.use().held <= apart.use().held);
      RC_ASSERT(shared.use().tokens <= apart.use().tokens);
      RC_ASSERT(shared.use().in_sequences == apart.use().in_sequences);
    }
  }));
}

}  // namespace
}  // namespace tidemark
