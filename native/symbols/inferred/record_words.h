// What words of a file's data lead to: printable texts and code.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arch/architecture.h"
#include "symbols/discovery/data_words.h"

namespace whocall {

// As far as tables of records with a text and a function are concerned.
class RecordWords {
 public:
  RecordWords(const ElfFile& file, const Architecture& arch, const DataWords& words);

  // The printable text that the word at `where` points to; null when it points to none.
  [[nodiscard]] const std::string_view* text_at(Address where) const;
  // The code that it points to; 0: none.
  [[nodiscard]] Address code_at(Address where) const;
  // How many words lead to the code there.
  [[nodiscard]] std::size_t count_of(Address code) const;
  enum class Kind : std::uint8_t { zero, number, data, code };
  [[nodiscard]] Kind kind_at(Address where) const;
  // Whether the word is zero, or bound to a symbol when the file is loaded.
  [[nodiscard]] bool is_open(Address where) const;
  // The places of all text pointers, ascending.
  [[nodiscard]] const std::vector<Address>& texts() const { return places_; }
  [[nodiscard]] unsigned word() const { return word_; }  // bytes

 private:
  const DataWords& words_;
  unsigned word_;  // bytes
  std::vector<Address> places_;
  std::unordered_map<Address, std::string_view> texts_;
  std::unordered_map<Address, Address> code_;
  std::unordered_map<Address, std::size_t> counts_;  // by the code
};

}  // namespace whocall
