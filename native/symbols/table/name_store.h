// The names of many symbols, each behind a 32-bit reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/byte_view.h"

namespace whocall {

using NameRef = std::uint32_t;
inline constexpr NameRef kNoName = 0;

// A string table that a NameStore knows: names are referred to by their offset in it.
struct StringTable {
  NameRef first = kNoName;
  std::uint32_t size = 0;  // bytes; 0 when the store has no room left
  [[nodiscard]] NameRef at(std::uint32_t offset) const {
    return offset < size ? first + offset : kNoName;
  }
};

// String tables of files are referred to and not read before a name is asked for: the names of a
// million symbols cost nothing until a frame needs one. Other names are copied. All references
// share one space of 4 GiB; names beyond it are lost, which takes files larger than any known.
class NameStore {
 public:
  // Bytes full of NUL-terminated names, which `owner` keeps alive. In the names of ELF symbols a
  // version follows an '@' ("memcpy@@GLIBC_2.14"): with `versioned`, names end before it.
  StringTable add_table(ByteView strings, bool versioned, std::shared_ptr<const void> owner);
  // Copies a name. It ends at its first NUL.
  NameRef keep(std::string_view name);

  // Empty for kNoName, and where no NUL ends a name of a file within 64 KiB: that is no name, and
  // without a limit a million symbols that share one huge string would have it searched a million
  // times. Copied names may have any length.
  [[nodiscard]] std::string_view at(NameRef name) const;

  // A store with the same names that can be added to without touching this one.
  [[nodiscard]] NameStore branch() const;

 private:
  static constexpr std::uint32_t kLongestNameOfFiles = 1U << 16U;
  struct Table {
    NameRef first = 0;
    const char* begin = nullptr;
    std::uint32_t size = 0;
    std::uint32_t longest_name = kLongestNameOfFiles;
    bool versioned = false;
    std::shared_ptr<const void> owner;
  };
  Table& add(const char* begin, std::uint64_t size, std::shared_ptr<const void> owner);

  std::vector<Table> tables_;  // ascending by `first`
  NameRef next_ = kNoName + 1;
  char* free_ = nullptr;  // where the next copied name goes, in the last of tables_
  std::uint32_t room_ = 0;
  std::uint32_t copied_ = 0;  // bytes
};

}  // namespace whocall
