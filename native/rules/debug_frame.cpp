#include "rules/debug_frame.h"

#include <algorithm>

namespace whocall::rules {
namespace {

bool is_before(const IndexedDescription& one, const IndexedDescription& other) {
  return one.begin < other.begin;
}

}  // namespace

std::size_t count_entries(const FrameEntries& entries) {
  std::size_t count = 0;
  for (std::uint64_t place = 0; find_next_entry(entries, place, place);) {
    ++count;
  }
  return count;
}

std::size_t make_index(const FrameEntries& entries, IndexedDescription* index, std::size_t room) {
  std::size_t count = 0;
  std::uint64_t next = 0;
  for (std::uint64_t place = 0; count < room && find_next_entry(entries, place, next);
       place = next) {
    FrameDescription description;
    if (read_description(entries, place, description) && description.begin < description.end) {
      index[count++] = {description.begin, place};
    }
  }
  if (!std::is_sorted(index, index + count, is_before)) {
    std::sort(index, index + count, is_before);
  }
  return count;
}

bool find_description(const DebugFrame& frames, std::uint64_t address, FrameDescription& found) {
  const IndexedDescription* const end = frames.index + frames.count;
  const IndexedDescription* const behind =
      std::upper_bound(frames.index, end, IndexedDescription{.begin = address}, is_before);
  return behind != frames.index && read_description(frames.entries, (behind - 1)->place, found) &&
         address >= found.begin && address < found.end;
}

}  // namespace whocall::rules
