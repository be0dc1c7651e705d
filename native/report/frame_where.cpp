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

Where where_of(const FrameFacts& facts, FileNames& names, const NearPlace& near) {
  const NamedFrame& named = facts.named();
  if (!named.file().empty()) {
    return {" at ", names.source(named.file(), named.directory()),
            named.line() != 0 ? ":" + std::to_string(named.line()) : std::string()};
  }
  const std::string_view module =
      facts.module().empty() ? std::string_view() : names.module(*facts.owner());
  if (!near.file.empty()) {
    Where where{" near ", names.source(near.file), near.line};
    append_printable(where.line += module.empty() ? "" : " from ", module);
    return where;
  }
  return module.empty() ? Where() : Where{" from ", module, {}};
}

}  // namespace whocall
