#include "report/threads_text.h"

#include <algorithm>
#include <utility>

#include "base/printable_text.h"
#include "report/form/numbers.h"
#include "report/form/sentence_lines.h"
#include "report/form/text_block.h"
#include "report/happened.h"
#include "report/stack_groups.h"

namespace whocall {
namespace {

constexpr std::size_t kMostSearches = 3;  // that are named

std::string_view meaning(StopReason reason) {
  switch (reason) {
    case StopReason::no_caller:
      return "no caller found";
    case StopReason::unreadable:
      return "the stack cannot be read further";
    case StopReason::frame_limit:
      return "the limit on frames is reached";
    default:
      return to_string(reason);
  }
}

// "#3, #5 and #7"
std::string levels_text(std::span<const std::size_t> levels) {
  std::vector<std::string> parts;
  for (const std::size_t level : levels.first(std::min(levels.size(), kMostSearches))) {
    parts.push_back("#" + std::to_string(level));
  }
  if (levels.size() > kMostSearches) {
    parts.push_back(with_commas(levels.size() - kMostSearches) + " more");
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += i == 0 ? "" : i + 1 < parts.size() ? ", " : " and ";
    text += parts[i];
  }
  return text;
}

}  // namespace

std::string title_line(const ThreadsTitle& title) {
  const std::size_t count = title.numbers.size();
  std::string line = (count == 1 ? "Thread " : "Threads ") +
                     number_runs(title.numbers, title.inferior) + " (LWP " +
                     number_runs(title.lwps);
  if (count > 1) {
    return line + ") [" + std::to_string(count) + " threads, same stack]:";
  }
  if (!title.name.empty()) {
    line += " \"";
    append_printable(line, title.name);
    line += '"';
  }
  if (!title.signal.empty()) {
    (line += ", ") += title.signal;
  }
  return line + "):";
}

std::string stop_line(const Stop& stop) {
  switch (stop.reason) {
    case StopReason::end_of_stack:
    case StopReason::main:
      return {};
    case StopReason::count:
      return "(More stack frames follow...)";
    default:
      return "(whocall stopped: " +
             (stop.detail.empty() ? std::string(meaning(stop.reason)) : stop.detail) + ")";
  }
}

std::string end_phrase(const Stop& stop) {
  switch (stop.reason) {
    case StopReason::end_of_stack:
      return "the stack ends here" + (stop.detail.empty() ? "" : ": " + stop.detail);
    case StopReason::main:
      return "the frames that called main are left out";
    default:
      return {};
  }
}

std::string resting_line(const ThreadTrace& trace) {
  std::size_t resting = 0;
  std::vector<std::size_t> levels;  // of the searches; frames rest on the last one before them
  for (std::size_t i = 0; i < trace.shown.count && trace.walk->has_searched(); ++i) {
    if (const auto level = trace.frame(i).rests_on()) {
      ++resting;
      if (levels.empty() || levels.back() != *level) {
        levels.push_back(*level);
      }
    }
  }
  if (resting == 0) {
    return {};
  }
  const std::size_t all = trace.shown.count;
  return with_commas(resting) + " of " + with_commas(all) + (all == 1 ? " frame" : " frames") +
         (resting == 1 ? " rests" : " rest") + " on the " +
         (levels.size() == 1 ? "search" : "searches") + " at " + levels_text(levels) + ".";
}

ThreadsText::ThreadsText(std::span<const ThreadTrace> traces, const Architecture& arch,
                         ThreadsForm form)
    : traces_(traces),
      arch_(arch),
      form_(std::move(form)),
      names_{ShortNames(traces), FileNames(form_.files, form_.modules)},
      groups_(group_stacks(traces, form_.titles && form_.lines.stack == nullptr)) {}

bool ThreadsText::append_block(std::string& text) {
  while (text.size() < kTextBlock && (lines_ || next_ < groups_.size())) {
    const ThreadTrace& trace = traces_[groups_[next_].front()];
    if (!lines_) {
      if (form_.titles) {
        text += next_ == 0 ? "" : "\n";
        append_title(text, groups_[next_]);
      }
      append_happened(text, trace, form_.lines.columns, form_.inferior, form_.last_words);
      lines_form_ = form_.lines;
      if (groups_[next_].size() > 1) {
        lines_form_.arguments = nullptr;  // each has its own
      }
      lines_.emplace(trace, arch_, lines_form_, names_);
    }
    if (!lines_->append_block(text)) {
      append_end(text, trace);
      lines_.reset();
      ++next_;
    }
  }
  return !text.empty();
}

void ThreadsText::append_title(std::string& text, const std::vector<std::size_t>& group) const {
  const ThreadTrace& first = traces_[group.front()];
  ThreadsTitle title;
  title.name = first.thread->name;
  title.inferior = form_.inferior;
  for (const std::size_t member : group) {
    title.numbers.push_back(traces_[member].head.number);
    title.lwps.push_back(traces_[member].thread->lwp);
  }
  if (first.head.crashed) {
    title.signal = first.head.signal;
  }
  append_painted(text, form_.lines.paint.title, title_line(title));
  text += '\n';
}

void ThreadsText::append_end(std::string& text, const ThreadTrace& trace) const {
  for (const std::string& line : {stop_line(trace.stop), resting_line(trace)}) {
    if (!line.empty()) {
      std::string told;
      append_printable(told, line);  // a detail may name what a file does
      append_broken(text, told, 0, form_.lines.columns, form_.lines.paint.metadata);
    }
  }
  if (form_.lines.explain) {
    append_sentence(text, end_phrase(trace.stop), form_.lines.columns);
  }
}

}  // namespace whocall
