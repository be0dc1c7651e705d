#include "object/pe_names.h"

#include <algorithm>
#include <optional>

#include "base/byte_reader.h"
#include "base/interrupt.h"

namespace whocall {
namespace {

constexpr std::size_t kSymbol = 18;            // bytes
constexpr std::size_t kLongestName = 1 << 14;  // bytes

const PeSection* section_with(const PeHeaders& headers, std::uint32_t address) {
  const auto found = std::ranges::find_if(headers.sections, [&](const PeSection& section) {
    return address >= section.address && address - section.address < section.memory_size();
  });
  return found == headers.sections.end() ? nullptr : &*found;
}

std::string_view text_at(ByteView bytes) {
  const auto part = bytes.slice(0, std::min(bytes.size(), kLongestName));
  return part->c_string(0).value_or(std::string_view());
}

// Of at most eight bytes, or in the table of strings behind the symbols.
std::string_view symbol_name(ByteView row, ByteView strings) {
  if (row.read<std::uint32_t>(0) == 0U) {
    return text_at(strings.from(row.read<std::uint32_t>(4).value_or(0)));
  }
  const std::string_view text(reinterpret_cast<const char*>(row.bytes().data()), 8);
  return text.substr(0, std::min(text.find('\0'), text.size()));
}

std::optional<PeName> symbol_of(ByteView row, ByteView strings, const PeHeaders& headers) {
  constexpr std::uint8_t kExternal = 2;
  constexpr std::uint8_t kStatic = 3;
  constexpr std::uint16_t kFunction = 0x20;
  ByteReader reader(row, 8);
  const std::uint32_t value = reader.u32();
  const std::uint16_t number = reader.u16();  // of its section, from 1
  const std::uint16_t type = reader.u16();
  const std::uint8_t storage = reader.u8();
  if (number == 0 || number > headers.sections.size() ||
      (storage != kExternal && storage != kStatic)) {
    return std::nullopt;
  }
  const PeSection& section = headers.sections[number - 1];
  PeName found{symbol_name(row, strings), section.address + value,
               section.is_code() && (type == kFunction || storage == kExternal),
               storage == kExternal};
  const bool is_label = section.is_code() && !found.is_code;
  if (found.name.empty() || found.name.starts_with('.') || is_label) {
    return std::nullopt;  // of a section, or a place within a function
  }
  if (headers.machine == kPeI386 && found.name.starts_with('_')) {
    found.name.remove_prefix(1);
  }
  return found;
}

}  // namespace

std::vector<PeName> exports_of_pe(const PeBytes& bytes, const PeHeaders& headers,
                                  std::uint64_t most) {
  std::vector<PeName> found;
  if (headers.exports.address == 0) {
    return found;
  }
  ByteReader reader(bytes.at(headers.exports.address), 24);
  const std::uint64_t count = std::min<std::uint64_t>(reader.u32(), most);
  const ByteView functions = bytes.at(reader.u32());
  const ByteView names = bytes.at(reader.u32());
  const ByteView ordinals = bytes.at(reader.u32());
  for (std::uint64_t at = 0; at < count; ++at) {
    check_interrupt_at(at, kManyEntries);
    const auto name = names.read<std::uint32_t>(at * 4);
    const auto ordinal = ordinals.read<std::uint16_t>(at * 2);
    const auto address =
        ordinal ? functions.read<std::uint32_t>(std::uint64_t{*ordinal} * 4) : std::nullopt;
    if (!name || !address) {
      break;
    }
    // An address within the table itself is the name of another file's export.
    const bool forwarded = *address >= headers.exports.address &&
                           *address - headers.exports.address < headers.exports.size;
    const PeSection* section = section_with(headers, *address);
    if (section != nullptr && !forwarded) {
      found.push_back({text_at(bytes.at(*name)), *address, section->is_code(), true});
    }
  }
  std::erase_if(found, [](const PeName& one) { return one.name.empty(); });
  return found;
}

std::vector<PeName> symbols_of_pe(const PeBytes& bytes, const PeHeaders& headers,
                                  std::uint64_t most) {
  std::vector<PeName> found;
  if (headers.symbols_offset == 0 || bytes.loaded()) {
    return found;
  }
  const ByteView table = bytes.all().from(headers.symbols_offset);
  const ByteView strings = table.from(std::uint64_t{headers.symbol_count} * kSymbol);
  const std::uint64_t count = std::min<std::uint64_t>(headers.symbol_count, most);
  for (std::uint64_t at = 0; at < count; ++at) {
    check_interrupt_at(at, kManyEntries);
    const auto row = table.slice(at * kSymbol, kSymbol);
    if (!row) {
      break;
    }
    if (const auto symbol = symbol_of(*row, strings, headers)) {
      found.push_back(*symbol);
    }
    at += row->read<std::uint8_t>(17).value_or(0);  // rows that belong to it
  }
  return found;
}

}  // namespace whocall
