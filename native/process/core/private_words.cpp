#include "process/core/private_words.h"

#include <algorithm>
#include <string_view>

#include "arch/elf_machine.h"
#include "arch/os_abi.h"
#include "base/byte_view.h"

namespace whocall {
namespace {

constexpr std::size_t kArgumentsOfProcess = 80;  // bytes at the end of NT_PRPSINFO
constexpr std::size_t kNameOfProcess = 16;       // bytes before those
// Numbers below stay in registers, those of system calls, of flags and segments; and so do results
// of system calls that failed.
constexpr std::uint64_t kLeastData = 4096;

bool is_small(std::uint64_t value, unsigned size) {
  const std::uint64_t most = size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
  return value < kLeastData || value > most - kLeastData;
}

void clear(std::span<std::byte> bytes) { std::ranges::fill(bytes, std::byte{0}); }

void add_blank(AddressRange range, std::vector<AddressRange>& blanks) {
  if (!blanks.empty() && blanks.back().end == range.begin) {
    blanks.back().end = range.end;
  } else {
    blanks.push_back(range);
  }
}

}  // namespace

bool PrivateWords::leads_to_frames(Address value) const {
  return shown_.frames.contains(value) || shown_.code.contains(image_.arch->code_address(value));
}

bool PrivateWords::is_of_file_or_code(Address address) const {
  const Mapping* mapping = image_.mapping_at(address);
  return mapping != nullptr && mapping->permissions_known && !mapping->writable &&
         (mapping->executable || image_.module_at(address) != nullptr);
}

void PrivateWords::blank(Address begin, std::span<std::byte> bytes,
                         std::vector<AddressRange>& blanks) const {
  const unsigned word = image_.arch->abi.pointer_size;
  const ByteView view(bytes, image_.arch->abi.endian);
  for (std::size_t at = 0; at < bytes.size();) {
    const Address address = begin + at;
    const std::size_t size = std::min<std::size_t>(word - address % word, bytes.size() - at);
    const auto value = size == word ? view.read_unsigned(at, word) : std::nullopt;
    if (!is_of_file_or_code(address) && !(value && leads_to_frames(*value))) {
      for (std::size_t byte = 0; byte < size; ++byte) {  // texts end inside of words
        if (!shown_.lists.contains(address + byte)) {
          bytes[at + byte] = std::byte{0};
          add_blank({address + byte, address + byte + 1}, blanks);
        }
      }
    }
    at += size;
  }
}

std::uint64_t PrivateWords::blank_registers(std::span<std::byte> status) const {
  const Architecture& arch = *image_.arch;
  const PrstatusLayout& layout = arch.os.prstatus;
  const ByteView view(status, arch.abi.endian);
  std::uint64_t blanks = 0;
  for (std::size_t number = 0; number < std::min<std::size_t>(layout.registers.size(), 64);
       ++number) {
    const SavedRegister& saved = layout.registers[number];
    const std::size_t at = std::size_t{layout.registers_offset} + saved.offset;
    const auto value = view.read_unsigned(at, saved.size);
    const bool is_place = saved.number == arch.registers.pc || saved.number == arch.registers.sp;
    if (value && !is_place && !is_small(*value, saved.size) && !leads_to_frames(*value)) {
      clear(status.subspan(at, saved.size));
      blanks |= std::uint64_t{1} << number;
    }
  }
  return blanks;
}

void PrivateWords::blank_arguments(std::span<std::byte> info) {
  const auto text = info.last(std::min(info.size(), kArgumentsOfProcess));
  const auto space = std::ranges::find(text, std::byte{' '});
  const auto length = static_cast<std::size_t>(space - text.begin());
  const std::string_view word(reinterpret_cast<const char*>(text.data()), length);
  const std::string_view path = word.substr(0, word.find('\0'));
  const std::string_view base = path.substr(path.rfind('/') + 1);
  if (info.size() >= kArgumentsOfProcess + kNameOfProcess) {
    const auto field = info.last(kArgumentsOfProcess + kNameOfProcess).first(kNameOfProcess);
    const std::string_view all(reinterpret_cast<const char*>(field.data()), field.size());
    if (!base.starts_with(all.substr(0, all.find('\0')))) {
      clear(field);
    }
  }
  const bool has_more = length + 1 < text.size() && space[1] != std::byte{0};
  std::fill(space, text.end(), std::byte{0});
  constexpr std::string_view kLeftOut = " ...";
  if (has_more && length + kLeftOut.size() < text.size()) {
    std::ranges::copy(std::as_bytes(std::span(kLeftOut)), space);
  }
}

bool PrivateWords::shows(Address address) const {
  constexpr std::uint64_t kNearNothing = std::uint64_t{64} << 10U;
  constexpr std::uint64_t kNearFrame = std::uint64_t{1} << 20U;
  return address < kNearNothing || image_.mapping_at(address) != nullptr ||
         std::ranges::any_of(shown_.frames.ranges(), [&](const AddressRange& frame) {
           return address < frame.end && frame.begin - std::min(frame.begin, address) < kNearFrame;
         });
}

std::optional<std::int32_t> PrivateWords::blank_signal(std::span<std::byte> info) const {
  constexpr std::size_t kSender = 8;  // bytes: process and user
  const Architecture& arch = *image_.arch;
  const unsigned word = arch.abi.pointer_size;
  const std::size_t parts = word == 8 ? 16 : 12;  // as in core_notes.cpp
  const ByteView view(info, arch.abi.endian);
  const bool code_first = elf_machine(arch.abi.elf_machine).has_code_first;
  const auto code =
      static_cast<std::int32_t>(view.read<std::uint32_t>(code_first ? 4 : 8).value_or(0));
  if (code <= 0) {
    clear(info.subspan(std::min(info.size(), parts + kSender)));
    return std::nullopt;
  }
  const Address address = view.read_unsigned(parts, word).value_or(0);
  const bool stays = shows(address);
  clear(info.subspan(std::min(info.size(), parts + (stays ? word : 0))));
  return stays ? std::nullopt : std::optional(code);
}

}  // namespace whocall
