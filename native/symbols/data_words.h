// The words of a file's data as the loader leaves them: which point where, and which are bound to
// a symbol of another file.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "object/elf_file.h"

namespace whocall {

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

  [[nodiscard]] const std::unordered_map<Address, Address>& pointers() const { return pointers_; }
  [[nodiscard]] const std::unordered_map<Address, std::string_view>& imports() const {
    return imports_;
  }

 private:
  void read_words_of(const ElfSection& section);

  const ElfFile& file_;
  std::unordered_map<Address, std::string_view> imports_;
  std::unordered_map<Address, Address> pointers_;
};

}  // namespace whocall
