#include "report/happened.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hex.h"
#include "base/printable_text.h"
#include "report/causes/causes.h"
#include "report/causes/fault_access.h"
#include "report/causes/faults.h"
#include "report/form/file_display.h"
#include "report/form/sentence_lines.h"

namespace whocall {
namespace {

constexpr std::size_t kFewestOfCall = 24;  // columns that are left of a command line
constexpr std::string_view kMore = "...";

// What is said of an end: `first` goes on behind the signal, and `cause` is a sentence of its own.
struct Ending {
  std::string first{};
  std::string cause{};
};

// What stands behind a beginning; empty where another one stands there.
std::string_view after(std::string_view text, std::string_view beginning) {
  return text.starts_with(beginning) ? text.substr(beginning.size()) : std::string_view();
}

// Facts repeat what the kernel says of the fault where they know no more.
Ending ending_of(const Scene& scene, const std::vector<Fact>& facts) {
  Ending ending{.first = std::string(scene.meaning())};
  if (facts.empty()) {
    return ending;
  }
  const Fact& fact = facts.front();
  if (fact.kind == "null-access") {
    const std::string_view rest = after(fact.text, access_sentence(scene) + ", ");
    ending.cause = scene.fault()->address == 0
                       ? "it followed " + std::string(after(rest, "by "))
                       : hex(scene.fault()->address) + " is " + std::string(rest);
    ending.cause = rest.empty() ? fact.text : ending.cause;
    return ending;
  }
  if (scene.fault() && fact.kind == "fault") {
    const std::string access = access_sentence(scene);
    const std::string_view rest = std::string_view(fact.text).substr(access.size());
    if (rest.starts_with(": ")) {
      return {.first = std::string(rest.substr(2))};
    }
    return {.cause = rest.empty() ? std::string() : fact.text};
  }
  const auto handled = std::ranges::find(facts, "handled", &Fact::kind);
  if (handled != facts.end()) {
    return {.first = fact.text, .cause = handled->text};
  }
  if (ending.first.empty() || fact.kind == "fault" || scene.code() == kFromKernel) {
    return {.first = fact.text};
  }
  ending.cause = fact.text;
  return ending;
}

// How the program was called, in so many columns, for which its directory is left out first; its
// name where that is not known.
std::string quoted_call(const ProcessImage& image, const Thread& thread, std::size_t room) {
  const CommandLine& line = image.command_line;
  std::string call = made_printable(line.text);
  if (call.empty()) {
    call = made_printable(image.exe_path.empty() ? thread.name : last_part(image.exe_path));
    return call.empty() ? "The program" : call;
  }
  const std::size_t around = 2 + (line.cut ? kMore.size() : 0);
  const std::size_t end = call.find(' ');
  if (character_count(call) + around > room && (end != std::string::npos || !line.cut)) {
    call = std::string(last_part(call.substr(0, end))) + call.substr(std::min(end, call.size()));
  }
  const bool fits = character_count(call) + around <= room;
  if (!fits) {
    call = first_characters(call, room - 2 - kMore.size());
  }
  return '"' + call + (fits && !line.cut ? "" : std::string(kMore)) + '"';
}

class Telling {
 public:
  explicit Telling(const ThreadTrace& trace)
      : trace_(trace),
        scene_(*trace.process, *trace.thread, *trace.walk, trace.head.signal, trace.values),
        facts_(causes(scene_)),
        ending_(ending_of(scene_, facts_)) {}

  [[nodiscard]] const Scene& scene() const { return scene_; }
  [[nodiscard]] const std::vector<Fact>& facts() const { return facts_; }

  // "... was ended by SIGSEGV at 0x8 in thread 1 (LWP 4242): nothing is mapped there."
  [[nodiscard]] std::string first_sentence(std::size_t columns, std::string_view inferior) const {
    const ProcessImage& image = *trace_.process;
    std::string tail = image.core_path.empty() ? " was stopped by " : " was ended by ";
    tail += trace_.head.signal;
    if (const auto& fault = scene_.fault()) {
      const auto access = fault_access(scene_);
      tail += " " + (access ? access_words(*access, fault->address) : "at " + hex(fault->address));
    }
    ((tail += " in thread ") += inferior) += std::to_string(trace_.head.number);
    tail += " (LWP " + std::to_string(trace_.thread->lwp) + ")";
    if (!ending_.first.empty()) {
      tail += ": " + made_printable(ending_.first);
    }
    tail += '.';
    std::size_t room = std::string::npos;
    if (columns != 0) {
      const std::size_t taken = character_count(tail) + 1;
      room = std::max(columns > taken ? columns - taken : 0, kFewestOfCall);
    }
    return quoted_call(image, *trace_.thread, room) + tail;
  }
  // Empty where the first one has it.
  [[nodiscard]] std::string second_sentence(std::string_view last_words = {}) const {
    const std::string_view cause = ending_.cause.empty() ? last_words : ending_.cause;
    const bool ends = cause.ends_with('!') || cause.ends_with('?');
    return cause.empty() ? std::string() : "Cause: " + made_printable(cause) + (ends ? "" : ".");
  }

 private:
  const ThreadTrace& trace_;
  Scene scene_;
  std::vector<Fact> facts_;
  Ending ending_;
};

bool is_told(const ThreadTrace& trace) {
  return trace.process != nullptr && trace.head.crashed && !trace.head.signal.empty();
}

void add_facts(JsonMembers& members, std::string& text, const std::vector<Fact>& facts) {
  members.name("facts");
  text += '[';
  const std::size_t margin = members.margin() + 1;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    (text += i == 0 ? "\n" : ",\n").append(margin, ' ');
    JsonMembers fact(text, margin);
    fact.string("kind", facts[i].kind);
    fact.string("text", facts[i].text);
    fact.string("proof", facts[i].proof);
    fact.close();
  }
  if (!facts.empty()) {
    (text += '\n').append(members.margin(), ' ');
  }
  text += ']';
}

void add_fault_access(JsonMembers& members, const Scene& scene) {
  const auto access = fault_access(scene);
  members.string("fault_access", access ? to_string(access->verb) : std::string_view());
  members.number("fault_size",
                 access && access->size != 0 ? std::optional(access->size) : std::nullopt);
}

}  // namespace

void append_happened(std::string& text, const ThreadTrace& trace, std::size_t columns,
                     std::string_view inferior, std::string_view last_words) {
  if (!is_told(trace)) {
    return;
  }
  const Telling telling(trace);
  append_broken(text, telling.first_sentence(columns, inferior), 0, columns);
  if (const std::string second = telling.second_sentence(last_words); !second.empty()) {
    append_broken(text, second, 0, columns);
  }
}

void add_happened(JsonMembers& members, std::string& text, const ThreadTrace& trace,
                  std::string_view last_words) {
  if (!is_told(trace)) {
    members.string("happened", {});
    return;
  }
  const Telling telling(trace);
  const Scene& scene = telling.scene();
  const std::string second = telling.second_sentence(last_words);
  members.name("happened");
  JsonMembers told(text, members.margin());
  told.string("sentence",
              telling.first_sentence(0, {}) + (second.empty() ? std::string() : " " + second));
  told.string("last_words", last_words);
  told.string("command_line", trace.process->command_line.text);
  if (scene.code()) {
    told.integer("signal_code", *scene.code());
  } else {
    told.number("signal_code", std::nullopt);
  }
  told.string("signal_meaning", scene.meaning());
  told.address("fault_address",
               scene.fault() ? std::optional(scene.fault()->address) : std::nullopt);
  add_fault_access(told, scene);
  add_facts(told, text, telling.facts());
  told.close();
}

}  // namespace whocall
