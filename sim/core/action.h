// What an event does when it runs: a function without arguments that can be moved but not copied,
// and that is kept without a heap allocation when it captures at most five words.
//
//   [this]                  8 bytes, in place        [this, slot, bytes]    24 bytes, in place
//   a std::function        32 bytes, in place        [text = std::string(), this, a, b]   heap
//
// A capture larger than that, or one whose move may throw, works all the same, for the price of an
// allocation. Checked by ActionTest.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace tidemark {

class Action {
 public:
  static constexpr size_t kBytesInPlace = 40;

  // Is a callable of type F kept in place?
  template <typename F>
  static constexpr bool kInPlace =
      sizeof(F) <= kBytesInPlace &&
      alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

  Action() = default;
  Action(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): handlers are passed as lambdas

  // An empty std::function and a null function pointer make an empty action.
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Action> && std::is_invocable_v<std::decay_t<F>&>)
      Action(F&& function) {  // NOLINT(google-explicit-constructor)
    keep(std::forward<F>(function));
  }
  // Makes the capture in place, instead of moving it there.
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Action> &&
           std::is_invocable_v<std::decay_t<F>&>) Action&
  operator=(F&& function) {
    clear();
    keep(std::forward<F>(function));
    return *this;
  }

  Action(Action&& other) noexcept { take(other); }
  Action& operator=(Action&& other) noexcept {
    if (this == &other) return *this;
    clear();
    take(other);
    return *this;
  }
  Action(const Action&) = delete;
  Action& operator=(const Action&) = delete;
  ~Action() { clear(); }

  explicit operator bool() const { return call_ != nullptr; }
  void operator()() { call_(bytes_); }  // must not be empty

 private:
  // Moves what `from` holds to `to`, or destroys it when `to` is null.
  using Manage = void (*)(void* from, void* to) noexcept;

  template <typename Kept>
  static void manage_in_place(void* from, void* to) noexcept {
    Kept* kept = static_cast<Kept*>(from);
    if (to != nullptr) ::new (to) Kept(std::move(*kept));
    kept->~Kept();
  }

  template <typename Kept>
  static Kept* pointer_in(void* bytes) {
    Kept* kept = nullptr;
    std::memcpy(&kept, bytes, sizeof(kept));
    return kept;
  }

  template <typename Kept>
  static void manage_on_heap(void* from, void* to) noexcept {
    if (to != nullptr) {
      std::memcpy(to, from, sizeof(Kept*));
    } else {
      delete pointer_in<Kept>(from);
    }
  }

  // Both require that this is empty.
  template <typename F>
  void keep(F&& function) {
    using Kept = std::decay_t<F>;
    if constexpr (std::is_pointer_v<Kept> || requires { &Kept::operator bool; }) {
      if (!function) return;
    }
    if constexpr (kInPlace<Kept>) {
      ::new (static_cast<void*>(bytes_)) Kept(std::forward<F>(function));
      call_ = [](void* bytes) { (*static_cast<Kept*>(bytes))(); };
      if constexpr (!std::is_trivially_copyable_v<Kept>) manage_ = manage_in_place<Kept>;
    } else {
      Kept* kept = new Kept(std::forward<F>(function));
      std::memcpy(bytes_, &kept, sizeof(kept));
      call_ = [](void* bytes) { (*pointer_in<Kept>(bytes))(); };
      manage_ = manage_on_heap<Kept>;
    }
  }

  void take(Action& other) noexcept {
    call_ = std::exchange(other.call_, nullptr);
    manage_ = std::exchange(other.manage_, nullptr);
    if (manage_ != nullptr) {
      manage_(other.bytes_, bytes_);
    } else if (call_ != nullptr) {
      std::memcpy(bytes_, other.bytes_, kBytesInPlace);
    }
  }

  void clear() noexcept {
    if (manage_ != nullptr) manage_(bytes_, nullptr);
    call_ = nullptr;
    manage_ = nullptr;
  }

  void (*call_)(void*) = nullptr;
  Manage manage_ = nullptr;  // null: the bytes are all there is to it
  alignas(void*) unsigned char bytes_[kBytesInPlace] = {};
};

}  // namespace tidemark
