#include "base/hex.h"
#include "base/interrupt.h"
#include "report/form/json_members.h"
#include "report/form/text_block.h"
#include "report/waits/call_text.h"
#include "report/waits/wait_phrases.h"
#include "report/waits/waits_text.h"

namespace whocall {
namespace {

std::string_view state_word(const KernelCall& call) {
  switch (call.state) {
    case KernelCall::State::waits:
      return "waits";
    case KernelCall::State::returned:
      return "returned";
    case KernelCall::State::unclear:
      break;
  }
  return "unclear";
}

void append_call(const ProcessImage& process, const KernelCall& call, std::string& text,
                 std::size_t margin) {
  JsonMembers members(text, margin);
  members.number("number", call.number);
  members.string("name", call.name);
  members.string("text", call_text(process, call));
  members.string("state", state_word(call));
  members.truth("restarted", call.restarted);
  members.name("arguments");
  text += '[';
  for (std::size_t at = 0; at < call.arguments.size(); ++at) {
    text += at == 0 ? "" : ", ";
    text += call.arguments[at] ? "\"" + hex(*call.arguments[at]) + "\"" : "null";
  }
  text += ']';
  members.close();
}

void append_owner(const WaitsReport& report, const Waiting& waiting, std::string& text,
                  std::size_t margin) {
  if (!waiting.owner) {
    text += "null";
    return;
  }
  JsonMembers members(text, margin);
  members.integer("number", report.numbers[*waiting.owner]);
  members.integer("lwp", report.process->threads[*waiting.owner].lwp);
  members.close();
}

void append_descriptor(const Waiting& waiting, std::string& text, std::size_t margin) {
  if (!waiting.descriptor) {
    text += "null";
    return;
  }
  JsonMembers members(text, margin);
  members.integer("number", *waiting.descriptor);
  members.string("name", waiting.descriptor_name);
  members.close();
}

void append_thread(const WaitsReport& report, const WaitPhrases& phrases, const Waiting& waiting,
                   std::string& text) {
  const Thread& thread = report.process->threads[waiting.thread];
  JsonMembers members(text, 2);
  members.integer("number", report.numbers[waiting.thread]);
  members.integer("lwp", thread.lwp);
  members.string("name", thread.name);
  members.string("waits_for", to_string(waiting.kind));
  members.string("phrase", phrases.phrase(waiting));
  members.address("object", waiting.object);
  members.string("type", waiting.type);
  members.truth("writes", waiting.writes);
  members.truth("timed", waiting.timed);
  members.name("owner");
  append_owner(report, waiting, text, members.margin());
  members.name("owner_id");
  text += waiting.owner_tid ? std::to_string(*waiting.owner_tid) : "null";
  members.number("readers", waiting.readers);
  members.string("doubt", waiting.doubt);
  members.string("function", waiting.function);
  members.name("descriptor");
  append_descriptor(waiting, text, members.margin());
  members.name("system_call");
  if (waiting.call) {
    append_call(*report.process, *waiting.call, text, members.margin());
  } else {
    text += "null";
  }
  members.close();
}

void append_cycle(const WaitsReport& report, const WaitPhrases& phrases, const WaitCycle& cycle,
                  std::string& text) {
  JsonMembers members(text, 2);
  members.name("threads");
  text += '[';
  bool first = true;
  for (const std::size_t index : phrases.in_order(cycle)) {
    (text += first ? "" : ", ") += std::to_string(report.numbers[index]);
    first = false;
  }
  text += ']';
  members.truth("deadlock", cycle.lasts);
  members.string("sentence", phrases.sentence(cycle));
  members.close();
}

// The items of a list, each behind two spaces.
template <typename Items, typename Append>
void append_list(const Items& items, const Append& append, std::string& text,
                 std::vector<std::string>& blocks) {
  text += '[';
  bool first = true;
  for (const auto& item : items) {
    check_interrupt();
    text += first ? "\n  " : ",\n  ";
    first = false;
    append(item);
    if (text.size() >= kTextBlock) {
      blocks.push_back(std::move(text));
      text.clear();
    }
  }
  text += first ? "]" : "\n ]";
}

}  // namespace

void append_waits_json(const WaitsReport& report, std::string_view core, std::string_view exe,
                       std::vector<std::string>& blocks) {
  const WaitPhrases phrases(report.waits, report.numbers, report.inferior);
  std::string text;
  JsonMembers members(text, 0);
  members.string("schema", "whocall.waits/1");
  members.string("arch", report.process->arch->name);
  members.name("source");
  JsonMembers source(text, members.margin());
  source.string("core", core);
  source.string("exe", exe);
  source.close();
  members.name("threads");
  append_list(
      report.order,
      [&](std::size_t index) { append_thread(report, phrases, report.waits[index], text); }, text,
      blocks);
  members.name("cycles");
  append_list(
      report.cycles, [&](const WaitCycle& cycle) { append_cycle(report, phrases, cycle, text); },
      text, blocks);
  members.close();
  text += '\n';
  blocks.push_back(std::move(text));
}

}  // namespace whocall
