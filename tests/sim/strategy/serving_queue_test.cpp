#include "sim/strategy/serving_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Request request(int64_t prompt, int64_t generate) {
  return {.prompt = prompt, .generate = generate};
}

ServingLimits limits(int64_t most_running, int64_t ubatch, int64_t blocks, int64_t block) {
  return {.most_running = most_running,
          .ubatch = ubatch,
          .pool = {.blocks = blocks, .block_tokens = Tokens(block), .token_bytes = Bytes::of(1)}};
}

TEST(ServingQueueTest, WorkedInTheHeader) {
  const std::vector<Request> requests{request(6, 4), request(5, 3)};
  ServingQueue queue(requests, limits(8, 8, 4, 4));
  queue.arrive(0);
  queue.arrive(1);

  queue.admit();
  EXPECT_EQ(queue.pool().use().held, 4);
  EXPECT_THAT(queue.begin_prefill(), ElementsAre(ServedTokens{0, 6, 6}, ServedTokens{1, 2, 2}));
  EXPECT_THAT(queue.finish_prefill(), ElementsAre(0));
  EXPECT_THAT(queue.begin_decode(), ElementsAre(ServedTokens{0, 1, 7}));
  EXPECT_THAT(queue.finish_decode(), ElementsAre(0));

  queue.admit();
  EXPECT_THAT(queue.begin_prefill(), ElementsAre(ServedTokens{1, 3, 5}));
  EXPECT_THAT(queue.finish_prefill(), ElementsAre(1));
  EXPECT_THAT(queue.begin_decode(), ElementsAre(ServedTokens{0, 1, 8}, ServedTokens{1, 1, 6}));
  EXPECT_THAT(queue.finish_decode(), ElementsAre(0, 1));

  queue.admit();
  EXPECT_THAT(queue.begin_prefill(), IsEmpty());
  EXPECT_THAT(queue.begin_decode(), ElementsAre(ServedTokens{0, 1, 9}));
  EXPECT_EQ(queue.pool().use().held, 3);
  EXPECT_EQ(queue.counts().preemptions, 1);
  EXPECT_EQ(queue.counts().lost, 6);
  EXPECT_THAT(queue.finish_decode(), ElementsAre(0));
  EXPECT_FALSE(queue.runs());
  EXPECT_TRUE(queue.waits());

  queue.admit();
  EXPECT_EQ(queue.pool().use().held, 2);
  EXPECT_THAT(queue.begin_prefill(), ElementsAre(ServedTokens{1, 7, 7}));
  EXPECT_THAT(queue.finish_prefill(), ElementsAre(1));
  EXPECT_FALSE(queue.runs());
  EXPECT_EQ(queue.counts().completed, 2);
  EXPECT_EQ(queue.counts().prefilled, 6 + 5 + 7);
  EXPECT_EQ(queue.pool().use().free, 4);
}

// 12 of 20 tokens in common, blocks of 8: one whole block is shared; the second, of 4 tokens so
// far, is copied when the second request writes into it.
TEST(ServingQueueTest, APrefixIsComputedOnce) {
  Request first = request(20, 3);
  first.prefix = 5;
  first.prefix_tokens = 12;
  const std::vector<Request> requests{first, first};
  ServingQueue queue(requests, limits(8, 64, 10, 8));
  queue.arrive(0);
  queue.arrive(1);
  queue.admit();
  EXPECT_EQ(queue.pool().use().held, 3 + 2);
  EXPECT_THAT(queue.begin_prefill(), ElementsAre(ServedTokens{0, 20, 20}, ServedTokens{1, 8, 20}));
  EXPECT_EQ(queue.counts().from_prefix, 12);
}

TEST(ServingQueueTest, WholeContextsShareNothingAndAreNeverPreempted) {
  Request first = request(20, 3);
  first.prefix = 5;
  first.prefix_tokens = 12;
  const std::vector<Request> requests{first, first, first};
  ServingLimits two = limits(8, 64, 2, 32);
  two.whole_context = true;
  ServingQueue queue(requests, two);
  for (size_t i = 0; i < 3; ++i) queue.arrive(i);
  queue.admit();
  EXPECT_THAT(queue.running(), ElementsAre(0, 1));
  EXPECT_EQ(queue.pool().use().reserved, Bytes::of(64));
  EXPECT_EQ(queue.pool().use().used, Bytes::of(40));
  EXPECT_EQ(queue.counts().from_prefix, 0);
}

