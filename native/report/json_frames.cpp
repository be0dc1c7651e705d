#include "report/json_frames.h"

#include "report/json_members.h"
#include "report/text_block.h"

namespace whocall {
namespace {

void append_source(JsonMembers& members, std::string& text, const NamedFrame& named) {
  if (named.file().empty()) {
    members.string("source", {});
    return;
  }
  members.name("source");
  JsonMembers source(text, members.margin());
  source.string("file", named.file());
  source.number("line",
                named.line() != 0 ? std::optional<std::uint64_t>(named.line()) : std::nullopt);
  source.close();
}

void append_frame(std::string& text, const FrameFacts& facts, std::size_t margin) {
  const NamedFrame& named = facts.named();
  const Frame& frame = facts.frame();
  JsonMembers members(text, margin);
  members.number("level", named.level);
  members.address("pc", frame.pc);
  members.address("cfa", facts.cfa());
  members.string("function", named.function());
  members.number("offset", facts.offset());
  members.string("name_source", facts.name_source());
  members.truth("inferred", facts.inferred());
  members.list("aliases", facts.aliases(), [](std::string_view name) { return name; });
  members.string("module", facts.module());
  members.string("build_id", facts.build_id());
  members.address("rva", facts.rva());
  members.string("trust", to_string(frame.trust));
  members.number("rests_on", facts.rests_on());
  members.list("evidence", frame.evidence.list(), [](Evidence item) { return to_string(item); });
  members.truth("inlined", named.inlined());
  members.truth("signal_trampoline", frame.signal_trampoline);
  append_source(members, text, named);
  members.close();
}

}  // namespace

std::size_t append_json_frames(std::string& block, const NamedWalk& walk, const FrameRange& range,
                               std::size_t from, std::size_t margin) {
  while (from < range.count && block.size() < kTextBlock) {
    (block += from == 0 ? "\n" : ",\n").append(margin, ' ');
    append_frame(block, FrameFacts(walk, range.at(from)), margin);
    ++from;
  }
  return from;
}

}  // namespace whocall
