#include "report/waits/waits_text.h"

#include <algorithm>
#include <unordered_map>

#include "base/interrupt.h"
#include "base/printable_text.h"
#include "report/form/numbers.h"
#include "report/form/text_block.h"
#include "report/waits/call_text.h"
#include "report/waits/wait_phrases.h"

namespace whocall {
namespace {

// Threads of one phrase, in the order in which they are told.
struct PhraseGroup {
  std::string phrase;
  std::vector<std::size_t> threads;
};

std::vector<PhraseGroup> group_phrases(const WaitsReport& report, const WaitPhrases& phrases) {
  std::vector<PhraseGroup> groups;
  std::unordered_map<std::string, std::size_t> known;
  for (const std::size_t index : report.order) {
    check_interrupt_at(index, kManyEntries);
    const Waiting& waiting = report.waits[index];
    const bool ended = report.process->threads[index].crashed &&
                       waiting.kind == WaitKind::nothing && !waiting.call;
    std::string phrase = ended ? "stands where it crashed" : phrases.phrase(waiting);
    const auto [found, is_new] = known.try_emplace(phrase, groups.size());
    if (is_new) {
      groups.push_back({std::move(phrase), {}});
    }
    groups[found->second].threads.push_back(index);
  }
  return groups;
}

// "Thread 1 (LWP 4242 "prog", crashed)", or "Threads 2..4 (LWP 4243..4245)".
std::string group_title(const WaitsReport& report, const PhraseGroup& group) {
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> lwps;
  for (const std::size_t index : group.threads) {
    numbers.push_back(report.numbers[index]);
    lwps.push_back(report.process->threads[index].lwp);
  }
  const bool several = numbers.size() > 1;
  std::string title = (several ? "Threads " : "Thread ") + number_runs(numbers, report.inferior) +
                      " (LWP " + number_runs(lwps);
  const std::string& name = report.process->threads[group.threads.front()].name;
  if (!several && !name.empty()) {
    title += " \"";
    append_printable(title, name);
    title += '"';
  }
  const bool crashed = !several && report.process->threads[group.threads.front()].crashed;
  return title + (crashed ? ", crashed)" : ")");
}

// "waits for ...", said of several.
std::string plural(const std::string& phrase) {
  for (const auto& [one, many] : {std::pair<std::string_view, std::string_view>{"waits ", "wait "},
                                  {"runs", "run"},
                                  {"sleeps", "sleep"},
                                  {"is in ", "are in "},
                                  {"stands ", "stand "}}) {
    if (phrase.starts_with(one)) {
      return std::string(many) + phrase.substr(one.size());
    }
  }
  return phrase;
}

void append_group(const WaitsReport& report, const PhraseGroup& group, const Paint& paint,
                  std::string& text) {
  append_painted(text, paint.title, group_title(report, group));
  text += ' ';
  text += group.threads.size() > 1 ? plural(group.phrase) : group.phrase;
  text += ".\n";
  const Waiting& first = report.waits[group.threads.front()];
  if (!first.call) {
    return;
  }
  std::string line = "    " + call_text(*report.process, *first.call);
  if (group.threads.size() > 1) {  // their arguments may differ
    line = first.call->name.empty() ? "" : "    " + std::string(first.call->name);
  }
  if (line.size() <= 4) {
    return;
  }
  if (first.call->result) {
    line += " = " + std::to_string(*first.call->result);
  }
  if (first.call->restarted) {
    line += ", begun anew";
  }
  if (!first.function.empty()) {
    line += " in ";
    append_printable(line, first.function);
  }
  append_painted(text, paint.metadata, line);
  text += '\n';
}

void next_block(std::vector<std::string>& blocks, std::string& text, bool whole) {
  if (!text.empty() && (whole || text.size() >= kTextBlock)) {
    blocks.push_back(std::move(text));
    text.clear();
  }
}

}  // namespace

void append_waits_text(const WaitsReport& report, const Paint& paint,
                       std::vector<std::string>& blocks) {
  const WaitPhrases phrases(report.waits, report.numbers, report.inferior);
  std::string text;
  for (const PhraseGroup& group : group_phrases(report, phrases)) {
    append_group(report, group, paint, text);
    next_block(blocks, text, false);
  }
  for (const WaitCycle& cycle : report.cycles) {
    append_painted(text, cycle.lasts ? paint.highlight : paint.title, phrases.sentence(cycle));
    text += '\n';
    next_block(blocks, text, false);
  }
  if (report.cycles.empty()) {
    text += "No deadlock is proven.\n";
  }
  next_block(blocks, text, true);
}

}  // namespace whocall
