// One CIE or FDE after the other, decoded from the bytes of an unwind section.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/byte_reader.h"
#include "object/call_frame_info.h"
#include "object/pointer_encoding.h"

namespace whocall {

class FrameEntries {
 public:
  FrameEntries(CallFrameInfo::Format format, ByteView section, PointerBases bases)
      : format_(format), section_(section), bases_(bases) {}

  // Lengths, ids and CIE references as they stand, before anything is decoded.
  struct Entry {
    std::uint64_t offset = 0;  // in the section, bytes
    std::uint64_t next = 0;    // offset of the entry that follows
    std::uint64_t body = 0;    // offset of the first byte behind the id
    std::uint64_t cie = 0;     // offset of an FDE's CIE
    bool is_cie = false;
    bool is_terminator = false;  // a length of zero
  };
  // A miss when the entry does not lie inside the section.
  [[nodiscard]] std::optional<Entry> entry_at(std::uint64_t offset) const;

  // How many FDEs there are, damaged ones included.
  [[nodiscard]] std::uint64_t count_fdes() const;

  // A miss when the entry is no FDE or is damaged, or its CIE is. May be called from threads.
  [[nodiscard]] std::optional<Fde> decode_fde(const Entry& entry) const;

  // Of such an entry only what it covers.
  [[nodiscard]] std::optional<AddressRange> decode_range(const Entry& entry) const;

  [[nodiscard]] const ByteView& section() const { return section_; }

 private:
  [[nodiscard]] const Cie* cie_at(std::uint64_t offset) const;
  [[nodiscard]] std::unique_ptr<Cie> decode_cie(const Entry& entry) const;
  [[nodiscard]] bool read_augmentation(ByteReader& reader, std::string_view letters,
                                       Cie& cie) const;
  [[nodiscard]] std::optional<AddressRange> read_range(ByteReader& reader, const Cie& cie) const;

  CallFrameInfo::Format format_;
  ByteView section_;
  PointerBases bases_;
  using Cies = std::unordered_map<std::uint64_t, std::unique_ptr<const Cie>>;
  mutable std::mutex mutex_;  // guards cies_
  mutable Cies cies_;         // by offset; null: damaged
  // The one that was asked for last: neighbours share theirs.
  mutable std::atomic<const Cies::value_type*> last_ = nullptr;
};

}  // namespace whocall
