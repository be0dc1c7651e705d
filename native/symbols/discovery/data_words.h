// The words of a file's data as the loader leaves them: which point where, and which are bound to
// a symbol of another file.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "object/elf_file.h"

namespace whocall {

struct DataPointer {
  Address where = 0;
  Address target = 0;
};

// The words in any of `wanted` that point into the file, ascending by place. Link addresses.
std::vector<DataPointer> data_pointers(const ElfFile& file, std::span<const AddressRange> wanted);

// The addresses in any of `wanted` that words of the data point to: ascending, with repetitions.
std::vector<Address> pointed_to(const ElfFile& file, std::span<const AddressRange> wanted);

// Link addresses throughout. The file must outlive the object.
class DataWords {
 public:
  explicit DataWords(const ElfFile& file);

  // Where the word at `where` points; a miss when it is no pointer into the file.
  [[nodiscard]] std::optional<Address> pointer_at(Address where) const;
  // The symbol that the word is bound to; empty when none.
  [[nodiscard]] std::string_view import_at(Address where) const;
  // Whether the word is zero once the file is loaded.
  [[nodiscard]] bool is_zero(Address where) const;
  // The text up to the NUL at `address`; empty when there is none within `limit` bytes.
  [[nodiscard]] std::string_view text_at(Address address, std::size_t limit) const;

  // Ascending by place.
  [[nodiscard]] std::span<const DataPointer> pointers() const { return pointers_; }
  [[nodiscard]] const std::unordered_map<Address, std::string_view>& imports() const {
    return imports_;
  }

 private:
  const ElfFile& file_;
  std::unordered_map<Address, std::string_view> imports_;
  std::vector<DataPointer> pointers_;
};

}  // namespace whocall
