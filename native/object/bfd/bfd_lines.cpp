#include "object/bfd/bfd_lines.h"

#include <algorithm>
#include <cstddef>

namespace whocall {
namespace {

// An inlined call has at most this many levels shown: libbfd follows the nesting of a file's DWARF,
// which may be hostile.
constexpr std::size_t kMostLevels = 256;

SourceLine make_line(const char* function, const char* file, unsigned line) {
  return {function != nullptr ? function : "", file != nullptr ? file : "", line};
}

}  // namespace

BfdLines::BfdLines(bfd* file, BfdSymbols& symbols) : file_(file), symbols_(symbols) {
  for (asection* section = file->sections; section != nullptr; section = section->next) {
    if ((section->flags & SEC_ALLOC) != 0 && (section->flags & SEC_CODE) != 0) {
      sections_.push_back(section);
    }
  }
  std::stable_sort(
      sections_.begin(), sections_.end(),
      [](const asection* left, const asection* right) { return left->vma < right->vma; });
}

std::vector<SourceLine> BfdLines::at(Address address) {
  const auto next = std::upper_bound(
      sections_.begin(), sections_.end(), address,
      [](Address wanted, const asection* section) { return wanted < section->vma; });
  if (next == sections_.begin()) {
    return {};
  }
  asection* section = *std::prev(next);
  const Address offset = address - section->vma;
  const char* file = nullptr;
  const char* function = nullptr;
  unsigned line = 0;
  if (offset >= bfd_section_size(section) ||
      !bfd_find_nearest_line(file_, section, symbols_.for_lines(), offset, &file, &function,
                             &line) ||
      file == nullptr || line == 0) {
    return {};  // libbfd names functions and files from .symtab alone, too: no source line
  }
  std::vector<SourceLine> lines{make_line(function, file, line)};
  while (lines.size() < kMostLevels && bfd_find_inliner_info(file_, &file, &function, &line)) {
    lines.push_back(make_line(function, file, line));
  }
  return lines;
}

}  // namespace whocall
