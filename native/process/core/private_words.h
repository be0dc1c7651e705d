// Which words of a process may be shown to strangers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/joined_ranges.h"
#include "process/process_image.h"

namespace whocall {

class PrivateWords {
 public:
  // `frames`: the stacks as far as frames reach; `shown`: what tells nothing of the process's data,
  // as its list of modules. All runtime addresses.
  PrivateWords(const ProcessImage& image, JoinedRanges frames, JoinedRanges shown)
      : image_(image), frames_(std::move(frames)), shown_(std::move(shown)) {}

  // A return address, a frame link, or a saved register that one leads through: a pointer to code
  // or into a frame.
  [[nodiscard]] bool may_show(Address value) const {
    return frames_.contains(value) || image_.is_code(value);
  }

  // Sets to zero what may not be shown of memory that begins at `begin`, and adds where that is.
  void blank(Address begin, std::span<std::byte> bytes, std::vector<AddressRange>& blanks) const;
  // The same in a thread's NT_PRSTATUS, whose program counter and stack pointer stay; returns
  // which, as the note of blank registers has it.
  [[nodiscard]] std::uint64_t blank_registers(std::span<std::byte> status) const;
  // And in NT_PRPSINFO, of whose command line the first word stays, with dots where there was more.
  static void blank_arguments(std::span<std::byte> info);

 private:
  [[nodiscard]] bool can_write(Address address) const;

  const ProcessImage& image_;
  JoinedRanges frames_;
  JoinedRanges shown_;
};

}  // namespace whocall
