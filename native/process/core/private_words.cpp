#include "process/core/private_words.h"

#include <algorithm>
#include <string_view>

#include "arch/os_abi.h"
#include "base/byte_view.h"

namespace whocall {
namespace {

constexpr std::size_t kArgumentsOfProcess = 80;  // bytes at the end of NT_PRPSINFO
// Numbers below stay in registers: of system calls, of flags and segments.
constexpr std::uint64_t kLeastData = 4096;

}  // namespace

bool PrivateWords::can_write(Address address) const {
  const Mapping* mapping = image_.mapping_at(address);
  return mapping == nullptr || mapping->writable || !mapping->permissions_known;
}

void PrivateWords::blank(Address begin, std::span<std::byte> bytes,
                         std::vector<AddressRange>& blanks) const {
  const unsigned word = image_.arch->abi.pointer_size;
  const ByteView view(bytes, image_.arch->abi.endian);
  for (std::size_t at = 0; at < bytes.size();) {
    const Address address = begin + at;
    const std::size_t size = std::min<std::size_t>(word - address % word, bytes.size() - at);
    const auto value = size == word ? view.read_unsigned(at, word) : std::nullopt;
    const bool shows =
        shown_.contains(address) || !can_write(address) || (value && may_show(*value));
    if (!shows) {
      std::ranges::fill(bytes.subspan(at, size), std::byte{0});
      const bool goes_on = !blanks.empty() && blanks.back().end == address;
      blanks.push_back({goes_on ? blanks.back().begin : address, address + size});
      if (goes_on) {
        blanks.erase(std::prev(blanks.end(), 2));
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
    if (value && !is_place && *value >= kLeastData && !may_show(*value)) {
      std::ranges::fill(status.subspan(at, saved.size), std::byte{0});
      blanks |= std::uint64_t{1} << number;
    }
  }
  return blanks;
}

void PrivateWords::blank_arguments(std::span<std::byte> info) {
  const auto text = info.last(std::min(info.size(), kArgumentsOfProcess));
  const auto space = std::ranges::find(text, std::byte{' '});
  const std::size_t length = static_cast<std::size_t>(space - text.begin());
  const bool has_more = length + 1 < text.size() && space[1] != std::byte{0};
  std::fill(space, text.end(), std::byte{0});
  constexpr std::string_view kLeftOut = " ...";
  if (has_more && length + kLeftOut.size() < text.size()) {
    std::ranges::copy(std::as_bytes(std::span(kLeftOut)), space);
  }
}

}  // namespace whocall