int64_t number(int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); }

std::vector<Request> any_requests(bool with_prefixes) {
  std::vector<Request> requests(static_cast<size_t>(number(1, 12)));
  for (Request& one : requests) {
    one.prompt = number(1, 40);
    one.generate = number(1, 20);
    if (!with_prefixes || one.prompt == 1 || number(0, 1) == 0) continue;
    one.prefix = number(0, 1);
    one.prefix_tokens = number(1, one.prompt - 1);
  }
  return requests;
}

int64_t cells_at_end(const Request& one) { return one.prompt + one.generate - 1; }

int64_t longest(const std::vector<Request>& requests) {
  int64_t most = 0;
  for (const Request& one : requests) most = std::max(most, cells_at_end(one));
  return most;
}

// What each pass computes, from the sentences of the header and nothing else: blocks are counted,
// not kept. Without prefixes.
class NaiveQueue {
 public:
  struct One {
    size_t request = 0;
    int64_t cells = 0;
    int64_t left = 0;
  };

  NaiveQueue(const std::vector<Request>& requests, const ServingLimits& its)
      : requests_(requests), limits_(its), made(requests.size(), 0) {
    for (size_t i = 0; i < requests.size(); ++i) waiting.push_back(i);
  }

  std::string prefill() {
    while (!waiting.empty() && static_cast<int64_t>(running.size()) < limits_.most_running) {
      const size_t head = waiting.front();
      const int64_t cells = requests_[head].prompt + made[head];
      running.push_back({head, cells, cells});
      if (held() > limits_.pool.blocks) {
        running.pop_back();
        break;
      }
      waiting.erase(waiting.begin());
    }
    std::string pass;
    std::vector<size_t> makers;
    int64_t room = limits_.ubatch;
    for (One& one : running) {
      const int64_t tokens = std::min(room, one.left);
      if (tokens == 0) continue;
      room -= tokens;
      one.left -= tokens;
      pass += part(one.request, tokens, one.cells - one.left);
      if (one.left == 0) makers.push_back(one.request);
    }
    make(makers);
    return pass;
  }

  std::string decode() {
    std::string pass;
    std::vector<size_t> makers;
    for (size_t i = 0; i < running.size(); ++i) {
      if (running[i].left > 0) continue;
      ++running[i].cells;
      while (held() > limits_.pool.blocks) {
        waiting.insert(waiting.begin(), running.back().request);
        running.pop_back();
      }
      if (i >= running.size()) break;
      pass += part(running[i].request, 1, running[i].cells);
      makers.push_back(running[i].request);
    }
    make(makers);
    return pass;
  }

  static std::string part(size_t id, int64_t tokens, int64_t cells) {
    return std::to_string(id) + ":" + std::to_string(tokens) + "@" + std::to_string(cells) + " ";
  }

  std::vector<size_t> waiting{};
  std::vector<One> running{};

 private:
  int64_t held() const {
    int64_t blocks = 0;
    const int64_t block = limits_.pool.block_tokens.count();
    for (const One& one : running) blocks += (one.cells + block - 1) / block;
    return blocks;
  }

  void make(const std::vector<size_t>& makers) {
    for (const size_t id : makers) {
      if (++made[id] < requests_[id].generate) continue;
      std::erase_if(running, [&](const One& one) { return one.request == id; });
    }
  }

  const std::vector<Request>& requests_;
  ServingLimits limits_;

 public:
  std::vector<int64_t> made;
};

std::string text_of(const std::vector<ServedTokens>& parts) {
  std::string text;
  for (const ServedTokens& one : parts) {
    text += NaiveQueue::part(one.request, one.tokens, one.cells);
  }
  return text;
}

