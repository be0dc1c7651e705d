// One CIE or FDE after the other, decoded from the bytes of an unwind section.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/byte_view.h"
#include "object/byte_span.h"
#include "object/encoded_pointer.h"
#include "object/frame_entry.h"

namespace whocall {

class FrameEntries {
 public:
  FrameEntries(FrameFormat format, ByteView section, PointerBases bases)
      : entries_{.bytes = span_of(section, bases.section),
                 .word_size = bases.pointer_size,
                 .debug = format == FrameFormat::debug_frame,
                 .text = bases.text,
                 .data = bases.data} {}

  using Entry = rules::FrameEntry;
  // A miss when the entry does not lie inside the section.
  [[nodiscard]] std::optional<Entry> entry_at(std::uint64_t offset) const {
    Entry entry;
    return rules::read_entry(entries_, offset, entry) ? std::optional(entry) : std::nullopt;
  }
  [[nodiscard]] std::uint64_t size() const { return entries_.bytes.size; }

  // How many FDEs there are, damaged ones included.
  [[nodiscard]] std::uint64_t count_fdes() const;

  // A miss when the entry is no FDE or is damaged, or its CIE is. May be called from threads.
  [[nodiscard]] std::optional<Fde> decode_fde(const Entry& entry) const;

  // Of such an entry only what it covers.
  [[nodiscard]] std::optional<AddressRange> decode_range(const Entry& entry) const;

  // What FDEs cover that stand from `offset` on in the form that linkers write today and belong to
  // the CIE at `cie`; ends before the first entry that is otherwise, and returns its offset. Tables
  // consist of little else, and most of their entries take no detour.
  template <typename Visit>
  std::uint64_t for_each_plain_range(std::uint64_t offset, std::uint64_t cie, Visit visit) const;

 private:
  [[nodiscard]] const Cie* cie_at(std::uint64_t offset) const;
  // An FDE of which all fields have 32 bits, up to the size of its augmentation data.
  struct PlainFde {
    std::uint32_t length;
    std::uint32_t id;
    std::int32_t begin;  // relative to itself
    std::int32_t size;
  };
  [[nodiscard]] std::optional<PlainFde> plain_fde_at(std::uint64_t offset, bool sized) const;

  rules::FrameEntries entries_;
  using Cies = std::unordered_map<std::uint64_t, std::unique_ptr<const Cie>>;
  mutable std::mutex mutex_;  // guards cies_
  mutable Cies cies_;         // by offset; null: damaged
  // The one that was asked for last: neighbours share theirs.
  mutable std::atomic<const Cies::value_type*> last_ = nullptr;
};

// A damaged entry, a long one, and one that was never relocated are left to who decodes all forms.
inline std::optional<FrameEntries::PlainFde> FrameEntries::plain_fde_at(std::uint64_t offset,
                                                                        bool sized) const {
  constexpr std::uint32_t kShortest = sizeof(PlainFde) - sizeof(PlainFde::length) + 1;
  constexpr std::uint32_t kLongest = 0xffffffef;  // behind it stand escapes
  const std::uint64_t left = size() - offset;
  if (left < sizeof(PlainFde) + 1) {
    return std::nullopt;
  }
  PlainFde fde{};
  const std::byte* const bytes = entries_.bytes.bytes + offset;
  std::memcpy(&fde, bytes, sizeof fde);
  const auto more = sized ? std::to_integer<std::uint32_t>(bytes[sizeof fde]) : 0;
  const bool whole = fde.length >= kShortest && fde.length <= kLongest &&
                     fde.length <= left - sizeof fde.length && more < 0x80 &&
                     more <= fde.length - kShortest;
  return whole && fde.id != 0 && fde.begin != 0 ? std::optional(fde) : std::nullopt;
}

template <typename Visit>
std::uint64_t FrameEntries::for_each_plain_range(std::uint64_t offset, std::uint64_t cie,
                                                 Visit visit) const {
  const Cie* const known = cie_at(cie);
  if (known == nullptr || !rules::is_plain(entries_, *known) || offset > size()) {
    return offset;
  }
  while (const auto fde = plain_fde_at(offset, known->has_augmentation_data)) {
    if (offset + sizeof fde->length - fde->id != cie) {
      break;
    }
    const Address field = entries_.bytes.begin + offset + offsetof(PlainFde, begin);
    const Address begin = field + static_cast<Address>(std::int64_t{fde->begin});
    const auto length = static_cast<std::uint64_t>(std::int64_t{fde->size});
    visit(AddressRange{begin, rules::end_of_code(begin, length, 8)});
    offset += sizeof fde->length + fde->length;
  }
  return offset;
}

}  // namespace whocall
