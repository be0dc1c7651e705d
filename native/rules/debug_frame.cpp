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
  FrameEntry entry;
  for (std::uint64_t place = 0; read_entry(entries, place, entry); place = entry.next) {
    ++count;
  }
  return count;
}

std::size_t make_index(const FrameEntries& entries, IndexedDescription* index, std::size_t room) {
  std::size_t count = 0;
  FrameEntry entry;
  WholeDescription found;
  for (std::uint64_t place = 0; count < room && read_entry(entries, place, entry);
       place = entry.next) {
    if (read_description(entries, place, found) && found.fde.begin < found.fde.end) {
      index[count++] = {found.fde.begin, place};
    }
  }
  if (!std::is_sorted(index, index + count, is_before)) {
    std::sort(index, index + count, is_before);
  }
  return count;
}

bool find_description(const DebugFrame& frames, std::uint64_t address, WholeDescription& found) {
  const IndexedDescription* const end = frames.index + frames.count;
  const IndexedDescription* const behind =
      std::upper_bound(frames.index, end, IndexedDescription{.begin = address}, is_before);
  return behind != frames.index && read_description(frames.entries, (behind - 1)->place, found) &&
         address >= found.fde.begin && address < found.fde.end;
}

}  // namespace whocall::rules
