// `stacktrace` and its entries, as C++23's <stacktrace> has them ([stacktrace]).
#ifndef WHOCALL_STACKTRACE_HPP
#define WHOCALL_STACKTRACE_HPP

#include <whocall.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <whocall/demangled.hpp>
#include <whocall/source_lines.hpp>

namespace whocall {

// One frame: an address. All else is looked up when it is asked for.
class stacktrace_entry {
 public:
  using native_handle_type = std::uintptr_t;

  constexpr stacktrace_entry() noexcept = default;
  // `is_return`: the address is where a call returns to, so the call stands before it.
  constexpr explicit stacktrace_entry(std::uintptr_t address, bool is_return = true) noexcept
      : address_(address), is_return_(is_return) {}

  [[nodiscard]] constexpr native_handle_type native_handle() const noexcept { return address_; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return address_ != 0; }

  // The function's name, demangled; empty where no symbol covers the address.
  [[nodiscard]] std::string description() const {
    const whocall_frame frame = looked_up();
    return frame.function == nullptr ? std::string() : demangled(frame.function);
  }
  // Of the innermost inlined call; empty and 0 where no debug info tells.
  [[nodiscard]] std::string source_file() const {
    const auto lines = source_lines();
    return lines.empty() ? std::string() : lines.front().file;
  }
  [[nodiscard]] std::uint_least32_t source_line() const {
    const auto lines = source_lines();
    return lines.empty() ? 0 : lines.front().line;
  }

  // The path of the file that the code is from; empty where it is from none.
  [[nodiscard]] std::string module() const { return looked_up().module; }
  // The address as one of that file (its link address), bytes.
  [[nodiscard]] std::uintptr_t module_offset() const { return looked_up().offset + behind(); }
  // From the function's first byte on, bytes.
  [[nodiscard]] std::size_t function_offset() const {
    return looked_up().function_offset + behind();
  }
  // The line of the address and those of the calls that were inlined around it, innermost first.
  [[nodiscard]] std::vector<source_place> source_lines() const {
    return detail::line_reader::of_program().lines_at(looked_up());
  }

  friend constexpr bool operator==(const stacktrace_entry& a, const stacktrace_entry& b) noexcept {
    return a.address_ == b.address_;
  }
  friend constexpr bool operator!=(const stacktrace_entry& a, const stacktrace_entry& b) noexcept {
    return !(a == b);
  }
  friend constexpr bool operator<(const stacktrace_entry& a, const stacktrace_entry& b) noexcept {
    return a.address_ < b.address_;
  }
  friend constexpr bool operator>(const stacktrace_entry& a, const stacktrace_entry& b) noexcept {
    return b < a;
  }
  friend constexpr bool operator<=(const stacktrace_entry& a, const stacktrace_entry& b) noexcept {
    return !(b < a);
  }
  friend constexpr bool operator>=(const stacktrace_entry& a, const stacktrace_entry& b) noexcept {
    return !(a < b);
  }

 private:
  // From the byte that is looked up to the address.
  [[nodiscard]] constexpr std::uintptr_t behind() const noexcept {
    return is_return_ && address_ != 0 ? 1 : 0;
  }
  [[nodiscard]] whocall_frame looked_up() const {
    whocall_frame frame = {};
    const std::uintptr_t inside = address_ - behind();
    if (find_function_by_addr(reinterpret_cast<const void*>(inside), &frame) != 0) {
      frame.module = "";
      frame.offset = inside;
    }
    return frame;
  }

  std::uintptr_t address_ = 0;
  bool is_return_ = true;
};

template <class Allocator>
class basic_stacktrace {
 public:
  using value_type = stacktrace_entry;
  using allocator_type = Allocator;
  using entries = std::vector<stacktrace_entry, Allocator>;
  using const_iterator = typename entries::const_iterator;
  using iterator = const_iterator;
  using const_reverse_iterator = typename entries::const_reverse_iterator;
  using reverse_iterator = const_reverse_iterator;
  using const_reference = const stacktrace_entry&;
  using reference = stacktrace_entry&;
  using difference_type = typename entries::difference_type;
  using size_type = typename entries::size_type;

  basic_stacktrace() = default;
  explicit basic_stacktrace(const Allocator& allocator) : entries_(allocator) {}
  basic_stacktrace(const basic_stacktrace& other, const Allocator& allocator)
      : entries_(other.entries_, allocator) {}
  basic_stacktrace(basic_stacktrace&& other, const Allocator& allocator)
      : entries_(std::move(other.entries_), allocator) {}

