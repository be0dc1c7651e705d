#include "arch/system_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "arch/system_call_shapes.h"

namespace whocall {
namespace {

// Of the instruction sets whose operations are told. `int` is meant with the numbers of Linux and
// Windows alone.
constexpr std::array<std::string_view, 6> kSystemCalls = {"syscall", "sysenter", "svc",
                                                          "sc",      "ecall",    "int"};
constexpr std::array<std::int64_t, 2> kInterrupts = {0x80, 0x2e};

bool calls_the_kernel(const Operation& operation) {
  const bool may = std::ranges::find(kSystemCalls, operation.mnemonic) != kSystemCalls.end();
  if (operation.mnemonic != "int") {
    return may;
  }
  return operation.operands.size() == 1 &&
         std::ranges::find(kInterrupts, operation.operands[0].value) != kInterrupts.end();
}

// The words of a table that are separated by spaces, until one of them is what `is_it` looks for.
template <typename Test>
std::string_view find_word(std::string_view words, const Test& is_it) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (is_it(word)) {
      return word;
    }
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return {};
}

bool writes(const Instruction& instruction, Register number) {
  return std::ranges::any_of(instruction.list(), [&](const Effect& effect) {
    return effect.destination == number && effect.kind != Effect::Kind::store &&
           effect.kind != Effect::Kind::store_other && effect.kind != Effect::Kind::compare;
  });
}

// Whether instructions go from the start of `code` to its end, and none of them but the last one
// writes the register.
bool leaves_alone(InstructionDecoder& decoder, ByteView code, Address address, Register number) {
  while (!code.empty()) {
    const auto instruction = decoder.decode(code, address);
    if (!instruction || instruction->size == 0 || instruction->size > code.size()) {
      return false;
    }
    if (instruction->size == code.size()) {
      return true;
    }
    if (instruction->flow != Instruction::Flow::next || writes(*instruction, number)) {
      return false;
    }
    code = code.from(instruction->size);
    address += instruction->size;
  }
  return false;
}

// The number that the instruction with which `code` begins puts into the register, where that keeps
// it until the end.
std::optional<std::uint64_t> number_set_by(InstructionDecoder& decoder, ByteView code,
                                           Address address, Register number) {
  const auto instruction = decoder.decode(code, address);
  if (!instruction || instruction->size >= code.size() || instruction->effect_count != 1 ||
      !writes(*instruction, number)) {
    return std::nullopt;
  }
  const auto operation = decoder.operation(code, address);
  const bool moves = operation && operation->operands.size() == 2 &&
                     (operation->mnemonic.starts_with("mov") || operation->mnemonic == "li");
  if (!moves || operation->operands[1].kind != Operand::Kind::immediate ||
      !leaves_alone(decoder, code.from(instruction->size), address + instruction->size, number)) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(operation->operands[1].value);
}

struct NumberedCall {
  std::string_view name;  // empty for none
  std::uint64_t number = 0;
};

// The first call that the predicate takes, which is asked of name and number.
template <typename Predicate>
NumberedCall find_call(const SystemCallAbi& abi, Predicate is_it) {
  std::uint64_t next = 0;
  NumberedCall found;
  found.name = find_word(abi.names, [&](std::string_view word) {
    if (word.front() >= '0' && word.front() <= '9') {
      std::from_chars(word.data(), word.data() + word.size(), next);
      return false;
    }
    found.number = next++;
    return is_it(word, found.number);
  });
  return found;
}

}  // namespace

bool ends_with_system_call(InstructionDecoder& decoder, ByteView before, Address address) {
  constexpr std::array<std::size_t, 2> kSizes = {2, 4};
  return std::ranges::any_of(kSizes, [&](std::size_t size) {
    if (before.size() < size) {
      return false;
    }
    const auto operation = decoder.operation(before.from(before.size() - size), address - size);
    return operation && operation->size == size && calls_the_kernel(*operation);
  });
}

std::optional<std::uint64_t> number_set_before(InstructionDecoder& decoder, ByteView before,
                                               Address address, Register number) {
  constexpr std::size_t kNearest = 4;
  constexpr std::size_t kFarthest = 64;  // bytes
  for (std::size_t back = kNearest; back <= std::min(kFarthest, before.size()); ++back) {
    const ByteView code = before.from(before.size() - back);
    const auto value = number_set_by(decoder, code, address - back, number);
    if (value) {
      return value;
    }
  }
  return std::nullopt;
}

std::string_view system_call_name(const SystemCallAbi& abi, std::uint64_t number) {
  return find_call(abi, [&](std::string_view, std::uint64_t at) { return at == number; }).name;
}

std::optional<std::uint64_t> system_call_number(const SystemCallAbi& abi, std::string_view name) {
  const NumberedCall found =
      find_call(abi, [&](std::string_view word, std::uint64_t) { return word == name; });
  return found.name.empty() ? std::nullopt : std::optional(found.number);
}

std::optional<std::string_view> system_call_shape(std::string_view name) {
  const std::string_view row = find_word(kSystemCallShapes, [&](std::string_view word) {
    return word.size() > name.size() && word.starts_with(name) && word[name.size()] == ':';
  });
  return row.empty() || name.empty() ? std::nullopt : std::optional(row.substr(name.size() + 1));
}

}  // namespace whocall
