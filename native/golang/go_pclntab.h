// The function table that the Go linker puts into every program for the Go runtime, and that
// stripping leaves: names, files and lines, the depth of every frame.
//
// Source of the format: the runtime's own reader, src/runtime/symtab.go and src/internal/abi/
// symtab.go of Go 1.2 to 1.27, and the design "Go 1.2 Runtime Symbol Information". The table begins
// with one of four numbers: 0xfffffffb (Go 1.2 to 1.15), 0xfffffffa (1.16, 1.17), 0xfffffff0 (1.18,
// 1.19), 0xfffffff1 (since 1.20).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/byte_view.h"
#include "object/elf_file.h"

namespace whocall {

enum class GoFormat : std::uint8_t { go12, go116, go118, go120 };

// One function's record, as it stands in the table.
struct GoFunction {
  static constexpr std::uint32_t kNoData = ~std::uint32_t{0};

  AddressRange range;  // link addresses; up to the end of its code, without padding
  std::string_view name;
  bool top_frame = false;  // it says of itself that nothing called it; since Go 1.17
  bool sp_write = false;   // it sets sp in ways that the table cannot tell; since Go 1.17
  // Offsets of the tables of values by pc; 0 is none.
  std::uint32_t sp_table = 0;
  std::uint32_t file_table = 0;
  std::uint32_t line_table = 0;
  std::uint32_t inline_index_table = 0;  // since Go 1.18
  std::uint32_t inline_tree = kNoData;   // bytes from the base of all such data
  std::uint32_t files = 0;               // where its unit's files begin in their list
};

class GoPclntab {
 public:
  // `table` begins with the header and lies at `address`. `text` is the link address that entries
  // count from, where that cannot be read in the header (or 0). A miss where the header or the list
  // of functions is not that of a Go program.
  static std::optional<GoPclntab> parse(ByteView table, Address address, Address text);

  [[nodiscard]] Address address() const { return address_; }
  [[nodiscard]] GoFormat format() const { return format_; }
  [[nodiscard]] unsigned pointer_size() const { return pointer_size_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] Address text() const { return text_; }

  // Where entry `index` of the list begins: the last one, `count()`, is the end of all code.
  [[nodiscard]] std::optional<Address> entry(std::uint64_t index) const;
  // A miss where the record is damaged.
  [[nodiscard]] std::optional<GoFunction> function(std::uint64_t index) const;
  // The function whose range holds a link address.
  [[nodiscard]] std::optional<GoFunction> find(Address link) const;

  // The value that a table has at `link` for a function that begins at `start`; a miss where there
  // is no table or it does not reach that far. Frame depths are in bytes.
  [[nodiscard]] std::optional<std::int32_t> value_at(std::uint32_t table, Address start,
                                                     Address link) const;
  // The part of the function over which that value stands.
  struct Value {
    std::int32_t value = 0;
    AddressRange range;  // link addresses
  };
  [[nodiscard]] std::optional<Value> step_at(std::uint32_t table, Address start,
                                             Address link) const;

  // A name by its offset; a miss where no name begins there.
  [[nodiscard]] std::optional<std::string_view> name_at(std::uint64_t offset) const;
  // The path of a file by its number in the function's tables; empty when there is none.
  [[nodiscard]] std::string_view file_name(const GoFunction& function, std::int32_t number) const;

 private:
  GoPclntab() = default;
  bool read_header();
  bool read_first_header();
  [[nodiscard]] bool read_tail(const ByteView& record, std::uint64_t at, GoFunction& out) const;
  [[nodiscard]] Address end_of_code(std::uint32_t table, Address start, Address limit) const;

  ByteView table_;  // from the header to the end of what may belong to it
  Address address_ = 0;
  Address text_ = 0;
  GoFormat format_ = GoFormat::go120;
  unsigned pointer_size_ = 8;
  unsigned quantum_ = 1;  // bytes: what steps of a pc count in
  std::uint64_t count_ = 0;
  unsigned entry_size_ = 0;  // bytes: of either half of an entry in the list of functions
  ByteView functions_;       // the list, and the records that it points to
  ByteView names_;
  ByteView units_;  // numbers of files to offsets of their paths
  ByteView paths_;
  ByteView values_;  // tables of values by pc
};

}  // namespace whocall
