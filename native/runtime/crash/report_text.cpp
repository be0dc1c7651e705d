#include "runtime/crash/report_text.h"

#include "runtime/crash/annotations.h"
#include "runtime/crash/signals.h"
#include "runtime/debug_files.h"
#include "runtime/description.h"
#include "runtime/lines_of_file.h"
#include "runtime/machine.h"
#include "runtime/mapped_modules.h"
#include "runtime/modules.h"

namespace whocall::runtime {
namespace {

constexpr std::size_t kDigits = 2 * sizeof(void*);
constexpr std::size_t kRegistersInLine = 4;

const char* words(WalkEnd end) {
  switch (end) {
    case WalkEnd::outermost:
      return "the outermost frame";
    case WalkEnd::no_rule:
      return "no unwind table covers this code, and no frame pointer leads on";
    case WalkEnd::unreadable:
      return "the stack cannot be read any further";
    default:
      return "there are more frames than anyone would read";
  }
}

// "SIGSEGV (signal 11, code 1: address not mapped", the parenthesis left open.
void append_signal(Line& line, int signal, int code) {
  line.append(signal_name(signal)).append(" (signal ");
  line.decimal(static_cast<std::uint64_t>(signal)).append(", code ");
  line.append(code < 0 ? "-" : "");
  line.decimal(static_cast<std::uint64_t>(code < 0 ? -std::int64_t{code} : code));
  if (const char* const meaning = code_words(signal, code)) {
    line.append(": ").append(meaning);
  }
}

void print_module(const Module& module, void* to) {
  const BuildId id = build_id(module);
  Line line(*static_cast<Sink*>(to));
  line.append("module: ").hexadecimal(module.begin, kDigits).append("-");
  line.hexadecimal(module.end, kDigits).append(" bias ").hexadecimal(module.bias);
  line.append(" build id ");
  if (id.size == 0) {
    line.append("-");
  }
  line.bytes(id.bytes, id.size).append(" ").append(path_of(module));
}

}  // namespace

void print_headline(Sink& to, const Crash& crash, const char* thread_name) {
  const int code = crash.info.si_code;
  Line line(to);
  line.append("whocall: ").append(path_of({})).append("[");
  line.decimal(static_cast<std::uint64_t>(crash.process));
  line.append(crash.is_question ? "] goes on, asked by " : "] crashed: ");
  append_signal(line, crash.signal, code);
  if (was_sent(code) ? !tells_sender(code) : crash.is_question) {
    line.append(")");
  } else if (was_sent(code)) {
    line.append(") from process ").decimal(static_cast<std::uint64_t>(crash.info.si_pid));
  } else {
    line.append(") at address ");
    line.hexadecimal(reinterpret_cast<std::uintptr_t>(crash.info.si_addr));
  }
  line.append(", thread ").decimal(static_cast<std::uint64_t>(crash.thread));
  line.append(" \"").append(thread_name).append("\"");
}

void print_ending(Sink& to, const Ending& ending) {
  Line line(to);
  line.append("whocall: a handler of the program had it first, and ends the process");
  if (ending.signal != 0) {
    append_signal(line.append(" by "), ending.signal, ending.code);
    line.append(")");
  }
}

void print_annotations(Sink& to) {
  for_each_annotation(
      [](const char* key, const char* value, void* sink) {
        Line(*static_cast<Sink*>(sink))
            .append("annotation: ")
            .append(key)
            .append(" = ")
            .append(value);
      },
      &to);
}

void print_registers(Sink& to, const Registers& registers) {
  for (std::size_t i = 0; i < Registers::kCount; i += kRegistersInLine) {
    Line line(to);
    line.append("registers:");
    for (std::size_t j = i; j < Registers::kCount && j < i + kRegistersInLine; ++j) {
      line.append(" ").append(kRegisterNames.data()[j].data()).append("=");
      line.hexadecimal(registers[j], kDigits);
    }
  }
}

void print_frame(Sink& to, const StackFrames& frames, std::size_t place) {
  if (frames.outermost() != 0 && place == StackFrames::kInnermost) {
    Line line(to);
    line.append("... ").decimal(frames.all() - frames.kept()).append(" frames ...");
  }
  whocall_frame frame;
  describe(frames[place].address, frames[place].lookup_address(), frames[place].trust, true, frame);
  Line(to).numbered(frames.number(place), frame);
}

void print_bare_frame(Sink& to, const StackFrames& frames, std::size_t place) {
  whocall_frame frame{};
  frame.address = frames[place].address;
  frame.module = "";
  frame.trust = frames[place].trust;
  Line(to).numbered(frames.number(place), frame);
}

void print_end(Sink& to, const StackFrames& frames) {
  Line(to).append("end of the stack: ").append(words(frames.end()));
}

void print_other_thread(Sink& to, pid_t thread, const char* name, bool answered) {
  Line line(to);
  line.append("thread ").decimal(static_cast<std::uint64_t>(thread));
  line.append(" \"").append(name).append("\"");
  line.append(answered ? ":" : " gives no answer: it blocks signals, or waits for the kernel");
}

void print_build_ids(Sink& to) {
  LinesOfFile maps("/proc/self/maps");
  std::uintptr_t last = 0;
  bool told = false;
  while (const char* const text = maps.next()) {
    told = true;
    Module module;
    if (find_module(leading_number(text), module) && module.begin != last) {
      last = module.begin;
      print_module(module, &to);
    }
  }
  if (!told) {
    for_each_linked(print_module, &to);
  }
}

void print_mappings(Sink& to) {
  LinesOfFile maps("/proc/self/maps");
  while (const char* const text = maps.next()) {
    Line(to).append("mapping: ").append(text);
  }
}

}  // namespace whocall::runtime
