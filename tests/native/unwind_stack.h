// A literal stack, from its lowest word up, with labels for its places.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arch/architecture.h"
#include "base_bytes.h"

namespace whocall::test {

// `word_of` may name a label that is set later: frame pointers point up the stack.
class Stack {
 public:
  Stack(Address base, const Architecture& arch) : base_(base), arch_(arch) {}

  Stack& mark(const std::string& label) {
    labels_[label] = here();
    return *this;
  }
  Stack& word(std::uint64_t value) {
    words_.push_back({value, {}});
    return *this;
  }
  Stack& word_of(std::string label) {
    words_.push_back({0, std::move(label)});
    return *this;
  }
  Stack& words(std::size_t count, std::uint64_t value) {
    words_.insert(words_.end(), count, Word{value, {}});
    return *this;
  }

  // Zeros up to `address`, which is here or further up.
  Stack& up_to(Address address) { return words((address - here()) / arch_.abi.pointer_size, 0); }

  [[nodiscard]] Address base() const { return base_; }
  [[nodiscard]] Address here() const { return base_ + words_.size() * arch_.abi.pointer_size; }
  [[nodiscard]] Address at(const std::string& label) const {
    const auto found = labels_.find(label);
    if (found == labels_.end()) {
      throw std::logic_error("the stack has no label \"" + label + "\"");
    }
    return found->second;
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    Bytes bytes;
    for (const Word& word : words_) {
      bytes.fixed(word.label.empty() ? word.value : at(word.label), arch_.abi.pointer_size);
    }
    return bytes.get();
  }

 private:
  struct Word {
    std::uint64_t value = 0;
    std::string label;
  };

  Address base_;
  const Architecture& arch_;
  std::vector<Word> words_;
  std::map<std::string, Address> labels_;
};

}  // namespace whocall::test
