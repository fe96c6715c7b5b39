// Slips of the keyboard: n_haed -> n_head, galaxy-s32 -> galaxy-s23.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// Fewest insertions, deletions, replacements and swaps of neighbours that turn a into b (no place
// edited twice). Only the first 64 bytes of each are compared.
//   n_haed -> n_head: one swap.   qunat -> quant: one swap.   embed -> embd: one deletion.
size_t edit_distance(std::string_view a, std::string_view b);

// The candidate closest to `word` if it is close enough to be a slip (edit distance <= 2 and < half
// the length of the word); the first of several equally close.
std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates);

// All candidates, nearest first; equally near ones by name.
std::vector<std::string> nearest_first(std::string_view word, std::vector<std::string> candidates);

// "a, b, c and 4 more": the nearest 20 of the candidates; "none" of none.
std::string nearest_listed(std::string_view word, const std::vector<std::string>& candidates);

// "did you mean \"n_head\"?" where there is a near one, else "<known>: a, b, c": in the order
// given, or nearest first when there are more than 20.
std::string suggestion(std::string_view word, std::string_view known,
                       const std::vector<std::string>& candidates);

}  // namespace tidemark
