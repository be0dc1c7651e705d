#include "report/argument_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/hex.h"
#include "base/printable_text.h"
#include "symbols/inferred/rust_file.h"

namespace whocall {
namespace {

constexpr std::int64_t kSmall = 1 << 20;     // numbers nearer to zero are told in decimals
constexpr Address kLowest = 0x10000;         // no program's memory lies below
constexpr std::size_t kLongestText = 65536;  // bytes that are looked at, whatever was asked

std::int64_t as_signed(std::uint64_t value, unsigned size) {
  const unsigned unused = 64 - 8 * size;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

bool is_of_text(std::byte one) {
  const auto character = static_cast<unsigned char>(one);
  return (character >= 0x20 && character < 0x7f) || character == '\t' || character == '\n';
}

void append_quoted(std::string& text, const Pointed& pointed) {
  text += '"';
  for (const char one : pointed.text) {
    if (one == '\n' || one == '\t') {
      text += one == '\n' ? "\\n" : "\\t";
      continue;
    }
    text += one == '"' || one == '\\' ? "\\" : "";
    text += one;
  }
  text += pointed.text_ends ? "\"" : "\"...";
}

}  // namespace

unsigned ArgumentText::size_of(const Argument& argument) const {
  return argument.size != 0 ? argument.size : process_.arch->registers.size;
}

std::vector<std::string> ArgumentText::list(const FrameArguments& arguments) const {
  const bool any = !arguments.list.empty() || arguments.more;
  if (form_.display == ArgumentDisplay::presence || !any) {
    return {any ? "(...)" : "()"};
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < arguments.list.size(); ++i) {
    parts.push_back(form_.display == ArgumentDisplay::none ? "..." : shown(arguments, i));
    parts.back() += ',';
  }
  if (arguments.more) {
    parts.emplace_back("...,");
  }
  parts.front().insert(0, "(");
  parts.back().back() = ')';
  return parts;
}

std::string ArgumentText::explanation(const FrameArguments& arguments) {
  struct Way {
    std::optional<ArgumentTrust> trust;
    std::string_view words;
  };
  constexpr std::array kWays = {
      Way{ArgumentTrust::both,
          "from what the frame still holds and from what its caller put there"},
      Way{ArgumentTrust::callee, "from what the frame still holds"},
      Way{ArgumentTrust::call_site, "from what its caller put there"},
      Way{ArgumentTrust::now, "from what memory holds now, which may have changed since"},
      Way{std::nullopt, "not known"},
  };
  std::string text;
  for (const Way& way : kWays) {
    std::string registers;
    for (const Argument& each : arguments.list) {
      const auto trust = each.value ? std::optional(each.value->trust) : std::nullopt;
      if (trust == way.trust) {
        (registers += registers.empty() ? "" : ", ") +=
            each.place.reg ? std::string(arguments.registers->names[*each.place.reg])
                           : "cfa+" + std::to_string(each.place.offset);
      }
    }
    if (!registers.empty()) {
      ((text += text.empty() ? "arguments in " : "; in ") += registers) += ": ";
      text += way.words;
    }
  }
  return text;
}

std::string ArgumentText::shown(const FrameArguments& arguments, std::size_t position) const {
  const Argument& argument = arguments.list[position];
  if (!argument.value) {
    return "?";
  }
  std::string text;
  const unsigned size = size_of(argument);
  const bool has_sign = size >= sizeof(int) || argument.is_signed;
  const auto number = has_sign ? as_signed(argument.value->value, size)
                               : static_cast<std::int64_t>(argument.value->value);
  if (number > -kSmall && number < kSmall && !may_be_pointer(argument)) {
    text += std::to_string(number);
  } else {
    text += hex(argument.value->value);
    const Pointed found = pointed(arguments, position);
    if (!found.function.empty()) {
      text += " <";
      append_printable(text, found.function);
      text += '>';
    } else if (!found.text.empty()) {
      text += ' ';
      append_quoted(text, found);
    }
  }
  text += argument.value->trust == ArgumentTrust::now ? "?" : "";
  return text;
}

// Folklore. Situation: stacks of 32-bit programs lie at the end of all memory. Example: 0xfff5c7e8
// is an address there, and -669720 as a number. Remedy: what is mapped is told as an address.
bool ArgumentText::may_be_pointer(const Argument& argument) const {
  return size_of(argument) == process_.arch->abi.pointer_size && argument.value->value >= kLowest &&
         process_.mapping_at(argument.value->value) != nullptr;
}

// Folklore. Situation: texts of Rust end where their length says, and the next one follows at once.
// Example: expect_failed("the value must be there", 23, ...). Remedy: in a file that rustc compiled
// the argument behind a text is its length, unless it is more than what can be read, or an int, as
// open("/dev/null", 2) takes.
Pointed ArgumentText::pointed(const FrameArguments& arguments, std::size_t position) const {
  const Argument& argument = arguments.list[position];
  Pointed found;
  if (!argument.value || size_of(argument) != process_.arch->abi.pointer_size ||
      argument.value->value < kLowest) {
    return found;
  }
  const Address value = argument.value->value;
  const Mapping* const mapping = process_.mapping_at(value);
  if (mapping == nullptr || !mapping->executable) {
    read_text(value, found);
    const auto length = length_behind(arguments, position);
    if (length && *length < found.text.size() && is_of_rust(value)) {
      found.text.resize(*length);
      found.text_ends = true;
    }
    return found;
  }
  const Address code = process_.arch->code_address(value);  // ARM: without the bit for T32
  const Place& place = symbolizer_.describe(code, {});
  if (place.function && place.module != nullptr &&
      place.module->runtime_address(place.function->start) == code) {
    found.function = place.function->name;
  }
  return found;
}

std::optional<std::uint64_t> ArgumentText::length_behind(const FrameArguments& arguments,
                                                         std::size_t position) const {
  if (position + 1 >= arguments.list.size()) {
    return std::nullopt;
  }
  const Argument& next = arguments.list[position + 1];
  const bool is_wide = size_of(next) == process_.arch->abi.pointer_size;
  return next.value && next.value->value != 0 && is_wide ? std::optional(next.value->value)
                                                         : std::nullopt;
}

bool ArgumentText::is_of_rust(Address text) const {
  const Module* const module = process_.module_at(text);
  if (module == nullptr || !module->file) {
    return false;
  }
  const auto [known, is_new] = of_rust_.emplace(module, false);
  if (is_new) {
    known->second = is_rust_file(*module->file, module->link_address(text));
  }
  return known->second;
}

// Folklore. Situation: a pointer to anything may point at two bytes that are letters. Example: an
// int of 0x4241. Remedy: a text has at least three characters, or lies in memory that nobody
// writes.
// Folklore. Situation: a structure begins with a pointer whose bytes are all printable. Example:
// 0x555555556009, the usual place of a program that gdb has started, is "\t`UUUU". Remedy: what is
// no longer than a pointer, and as a pointer leads to mapped memory, is no text.
bool ArgumentText::holds_pointer(Address address, std::size_t size) const {
  const auto& abi = process_.arch->abi;
  if (size > abi.pointer_size || address % abi.pointer_size != 0) {
    return false;
  }
  const auto held = process_.memory->read_unsigned(address, abi.pointer_size, abi.endian);
  return held && process_.mapping_at(*held) != nullptr;
}

void ArgumentText::read_text(Address address, Pointed& found) const {
  constexpr std::size_t kShortest = 3;
  const std::size_t most = std::min(form_.characters, kLongestText);
  std::vector<std::byte> bytes(most + 1);
  bytes.resize(process_.memory->read(address, bytes));
  const auto end = std::ranges::find_if_not(bytes, is_of_text);
  const auto size = static_cast<std::size_t>(end - bytes.begin());
  const bool goes_on = size > most;
  const bool ends = end != bytes.end() && *end == std::byte{0};
  const Mapping* const mapping = process_.mapping_at(address);
  const bool fixed = mapping != nullptr && mapping->permissions_known && !mapping->writable;
  const bool is_long = size >= kShortest || (fixed && size != 0);
  if ((ends || goes_on) && is_long && !holds_pointer(address, size)) {
    found.text.assign(reinterpret_cast<const char*>(bytes.data()), std::min(size, most));
    found.text_ends = !goes_on;
  }
}

}  // namespace whocall
