#include "report/frames_json.h"

#include "report/form/json_members.h"
#include "report/form/source_hints.h"
#include "report/form/text_block.h"
#include "symbols/inferred/rust_paths.h"

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

void append_pointed(JsonMembers& members, std::string& text, const Pointed& pointed) {
  members.string("text", pointed.text);
  if (pointed.function.empty()) {
    members.string("points_to", {});
    return;
  }
  members.name("points_to");
  JsonMembers target(text, members.margin());
  target.string("function", pointed.function);
  target.close();
}

}  // namespace

void FramesJson::append_argument(std::string& text, const FrameArguments& arguments,
                                 std::size_t position) const {
  const Argument& argument = arguments.list[position];
  const RegisterFile& registers = *arguments.registers;
  const std::optional<ArgumentValue>& value = argument.value;
  JsonMembers members(text, margin_ + 2);
  members.integer("position", static_cast<std::int64_t>(position));
  members.string("name", {});
  members.string("register",
                 argument.place.reg ? registers.names[*argument.place.reg] : std::string_view());
  members.address("value", value ? std::optional<Address>(value->value) : std::nullopt);
  members.number("width",
                 argument.size != 0 ? std::optional<std::uint64_t>(argument.size) : std::nullopt);
  members.string("trust", value ? to_string(value->trust) : std::string_view());
  append_pointed(members, text, arguments_->pointed(arguments, position));
  members.string("shown", arguments_->shown(arguments, position));
  members.close();
}

// What the function was handed: null where that is not known.
void FramesJson::append_arguments(JsonMembers& members, std::string& text,
                                  const FrameArguments* found) const {
  members.name("arguments");
  if (found == nullptr) {
    text += "null";
    return;
  }
  text += '[';
  for (std::size_t i = 0; i < found->list.size(); ++i) {
    (text += i == 0 ? "\n" : ",\n").append(margin_ + 2, ' ');
    append_argument(text, *found, i);
  }
  if (!found->list.empty()) {
    (text += '\n').append(margin_ + 1, ' ');
  }
  text += ']';
}

namespace {

// What the function's code names, where no debug info has the line.
void append_hints(JsonMembers& members, std::string& text, const FrameFacts& facts) {
  members.name("source_hints");
  const std::size_t margin = members.margin() + 1;
  bool first = true;
  text += '[';
  for (const SourceHint& hint : source_hints(facts.named())) {
    (text += first ? "\n" : ",\n").append(margin, ' ');
    first = false;
    JsonMembers each(text, margin);
    each.string("file", hint.file);
    each.number("line", hint.line);
    each.number("column",
                hint.column != 0 ? std::optional<std::uint64_t>(hint.column) : std::nullopt);
    each.address("address", hint.address);
    each.string("crate", crate_of_path(hint.file));
    each.string("module", module_of_path(hint.file));
    each.truth("near", hint.near);
    each.close();
  }
  if (!first) {
    (text += '\n').append(margin - 1, ' ');
  }
  text += ']';
}

void append_place(JsonMembers& members, const FrameFacts& facts) {
  members.string("function", facts.named().function());
  members.number("offset", facts.offset());
  members.string("name_source", facts.name_source());
  members.truth("inferred", facts.inferred());
  members.list("aliases", facts.aliases(), [](std::string_view name) { return name; });
  members.string("module", facts.module());
  members.string("build_id", facts.build_id());
  members.address("rva", facts.rva());
}

void append_reasons(JsonMembers& members, const FrameFacts& facts) {
  const Frame& frame = facts.frame();
  members.string("trust", to_string(frame.trust));
  members.number("rests_on", facts.rests_on());
  members.list("evidence", frame.evidence.list(), [](Evidence item) { return to_string(item); });
  members.truth("inlined", facts.named().inlined());
  members.truth("signal_trampoline", frame.signal_trampoline);
}

}  // namespace

void FramesJson::append_frame(std::string& text, const ThreadTrace& trace,
                              const FrameFacts& facts) {
  const NamedFrame& named = facts.named();
  const Frame& frame = facts.frame();
  JsonMembers members(text, margin_);
  members.number("level", named.level);
  members.address("pc", frame.pc);
  members.address("cfa", facts.cfa());
  if (arguments_ != nullptr) {
    append_arguments(members, text, arguments_->find(trace, facts));
  }
  const Spot spot{.place = named.place,
                  .call = named.call,
                  .pc = frame.pc,
                  .trust = frame.trust,
                  .evidence = frame.evidence,
                  .signal_trampoline = frame.signal_trampoline,
                  .rests_on = facts.rests_on()};
  Written& known = spots_[(frame.pc + named.call) % kSpots];
  if (known.spot == spot) {
    text += known.text;
    return;
  }
  const std::size_t begin = text.size();
  append_place(members, facts);
  append_reasons(members, facts);
  append_source(members, text, named);
  append_hints(members, text, facts);
  members.close();
  known = {spot, text.substr(begin)};
}

std::size_t FramesJson::append(std::string& block, const ThreadTrace& trace, std::size_t from) {
  while (from < trace.shown.count && block.size() < kTextBlock) {
    (block += from == 0 ? "\n" : ",\n").append(margin_, ' ');
    append_frame(block, trace, trace.frame(from));
    ++from;
  }
  return from;
}

}  // namespace whocall
