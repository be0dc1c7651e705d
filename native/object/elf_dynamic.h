// The dynamic table: what the loader needs, and so what survives when section headers are gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_view.h"
#include "object/elf_file.h"

namespace whocall {

class ElfDynamic {
 public:
  // Reads PT_DYNAMIC or, without segments, .dynamic. Empty for a static file.
  explicit ElfDynamic(const ElfFile& file);

  // The value of the first entry with `tag` (DT_*): a link address, an offset or a size.
  [[nodiscard]] std::optional<std::uint64_t> value(std::uint64_t tag) const;
  // The string at `offset` in DT_STRTAB.
  [[nodiscard]] std::optional<std::string_view> string(std::uint64_t offset) const;
  // The string table, bounded by DT_STRSZ.
  [[nodiscard]] ByteView strings() const;

 private:
  struct Entry {
    std::uint64_t tag;
    std::uint64_t value;
  };
  const ElfFile& file_;
  std::vector<Entry> entries_;
};

// DT_SONAME's string; empty when there is none.
std::string soname_of(const ElfFile& file);

}  // namespace whocall
