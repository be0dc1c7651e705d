#include "symbols/table/name_store.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace whocall {
namespace {

constexpr std::uint32_t kSmallestBlock = 1U << 12;
constexpr std::uint32_t kLargestBlock = 1U << 20;

}  // namespace

NameStore::Table& NameStore::add(const char* begin, std::uint64_t size,
                                 std::shared_ptr<const void> owner) {
  const std::uint64_t left = std::numeric_limits<NameRef>::max() - next_;
  Table& table = tables_.emplace_back();
  table.first = next_;
  table.begin = begin;
  table.size = static_cast<std::uint32_t>(std::min(size, left));
  table.owner = std::move(owner);
  next_ += table.size;
  room_ = 0;
  return table;
}

StringTable NameStore::add_table(ByteView strings, bool versioned,
                                 std::shared_ptr<const void> owner) {
  const auto* begin = reinterpret_cast<const char*>(strings.bytes().data());
  Table& table = add(begin, strings.size(), std::move(owner));
  table.versioned = versioned;
  return {table.first, table.size};
}

NameRef NameStore::keep(std::string_view name) {
  const std::string_view text = name.substr(0, name.find('\0'));
  if (text.empty() || text.size() >= std::numeric_limits<NameRef>::max()) {
    return kNoName;
  }
  const auto needed = static_cast<std::uint32_t>(text.size()) + 1;
  if (needed > room_) {
    const std::uint32_t size = std::max(needed, std::clamp(copied_, kSmallestBlock, kLargestBlock));
    const std::shared_ptr<char[]> block(new char[size]);
    Table& table = add(block.get(), size, block);
    table.longest_name = table.size;
    if (table.size < needed) {
      return kNoName;
    }
    free_ = block.get();
    room_ = table.size;
  }
  const auto name_ref = static_cast<NameRef>(next_ - room_);
  std::memcpy(free_, text.data(), text.size());
  free_[text.size()] = '\0';
  free_ += needed;
  room_ -= needed;
  copied_ += needed;
  return name_ref;
}

std::string_view NameStore::at(NameRef name) const {
  const auto next =
      std::upper_bound(tables_.begin(), tables_.end(), name,
                       [](NameRef wanted, const Table& table) { return wanted < table.first; });
  if (next == tables_.begin()) {
    return {};
  }
  const Table& table = *std::prev(next);
  const std::size_t offset = name - table.first;
  if (offset >= table.size) {
    return {};
  }
  const char* begin = table.begin + offset;
  const std::size_t limit = std::min<std::size_t>(table.size - offset, table.longest_name);
  const void* end = std::memchr(begin, 0, limit);
  if (end == nullptr) {
    return {};
  }
  const std::string_view text(begin,
                              static_cast<std::size_t>(static_cast<const char*>(end) - begin));
  return table.versioned ? text.substr(0, text.find('@', 1)) : text;
}

NameStore NameStore::branch() const {
  NameStore copy = *this;
  copy.room_ = 0;
  return copy;
}

}  // namespace whocall
