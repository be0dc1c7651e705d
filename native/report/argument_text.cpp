#include "report/argument_text.h"

#include <array>
#include <cstdint>

#include "base/hex.h"
#include "base/printable_text.h"

namespace whocall {
namespace {

constexpr std::uint64_t kSmall = 1U << 20U;  // numbers below it are told in decimals
constexpr Address kLowest = 0x10000;         // no program's memory lies below

std::int64_t as_signed(std::uint64_t value, unsigned size) {
  const unsigned unused = 64 - 8 * size;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

bool is_readable_character(unsigned char one) { return (one >= 0x20 && one < 0x7f) || one == '\t' || one == '\n'; }

}  // namespace

std::string ArgumentText::list(const FrameArguments& arguments) const {
  std::string text = "(";
  for (const Argument& argument : arguments.list) {
    text += text.size() > 1 ? ", " : "";
    append(text, argument);
  }
  if (arguments.more) {
    text += text.size() > 1 ? ", ..." : "...";
  }
  return text += ")";
}

void ArgumentText::append(std::string& text, const Argument& argument) const {
  if (!argument.value) {
    text += "?";
    return;
  }
  const unsigned size = argument.size != 0 ? argument.size : process_.arch->registers.size;
  const std::uint64_t value = argument.value->value;
  const std::int64_t number = as_signed(value, size);
  const bool may_point = size == process_.arch->abi.pointer_size && value >= kLowest;
  if (number > -static_cast<std::int64_t>(kSmall) && number < static_cast<std::int64_t>(kSmall)) {
    text += std::to_string(number);
  } else {
    text += hex(value);
    if (may_point) {
      append_pointed(text, value);
    }
  }
  if (argument.value->trust == ArgumentTrust::now) {
    text += "?";
  }
}

void ArgumentText::append_pointed(std::string& text, Address value) const {
  const Mapping* const mapping = process_.mapping_at(value);
  if (mapping != nullptr && mapping->executable && process_.is_code(value)) {
    const Place& place = symbolizer_.describe(value, {});
    if (place.function && place.module != nullptr &&
        place.module->runtime_address(place.function->start) == value) {
      text += " <";
      append_printable(text, place.function->name);
      text += ">";
    }
    return;
  }
  const std::string found = text_at(value);
  if (!found.empty()) {
    text += " ";
    text += found;
  }
}

// What looks like a text: characters that can be read up to a zero byte.
std::string ArgumentText::text_at(Address address) const {
  constexpr std::size_t kShortest = 3;  // two letters may stand anywhere
  std::array<std::byte, 256> bytes{};
  const std::size_t wanted = std::min(form_.characters + 1, bytes.size());
  const std::size_t count = process_.memory->read(address, std::span(bytes).first(wanted));
  std::string raw;
  while (raw.size() < count && is_readable_character(static_cast<unsigned char>(bytes.at(raw.size())))) {
    raw += static_cast<char>(bytes.at(raw.size()));
  }
  const bool ends = raw.size() < count && bytes.at(raw.size()) == std::byte{0};
  const bool is_cut = raw.size() == count && count == wanted;
  if ((!ends && !is_cut) || raw.size() < kShortest) {
    return {};
  }
  std::string text = "\"";
  for (const char one : raw.substr(0, form_.characters)) {
    if (one == '"' || one == '\\') {
      text += '\\';
    }
    text += one == '\n' ? std::string("\\n") : one == '\t' ? std::string("\\t") : std::string(1, one);
  }
  return text += is_cut ? "\"..." : "\"";
}

}  // namespace whocall