TEST(ServingQueueTest, ComputesWhatTheNaiveOneComputes) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<Request> requests = any_requests(false);
    const int64_t block = number(1, 8);
    const int64_t least = (longest(requests) + block - 1) / block;
    const ServingLimits its = limits(number(1, 6), number(1, 30), least + number(0, 12), block);
    ServingQueue queue(requests, its);
    NaiveQueue naive(requests, its);
    for (size_t i = 0; i < requests.size(); ++i) queue.arrive(i);
    while (queue.runs() || queue.waits()) {
      queue.admit();
      RC_ASSERT(text_of(queue.begin_prefill()) == naive.prefill());
      queue.finish_prefill();
      RC_ASSERT(text_of(queue.begin_decode()) == naive.decode());
      queue.finish_decode();
    }
    RC_ASSERT(naive.running.empty());
    RC_ASSERT(naive.waiting.empty());
  }));
}

// Every request completes once; each makes its tokens; each cell is computed once, and once more
// for each time it was lost; all blocks come back.
TEST(ServingQueueTest, NothingIsLostOrMadeTwice) {
  EXPECT_TRUE(rc::check([] {
    const bool with_prefixes = number(0, 1) == 1;
    const std::vector<Request> requests = any_requests(with_prefixes);
    const int64_t block = number(1, 8);
    const int64_t blocks = (longest(requests) + block - 1) / block + number(0, 12);
    ServingQueue queue(requests, limits(number(1, 6), number(1, 30), blocks, block));
    for (size_t i = 0; i < requests.size(); ++i) queue.arrive(i);
    std::vector<int64_t> made(requests.size(), 0);
    std::vector<size_t> admitted;
    int64_t decoded = 0;
    while (queue.runs() || queue.waits()) {
      queue.admit();
      for (const size_t id : queue.running()) {
        if (std::find(admitted.begin(), admitted.end(), id) == admitted.end()) {
          admitted.push_back(id);
        }
      }
      queue.begin_prefill();
      for (const size_t id : queue.finish_prefill()) ++made[id];
      decoded += static_cast<int64_t>(queue.begin_decode().size());
      for (const size_t id : queue.finish_decode()) ++made[id];
    }
    int64_t cells = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      RC_ASSERT(made[i] == requests[i].generate);
      RC_ASSERT(admitted[i] == i);  // first come, first admitted
      cells += cells_at_end(requests[i]);
    }
    const ServingCounts& counts = queue.counts();
    RC_ASSERT(counts.completed == static_cast<int64_t>(requests.size()));
    const int64_t kept = counts.prefilled + decoded - counts.lost;
    RC_ASSERT(kept <= cells);
    RC_ASSERT(kept + counts.from_prefix >= cells);
    if (!with_prefixes) RC_ASSERT(kept == cells);
    RC_ASSERT(queue.pool().use().free == blocks);
    RC_ASSERT(queue.pool().use().in_sequences == 0);
  }));
}

// The same memory, contexts of whole blocks: blocks take in all whom whole contexts take in.
TEST(ServingQueueTest, WholeContextsNeverAdmitMoreThanBlocks) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<Request> requests = any_requests(true);
    const int64_t block = number(1, 8);
    const int64_t context = (longest(requests) + block - 1) / block * block;
    const int64_t slots = number(1, 6);
    ServingLimits whole = limits(12, 64, slots, context);
    whole.whole_context = true;
    ServingQueue in_whole(requests, whole);
    ServingQueue in_blocks(requests, limits(12, 64, slots * context / block, block));
    for (size_t i = 0; i < requests.size(); ++i) {
      in_whole.arrive(i);
      in_blocks.arrive(i);
    }
    in_whole.admit();
    in_blocks.admit();
    RC_ASSERT(in_whole.running().size() <= in_blocks.running().size());
    while (in_whole.runs() || in_whole.waits()) {
      in_whole.admit();
      in_whole.begin_prefill();
      in_whole.finish_prefill();
      in_whole.begin_decode();
      in_whole.finish_decode();
    }
    RC_ASSERT(in_whole.counts().preemptions == 0);
  }));
}

}  // namespace
}  // namespace tidemark
