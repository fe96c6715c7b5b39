#include "sim/strategy/serving_queue.h"

#include <algorithm>

#include "planner/base/check.h"

namespace tidemark {

ServingQueue::ServingQueue(std::span<const Request> requests, const ServingLimits& limits)
    : requests_(requests), limits_(limits), pool_(limits.pool), made_(requests.size(), 0) {}

void ServingQueue::arrive(size_t request) { waiting_.push_back(request); }

void ServingQueue::admit() {
  while (!waiting_.empty() && static_cast<int64_t>(running_.size()) < limits_.most_running) {
    if (!start(waiting_.front())) break;
    waiting_.pop_front();
  }
  counts_.most_running = std::max(counts_.most_running, static_cast<int64_t>(running_.size()));
}

// The running one with the longest part of the prefix, the first of equals.
const ServingQueue::Sequence* ServingQueue::donor_of(const Request& request) const {
  if (request.prefix < 0 || limits_.whole_context) return nullptr;
  const Sequence* donor = nullptr;
  for (const Sequence& other : running_) {
    const Request& its = requests_[other.request];
    if (its.prefix != request.prefix) continue;
    if (donor == nullptr || its.prefix_tokens > requests_[donor->request].prefix_tokens) {
      donor = &other;
    }
  }
  return donor;
}

bool ServingQueue::start(size_t id) {
  const Request& request = requests_[id];
  const Sequence* donor = donor_of(request);
  const int64_t shared =
      donor == nullptr ? 0
                       : std::min(request.prefix_tokens, requests_[donor->request].prefix_tokens);
  const SequenceId cells =
      donor != nullptr ? pool_.fork(donor->cells, Tokens(shared)) : pool_.start();
  const int64_t own = request.prompt + made_[id] - shared;
  if (!pool_.append(cells, Tokens(own)).done) {
    pool_.end(cells);
    check(!running_.empty(), "a request alone fits the pool");
    return false;
  }
  counts_.from_prefix += shared;
  running_.push_back({.request = id, .cells = cells, .left = own});
  return true;
}

const std::vector<ServedTokens>& ServingQueue::begin_prefill() {
  pass_.clear();
  in_pass_.clear();
  int64_t room = limits_.ubatch;
  for (size_t i = 0; i < running_.size() && room > 0; ++i) {
    const Sequence& sequence = running_[i];
    if (sequence.left == 0) continue;
    const int64_t tokens = std::min(room, sequence.left);
    room -= tokens;
    pass_.push_back({.request = sequence.request,
                     .tokens = tokens,
                     .cells = pool_.length(sequence.cells) - sequence.left + tokens});
    in_pass_.push_back(i);
  }
  return pass_;
}

const std::vector<size_t>& ServingQueue::finish_prefill() {
  std::vector<size_t> done;
  for (size_t i = 0; i < in_pass_.size(); ++i) {
    Sequence& sequence = running_[in_pass_[i]];
    const int64_t tokens = pass_[i].tokens;
    sequence.left -= tokens;
    sequence.computed += tokens;
    counts_.prefilled += tokens;
    if (sequence.left == 0) done.push_back(in_pass_[i]);
  }
  return made_a_token(done);
}

const std::vector<ServedTokens>& ServingQueue::begin_decode() {
  pass_.clear();
  in_pass_.clear();
  for (size_t i = 0; i < running_.size(); ++i) {
    if (running_[i].left > 0) continue;
    if (!grow(i)) break;
    const Sequence& sequence = running_[i];
    pass_.push_back(
        {.request = sequence.request, .tokens = 1, .cells = pool_.length(sequence.cells)});
    in_pass_.push_back(i);
  }
  return pass_;
}

// One more cell. False when the sequence itself had to make room.
bool ServingQueue::grow(size_t index) {
  while (!pool_.append(running_[index].cells, Tokens(1)).done) {
    check(running_.size() > 1, "a request alone fits the pool");
    preempt_last();
    if (index == running_.size()) return false;
  }
  return true;
}

void ServingQueue::preempt_last() {
  const Sequence last = running_.back();
  pool_.end(last.cells);
  running_.pop_back();
  waiting_.push_front(last.request);
  ++counts_.preemptions;
  counts_.lost += last.computed;
}

const std::vector<size_t>& ServingQueue::finish_decode() {
  for (const size_t i : in_pass_) ++running_[i].computed;
  return made_a_token(std::vector<size_t>(in_pass_));
}

const std::vector<size_t>& ServingQueue::made_a_token(const std::vector<size_t>& sequences) {
  makers_.clear();
  for (const size_t i : sequences) {
    makers_.push_back(running_[i].request);
    ++made_[running_[i].request];
  }
  std::erase_if(running_, [&](const Sequence& sequence) {
    const bool is_done = made_[sequence.request] == requests_[sequence.request].generate;
    if (is_done) pool_.end(sequence.cells);
    return is_done;
  });
  counts_.completed += std::count_if(makers_.begin(), makers_.end(), [&](size_t id) {
    return made_[id] == requests_[id].generate;
  });
  return makers_;
}

std::vector<size_t> ServingQueue::running() const {
  std::vector<size_t> ids;
  ids.reserve(running_.size());
  for (const Sequence& sequence : running_) ids.push_back(sequence.request);
  return ids;
}

}  // namespace tidemark
