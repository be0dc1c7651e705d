// Which words of a process may be shown to strangers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/joined_ranges.h"
#include "process/process_image.h"

namespace whocall {

// What of a process tells of its frames, and of no data. All addresses are runtime addresses.
struct ShownParts {
  JoinedRanges frames;               // the stacks, as far as frames reach
  std::unordered_set<Address> code;  // where frames stand: what return addresses point to
  JoinedRanges lists;                // the dynamic linker's list of files, to the byte
};

class PrivateWords {
 public:
  PrivateWords(const ProcessImage& image, ShownParts shown)
      : image_(image), shown_(std::move(shown)) {}

  // Sets to zero what may not be shown of memory that begins at `begin`, and adds where that is.
  // What stays are pointers to frames and to where they return, the list of files, what the
  // modules' files have as well, and code.
  void blank(Address begin, std::span<std::byte> bytes, std::vector<AddressRange>& blanks) const;
  // The same in a thread's NT_PRSTATUS, whose program counter and stack pointer stay; returns
  // which, as the note of blank registers has it.
  [[nodiscard]] std::uint64_t blank_registers(std::span<std::byte> status) const;
  // And in NT_PRPSINFO: of the command line the first word stays, with dots where there was more,
  // and of the program's name what is the beginning of that.
  static void blank_arguments(std::span<std::byte> info);
  // Whether the address that a signal brought may be shown: one that is mapped, near no address at
  // all, or near a frame.
  [[nodiscard]] bool shows(Address address) const;
  // And in NT_SIGINFO: the signal, the code and who sent it stay, and such an address. Returns the
  // code, where there is one that does not.
  [[nodiscard]] std::optional<std::int32_t> blank_signal(std::span<std::byte> info) const;

 private:
  [[nodiscard]] bool leads_to_frames(Address value) const;
  [[nodiscard]] bool is_of_file_or_code(Address address) const;

  const ProcessImage& image_;
  ShownParts shown_;
};

}  // namespace whocall
