#include "symbols/signatures/signature_set.h"

#include <algorithm>

namespace whocall {

const RelocationForm* form_of(const Architecture& arch, std::uint32_t type) {
  if (arch.linkage.relocations == nullptr) {
    return nullptr;
  }
  const auto forms = arch.linkage.relocations();
  const auto found = std::ranges::find(forms, type, &RelocationForm::type);
  return found == forms.end() ? nullptr : &*found;
}

std::vector<FixedBytes> fixed_bytes(const SignatureSet& set, const SignatureSection& section) {
  std::vector<FixedBytes> loose;
  for (std::uint32_t i = 0; i < section.relocations; ++i) {
    const SignatureRelocation& each = set.relocations[section.first_relocation + i];
    const RelocationForm* form = form_of(*set.arch, each.type);
    const auto place = static_cast<std::int64_t>(each.offset);
    const std::int64_t first = form == nullptr ? 0 : place + form->first;
    const std::int64_t last = form == nullptr ? section.size : place + form->last;
    loose.push_back({static_cast<std::uint32_t>(std::clamp<std::int64_t>(first, 0, section.size)),
                     static_cast<std::uint32_t>(std::clamp<std::int64_t>(last, 0, section.size))});
  }
  std::ranges::sort(loose, {}, &FixedBytes::begin);
  std::vector<FixedBytes> fixed;
  std::uint32_t end = 0;
  for (const FixedBytes& each : loose) {
    if (each.begin > end) {
      fixed.push_back({end, each.begin});
    }
    end = std::max(end, each.end);
  }
  if (end < section.size) {
    fixed.push_back({end, section.size});
  }
  return fixed;
}

}  // namespace whocall
