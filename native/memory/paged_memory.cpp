#include "memory/paged_memory.h"

#include <algorithm>
#include <utility>

namespace whocall {
namespace {

// Memory of small targets may begin in the middle of a page. Then reading the whole page fails,
// and the page is tried again from the address asked for, rounded down to this many bytes ...
constexpr std::size_t kProbeSize = 256;
// ... so many times, so that a page which cannot be read costs a bounded number of requests.
constexpr unsigned kProbeLimit = 4;

struct Extent {
  std::size_t begin = 0;  // offsets in the page
  std::size_t end = 0;
};

}  // namespace

struct PagedMemory::Page {
  std::vector<std::byte> bytes;  // empty as long as nothing could be read
  std::vector<Extent> known;     // disjoint, at most kProbeLimit + 1
  unsigned probes = 0;

  [[nodiscard]] std::span<const std::byte> run_at(std::size_t offset) const {
    for (const Extent& extent : known) {
      if (offset >= extent.begin && offset < extent.end) {
        return std::span(bytes).subspan(offset, extent.end - offset);
      }
    }
    return {};
  }
};

PagedMemory::PagedMemory() = default;
PagedMemory::~PagedMemory() = default;

std::span<const std::byte> PagedMemory::run_at(Address address) const {
  const std::size_t offset = address % kPageSize;
  const Address begin = address - offset;
  Page& page = last_page_ != nullptr && last_begin_ == begin ? *last_page_ : page_at(begin);
  auto run = page.run_at(offset);
  if (run.empty() && page.probes < kProbeLimit) {
    probe(page, begin, offset - offset % kProbeSize);
    run = page.run_at(offset);
  }
  return run;
}

PagedMemory::Page& PagedMemory::page_at(Address begin) const {
  auto& slot = pages_[begin];
  if (slot == nullptr) {
    slot = std::make_unique<Page>();
    probe(*slot, begin, 0);
  }
  last_page_ = slot.get();
  last_begin_ = begin;
  return *slot;
}

// Reads from `offset` up to the next known bytes or the page's end.
void PagedMemory::probe(Page& page, Address begin, std::size_t offset) const {
  ++page.probes;
  std::size_t end = kPageSize;
  for (const Extent& extent : page.known) {
    if (offset >= extent.begin && offset < extent.end) {
      return;
    }
    if (extent.begin > offset) {
      end = std::min(end, extent.begin);
    }
  }
  std::vector<std::byte> fetched(end - offset);
  const std::size_t count = std::min(fetch(begin + offset, fetched), fetched.size());
  if (count == 0) {
    return;
  }
  page.bytes.resize(kPageSize);  // never again after the first time: runs stay valid
  std::copy_n(fetched.begin(), count, page.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  page.known.push_back({offset, offset + count});
}

}  // namespace whocall
