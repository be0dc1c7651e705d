#include "report/frame_where.h"

#include "base/printable_text.h"

namespace whocall {

std::size_t printable_width(std::string_view words) {
  if (find_unprintable(words) == words.size()) {
    return character_count(words);
  }
  std::string told;
  append_printable(told, words);
  return character_count(told);
}

Where where_of(const FrameFacts& facts, const FileNames& names, const NearPlace& near) {
  const NamedFrame& named = facts.named();
  if (!named.file().empty()) {
    return {" at ", names.source(named.file()),
            named.line() != 0 ? ":" + std::to_string(named.line()) : std::string()};
  }
  if (!near.file.empty()) {
    return {" near ", names.source(near.file), near.line};
  }
  if (!facts.module().empty()) {
    return {" from ", names.module(*facts.owner())};
  }
  return {};
}

}  // namespace whocall