  [[gnu::noinline]] static basic_stacktrace current(const Allocator& allocator) noexcept {
    basic_stacktrace made = current(1, std::numeric_limits<size_type>::max(), allocator);
    __asm__ volatile("");  // this frame is there as long as the call
    return made;
  }
  [[gnu::noinline]] static basic_stacktrace current(size_type skip,
                                                    const Allocator& allocator) noexcept {
    const size_type further = skip == std::numeric_limits<size_type>::max() ? skip : skip + 1;
    basic_stacktrace made = current(further, std::numeric_limits<size_type>::max(), allocator);
    __asm__ volatile("");
    return made;
  }
  // Of whoever calls this, who stands first; `skip` frames are left out, then no more than `most`
  // taken. Empty where memory is short.
  [[gnu::noinline]] static basic_stacktrace current(
      size_type skip = 0, size_type most = std::numeric_limits<size_type>::max(),
      const Allocator& allocator = Allocator()) noexcept {
    void* few[64];
    try {
      // This function is the first.
      const size_type taken = whocall_capture(few, 64);
      if (taken < 64) {
        return of_addresses(few, taken, skip, most, allocator);
      }
      std::vector<void*> all(256);
      size_type count = 0;
      while ((count = whocall_capture(all.data(), all.size())) == all.size()) {
        all.resize(2 * all.size());
      }
      return of_addresses(all.data(), count, skip, most, allocator);
    } catch (...) {
      return basic_stacktrace(allocator);
    }
  }
  // Of the exception that is handled now, where it was thrown; empty where nobody has seen it
  // thrown (throws.hpp), or none is handled.
  static basic_stacktrace from_current_exception(const Allocator& allocator = Allocator()) noexcept;

  // Of what whocall_capture() gave, without its first, who called that.
  static basic_stacktrace of_addresses(void* const* addresses, size_type count, size_type skip,
                                       size_type most, const Allocator& allocator = Allocator()) {
    basic_stacktrace made(allocator);
    const size_type first = count == 0 ? 0 : 1 + std::min(skip, count - 1);
    for (size_type at = first; at < count && at - first < most; ++at) {
      made.entries_.emplace_back(reinterpret_cast<std::uintptr_t>(addresses[at]));
    }
    return made;
  }

  [[nodiscard]] allocator_type get_allocator() const noexcept { return entries_.get_allocator(); }
  [[nodiscard]] const_iterator begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] const_iterator end() const noexcept { return entries_.end(); }
  [[nodiscard]] const_iterator cbegin() const noexcept { return begin(); }
  [[nodiscard]] const_iterator cend() const noexcept { return end(); }
  [[nodiscard]] const_reverse_iterator rbegin() const noexcept { return entries_.rbegin(); }
  [[nodiscard]] const_reverse_iterator rend() const noexcept { return entries_.rend(); }
  [[nodiscard]] const_reverse_iterator crbegin() const noexcept { return rbegin(); }
  [[nodiscard]] const_reverse_iterator crend() const noexcept { return rend(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] size_type size() const noexcept { return entries_.size(); }
  [[nodiscard]] size_type max_size() const noexcept { return entries_.max_size(); }
  [[nodiscard]] const_reference operator[](size_type at) const { return entries_[at]; }
  // Throws std::out_of_range.
  [[nodiscard]] const_reference at(size_type at) const { return entries_.at(at); }
  void swap(basic_stacktrace& other) noexcept { entries_.swap(other.entries_); }

  // First by how many frames there are, as C++23 has it.
  template <class Other>
  [[nodiscard]] int compare(const basic_stacktrace<Other>& other) const noexcept {
    if (size() != other.size()) {
      return size() < other.size() ? -1 : 1;
    }
    const auto differ = std::mismatch(begin(), end(), other.begin());
    return differ.first == end() ? 0 : (*differ.first < *differ.second ? -1 : 1);
  }

 private:
  entries entries_;
};

using stacktrace = basic_stacktrace<std::allocator<stacktrace_entry>>;

template <class A, class B>
bool operator==(const basic_stacktrace<A>& a, const basic_stacktrace<B>& b) noexcept {
  return a.compare(b) == 0;
}
template <class A, class B>
bool operator!=(const basic_stacktrace<A>& a, const basic_stacktrace<B>& b) noexcept {
  return a.compare(b) != 0;
}
template <class A, class B>
bool operator<(const basic_stacktrace<A>& a, const basic_stacktrace<B>& b) noexcept {
  return a.compare(b) < 0;
}
template <class A, class B>
bool operator>(const basic_stacktrace<A>& a, const basic_stacktrace<B>& b) noexcept {
  return a.compare(b) > 0;
}
template <class A, class B>
bool operator<=(const basic_stacktrace<A>& a, const basic_stacktrace<B>& b) noexcept {
  return a.compare(b) <= 0;
}
template <class A, class B>
bool operator>=(const basic_stacktrace<A>& a, const basic_stacktrace<B>& b) noexcept {
  return a.compare(b) >= 0;
}
template <class Allocator>
void swap(basic_stacktrace<Allocator>& a, basic_stacktrace<Allocator>& b) noexcept {
  a.swap(b);
}

}  // namespace whocall

template <>
struct std::hash<whocall::stacktrace_entry> {
  std::size_t operator()(const whocall::stacktrace_entry& entry) const noexcept {
    return std::hash<std::uintptr_t>()(entry.native_handle());
  }
};

template <class Allocator>
struct std::hash<whocall::basic_stacktrace<Allocator>> {
  std::size_t operator()(const whocall::basic_stacktrace<Allocator>& trace) const noexcept {
    std::size_t sum = trace.size();
    for (const whocall::stacktrace_entry& each : trace) {
      sum = sum * 31 + std::hash<whocall::stacktrace_entry>()(each);
    }
    return sum;
  }
};

#endif
