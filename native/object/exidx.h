// The unwind tables of ARM's ABI of 32 bits, .ARM.exidx and .ARM.extab: an index of function
// starts, sorted, and for each a few bytes of instructions (rules/arm_index.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "object/elf_file.h"
#include "rules/arm_index.h"

namespace whocall {

// What the table says of an address. All addresses are link addresses.
struct ExidxEntry {
  using Kind = rules::ArmEntry::Kind;
  AddressRange range;  // up to the next entry: more than one function, where others have none
  Kind kind = Kind::damaged;
  std::vector<std::uint8_t> instructions{};  // EHABI 10.3; may lack the last "finish"
  // Behind the instructions that belong to a language's own routine, see object/lsda.h.
  std::optional<Address> exception_table{};
};

class Exidx {
 public:
  // The bytes behind a link address, as far as there are any.
  using BytesAt = std::function<ByteView(Address)>;

  // Entries that begin outside `code` are left out, wherever they stand: of code that was thrown
  // away, and of damaged tables.
  Exidx(const LoadedPart& index, BytesAt bytes_at, std::vector<AddressRange> code);

  // A miss where no entry covers the address.
  [[nodiscard]] std::optional<ExidxEntry> find(Address link) const;

  [[nodiscard]] std::size_t size() const { return starts_.size(); }
  [[nodiscard]] ExidxEntry at(std::size_t number) const;  // ascending

  // Where functions begin, ascending.
  [[nodiscard]] std::vector<Address> function_starts() const;

 private:
  struct Start {
    Address address = 0;
    std::uint32_t offset = 0;  // of the entry in the index, bytes
  };
  [[nodiscard]] Address end_behind(std::size_t number) const;

  LoadedPart index_;
  BytesAt bytes_at_;
  std::vector<AddressRange> code_;
  std::vector<Start> starts_;  // sorted
};

// The file's table; null when it has none. Lives as long as the file.
const Exidx* exception_index_of(const ElfFile& file);

}  // namespace whocall
