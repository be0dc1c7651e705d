#include "object/frame_entries.h"

#include <limits>
#include <utility>

#include "arch/registers.h"

namespace whocall {

std::uint64_t FrameEntries::count_fdes() const {
  std::uint64_t count = 0;
  for (std::uint64_t offset = 0; offset < size();) {
    const auto entry = entry_at(offset);
    if (!entry) {
      break;
    }
    offset = entry->next;
    if (entry->is_fde()) {
      ++count;
      offset = for_each_plain_range(offset, entry->cie, [&](const AddressRange&) { ++count; });
    }
  }
  return count;
}

const Cie* FrameEntries::cie_at(std::uint64_t offset) const {
  if (const auto* last = last_.load(std::memory_order_acquire);
      last != nullptr && last->first == offset) {
    return last->second.get();
  }
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = cies_.try_emplace(offset);
  if (is_new) {
    const auto entry = entry_at(offset);
    auto cie = std::make_unique<Cie>();
    if (entry && rules::read_cie(entries_, *entry, *cie) &&
        cie->return_address <= std::numeric_limits<Register>::max()) {
      found->second = std::move(cie);
    }
  }
  last_.store(&*found, std::memory_order_release);  // complete, and it stays where it is
  return found->second.get();
}

std::optional<Fde> FrameEntries::decode_fde(const Entry& entry) const {
  const Cie* cie = entry.is_fde() ? cie_at(entry.cie) : nullptr;
  rules::FrameDescription found;
  if (cie == nullptr || !rules::read_fde(entries_, entry, *cie, found)) {
    return std::nullopt;
  }
  Fde fde{{found.begin, found.end}, cie, found.instructions, entry.place};
  if (const Address table = rules::exception_table_of(*cie, found); table != 0) {
    fde.exception_table = table;
  }
  return fde;
}

std::optional<AddressRange> FrameEntries::decode_range(const Entry& entry) const {
  const Cie* cie = entry.is_fde() ? cie_at(entry.cie) : nullptr;
  rules::FrameDescription found;
  return cie != nullptr && rules::read_range(entries_, entry, *cie, found)
             ? std::optional(AddressRange{found.begin, found.end})
             : std::nullopt;
}

}  // namespace whocall
