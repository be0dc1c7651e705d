#include "report/frame_details.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/byte_view.h"
#include "base/hex.h"
#include "report/form/paint.h"

namespace whocall {
namespace {

constexpr std::size_t kMostWords = 32;  // of one frame; a buffer on the stack may be megabytes
constexpr std::size_t kWidestWord = 8;  // bytes
constexpr std::string_view kIndent = "        ";
constexpr std::size_t kNameWidth = 6;  // of a register's name, characters

// How many cells stand beside each other: no more than `most`, nor than fit the columns behind
// `before` others.
std::size_t cells_across(std::size_t most, std::size_t width, std::size_t between,
                         std::size_t before, std::size_t columns) {
  if (columns == 0) {
    return most;
  }
  const std::size_t room = columns > before + 1 ? columns - before - 1 : 0;  // as sentences do
  return std::clamp((room + between) / (width + between), std::size_t{1}, most);
}

void append_word(std::string& text, std::uint64_t value, std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text += "0x";
  for (std::size_t shift = 8 * size; shift != 0; shift -= 4) {
    text += kDigits[value >> (shift - 4) & 0xfU];
  }
}

// Begins a line with every so-manieth cell, and parts the others.
void begin_cell(std::string& text, std::size_t number, std::size_t across,
                std::string_view between) {
  if (number % across != 0) {
    text += between;
  } else {
    (text += number == 0 ? "" : "\n") += kIndent;
  }
}

}  // namespace

void StackText::append(std::string& text, const FrameFacts& facts, Address sp) const {
  const std::optional<Address> cfa = facts.cfa();
  ((text += kIndent) += "sp ") += hex(sp);
  text += cfa ? ", CFA " + hex(*cfa) + "\n" : ", CFA unknown\n";
  if (const FrameDetails* const details = facts.details(); details && details->registers) {
    append_registers(text, *details->registers);
  }
  if (cfa && *cfa < sp) {
    (text += kIndent) += "(the CFA lies below sp: another stack begins here)\n";
  } else if (cfa) {
    append_words(text, sp, *cfa);
  }
}

void StackText::append_registers(std::string& text, const Registers& registers) const {
  const std::size_t size = arch_.registers.size;
  const std::size_t across =
      cells_across(size > 4 ? 3 : 5, kNameWidth + 3 + 2 * size, 2, kIndent.size(), columns_);
  std::size_t count = 0;
  for (std::size_t number = 0; number < arch_.registers.names.size(); ++number) {
    const std::string_view name = arch_.registers.names[number];
    const auto value = registers.get(static_cast<Register>(number));
    if (!value || name.empty()) {
      continue;
    }
    begin_cell(text, count++, across, "  ");
    (text += name).append(kNameWidth - std::min(kNameWidth, name.size()) + 1, ' ');
    append_word(text, *value, size);
  }
  text += count != 0 ? "\n" : "";
}

void StackText::append_words(std::string& text, Address begin, Address end) const {
  const std::size_t size = arch_.registers.size;
  const std::size_t before = kIndent.size() + hex(begin).size() + 2;
  const std::size_t across = cells_across(size == 8 ? 2 : 4, 2 + 2 * size, 1, before, columns_);
  const std::size_t all = (end - begin) / size;
  const std::size_t shown = std::min(all, kMostWords);
  std::array<std::byte, kMostWords * kWidestWord> bytes{};
  const auto wanted = std::span(bytes).first(shown * size);
  const ByteView words(wanted.first(memory_.read(begin, wanted)), arch_.abi.endian);
  const std::size_t there = words.size() / size;
  for (std::size_t i = 0; i < there; ++i) {
    begin_cell(text, i, across, " ");
    if (i % across == 0) {
      append_painted(text, address_, hex(begin + i * size));
      text += ": ";
    }
    append_word(text, words.read_unsigned(i * size, arch_.registers.size).value_or(0), size);
  }
  text += there != 0 ? "\n" : "";
  if (there < shown) {
    (text += kIndent) += "(" + std::to_string(shown - there) + " words cannot be read)\n";
  }
  if (all > shown) {
    (text += kIndent) +=
        "(" + std::to_string(all - shown) + " more words up to the CFA left out)\n";
  }
}

}  // namespace whocall
