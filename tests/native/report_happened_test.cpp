// What happened, above a backtrace: the signal in words, and a cause where it is proven.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/x86/x86_64_facts.h"
#include "report/causes/causes.h"
#include "report/form/json_members.h"
#include "report/happened.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kStack = 0x7ff000;

// A thread of a program that took a signal at kCode.
class Crash {
 public:
  using Values = std::vector<std::pair<std::string_view, std::uint64_t>>;

  Crash(const Bytes& instruction, const Values& values, std::string signal, SignalInfo info)
      : process_(kX86_64) {
    process_.code(kCode, 0x1000);
    process_.put(kCode, instruction);
    process_.map(kStack, std::vector<std::byte>(0x1000), "rw-");
    image_ = process_.image();
    image_->core_path = "core";
    image_->pid = 4242;
    image_->command_line = {.text = "./orders --fast 3"};
    symbolizer_ = std::make_unique<Symbolizer>(*image_);
    thread_.lwp = 4242;
    for (const auto& [name, value] : values) {
      thread_.registers.set(kX86_64.register_named(name).value(), value);
    }
    thread_.signal_info = info;
    Backtrace made;
    made.frames.push_back({.pc = thread_.registers.get(kX86_64.registers.pc).value_or(0),
                           .sp = kStack + 0x800,
                           .cfa = kStack + 0x810});
    walk_ = std::make_unique<NamedWalk>(std::move(made), *symbolizer_, NamingOptions{});
    trace_ = {.thread = &thread_,
              .walk = walk_.get(),
              .shown = {.count = 1},
              .head = {1, true, std::move(signal)},
              .process = image_.get()};
  }

  [[nodiscard]] std::string text(std::size_t columns = 0, std::string_view last_words = {}) const {
    std::string text;
    append_happened(text, trace_, columns, {}, last_words);
    return text;
  }
  [[nodiscard]] std::string json(std::string_view last_words) const {
    std::string text;
    JsonMembers members(text, 0);
    add_happened(members, text, trace_, last_words);
    members.close();
    return text;
  }
  ProcessImage& image() { return *image_; }
  ThreadTrace& trace() { return trace_; }

 private:
  TestProcess process_;
  std::unique_ptr<ProcessImage> image_;
  std::unique_ptr<Symbolizer> symbolizer_;
  Thread thread_;
  std::unique_ptr<NamedWalk> walk_;
  ThreadTrace trace_;
};

const Bytes kLoad{0x8b, 0x47, 0x08};  // mov eax, dword ptr [rdi + 8]
const Bytes kDivide{0xf7, 0xf9};      // idiv ecx

Crash null_access() {
  return {kLoad,
          {{"rip", kCode}, {"rsp", kStack + 0x800}, {"rdi", 0}},
          "SIGSEGV",
          {.code = 1, .address = 8, .pid = 8}};
}

TEST_CASE("report: what happened, and the cause where it is proven") {
  CHECK(null_access().text() ==
        "\"./orders --fast 3\" was ended by SIGSEGV reading 4 bytes at 0x8 in thread 1 (LWP 4242): "
        "nothing is mapped there.\nCause: 0x8 is 8 bytes past the null pointer in rdi.\n");
}

TEST_CASE("report: the last words of a runtime are the cause where nothing else is seen") {
  const Crash ended(Bytes{0x0f, 0x05}, {{"rip", kCode}, {"rsp", kStack + 0x800}}, "SIGABRT", {});
  CHECK(ended.text().find("Cause") == std::string::npos);
  const std::string text = ended.text(0, "a panic: \x1b[1m of\nnothing");
  CHECK(text.ends_with("\nCause: a panic: \\x1b[1m of\\nnothing.\n"));
  CHECK(null_access().text(0, "a panic").find("panic") == std::string::npos);
}

// What stands between the signal and the thread.
std::string accessed(const Bytes& instruction, Crash::Values values, Address fault, int code = 1) {
  values.insert(values.end(), {{"rip", kCode}, {"rsp", kStack + 0x800}});
  const std::string text =
      Crash(instruction, values, "SIGSEGV", {.code = code, .address = fault, .pid = 1}).text();
  const std::string before = "was ended by SIGSEGV";
  const std::size_t begin = text.find(before) + before.size();
  return text.substr(begin, text.find(" in thread") - begin);
}

TEST_CASE("report: a verb is told of the operand that the fault's address lies in, and no other") {
  const Bytes copy{0xa4};  // movsb byte ptr [rdi], byte ptr [rsi]
  CHECK(accessed(copy, {{"rdi", 0x5000}, {"rsi", 0x6000}}, 0x5000) == " writing 1 byte at 0x5000");
  CHECK(accessed(copy, {{"rdi", 0x5000}, {"rsi", 0x6000}}, 0x6000) == " reading 1 byte at 0x6000");
  CHECK(accessed(copy, {{"rdi", 0x5000}, {"rsi", 0x6000}}, 0x7000) == " at 0x7000");
  CHECK(accessed(copy, {{"rdi", 0x5000}, {"rsi", 0x5000}}, 0x5000) == " at 0x5000");
  CHECK(accessed(copy, {{"rdi", 0x5000}}, 0x5000) == " at 0x5000");  // it may be the other one
  const Bytes pushed{0xff, 0x37};                                    // push qword ptr [rdi]
  CHECK(accessed(pushed, {{"rdi", 0x5000}}, 0x5004) ==
        " reading 8 bytes from 0x5000 on, at 0x5004");
  CHECK(accessed(pushed, {{"rdi", 0x5000}}, kStack + 0x7f8) == " writing 8 bytes at 0x7ff7f8");
  CHECK(accessed(pushed, {{"rdi", 0x5000}}, 0x9000) == " at 0x9000");
}

TEST_CASE("report: all turns of a copy that are left count, up or down") {
  const Bytes copy{0xf3, 0xa5};  // rep movsd
  const Crash::Values up{{"rdi", 0x5000}, {"rsi", 0x9000}, {"rcx", 0x10}, {"eflags", 2}};
  CHECK(accessed(copy, up, 0x503c) == " writing at 0x503c");
  CHECK(accessed(copy, up, 0x5040) == " at 0x5040");
  CHECK(accessed(copy, up, 0x9004) == " reading at 0x9004");
  const Crash::Values down{{"rdi", 0x5000}, {"rsi", 0x5020}, {"rcx", 8}, {"eflags", 0x402}};
  CHECK(accessed(copy, down, 0x4ff0) == " writing at 0x4ff0");
  CHECK(accessed(copy, down, 0x5000) == " writing at 0x5000");
  CHECK(accessed(copy, down, 0x5020) == " reading at 0x5020");
  const Crash::Values near{{"rdi", 0x5000}, {"rsi", 0x5020}, {"rcx", 16}, {"eflags", 2}};
  CHECK(accessed(copy, near, 0x5030) == " at 0x5030");  // of both
}

TEST_CASE("report: an access whose address is not known is the one where no other is") {
  const Bytes by_segment{0x64, 0x8b, 0x07};           // mov eax, fs:[rdi]
  const Bytes stored{0x64, 0x89, 0x07};               // mov fs:[rdi], eax
  const Bytes of_both{0x64, 0xff, 0x37};              // push qword ptr fs:[rdi]
  const Bytes bit{0x0f, 0xab, 0x07};                  // bts dword ptr [rdi], eax
  const Bytes unknown{0x66, 0x0f, 0x38, 0xf8, 0x3e};  // movdir64b rdi, [rsi]
  CHECK(accessed(by_segment, {{"rdi", 0x5000}}, 0x7005000) == " reading at 0x7005000");
  CHECK(accessed(stored, {{"rdi", 0x5000}}, 0x7005000) == " writing at 0x7005000");
  CHECK(accessed(of_both, {{"rdi", 0x5000}}, kStack + 0x7f8) == " at 0x7ff7f8");
  CHECK(accessed(bit, {{"rdi", 0x5000}, {"rax", 0}}, 0x5004) == " reading and writing at 0x5004");
  CHECK(accessed(by_segment, {{"rdi", 0x5000}}, kCode + 1) == " at 0x401001");  // it may be fetched
  CHECK(accessed(unknown, {{"rdi", 0x5000}, {"rsi", 0x6000}}, 0x6000) == " at 0x6000");
}

TEST_CASE("report: what a script gets has the last words, in the sentence and by themselves") {
  const Crash ended(Bytes{0x0f, 0x05}, {{"rip", kCode}, {"rsp", kStack + 0x800}}, "SIGABRT", {});
  CHECK(ended.json("a panic").find("thread 1 (LWP 4242). Cause: a panic.\"") != std::string::npos);
  CHECK(ended.json("a panic").find("\"last_words\": \"a panic\"") != std::string::npos);
  CHECK(ended.json({}).find("\"last_words\": null") != std::string::npos);
  CHECK(ended.json({}).find("Cause") == std::string::npos);
}

TEST_CASE("report: a live program is stopped, a thread that did not crash has no word") {
  Crash crash = null_access();
  crash.image().core_path.clear();
  CHECK(crash.text().starts_with(
      "\"./orders --fast 3\" was stopped by SIGSEGV reading 4 bytes at 0x8"));
  crash.trace().head.crashed = false;
  CHECK(crash.text().empty());
}

TEST_CASE("report: an address that is far from null proves no null pointer") {
  const Crash crash(kLoad, {{"rip", kCode}, {"rsp", kStack + 0x800}, {"rdi", 0x5000}}, "SIGSEGV",
                    {.code = 1, .address = 0x5008, .pid = 0x5008});
  CHECK(crash.text() ==
        "\"./orders --fast 3\" was ended by SIGSEGV reading 4 bytes at 0x5008 in thread 1 "
        "(LWP 4242): nothing is mapped there.\n");
}

TEST_CASE("report: the kernel's address is none where a process sent the signal") {
  const Crash crash(kLoad, {{"rip", kCode}, {"rsp", kStack + 0x800}, {"rdi", 0}}, "SIGSEGV",
                    {.code = 0, .address = 7, .pid = 7});
  CHECK(crash.text() ==
        "\"./orders --fast 3\" was ended by SIGSEGV in thread 1 (LWP 4242): process 7 sent the "
        "signal.\n");
}

TEST_CASE("report: the divisor tells two faults of a division apart") {
  const auto told = [](std::uint64_t divisor) {
    return Crash(kDivide, {{"rip", kCode}, {"rsp", kStack + 0x800}, {"rcx", divisor}}, "SIGFPE",
                 {.code = 1, .address = kCode, .pid = 1})
        .text();
  };
  CHECK(told(0xffffffff00000000).ends_with(": an integer was divided by zero.\n"));
  CHECK(told(0xffffffff).ends_with(": the quotient of a division by 0xffffffff has no room.\n"));
}

TEST_CASE("report: control that went to where no code is") {
  const Crash crash(kLoad, {{"rip", 0}, {"rsp", kStack + 0x800}}, "SIGSEGV",
                    {.code = 1, .address = 0, .pid = 0});
  CHECK(crash.text().find(
            "Cause: control went to address 0, by a pointer to a function or by a return.\n") !=
        std::string::npos);
}

TEST_CASE("report: arguments are a stranger's, and no wider than the screen") {
  Crash crash = null_access();
  crash.image().command_line.text = "./orders \x1b[31m\n\xe2\x80\xae\xff " + std::string(60, 'x');
  const std::string text = crash.text(80);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.starts_with("\"orders \\x1b[31m"));
  CHECK(text.find("...\" was ended by SIGSEGV reading 4 bytes") != std::string::npos);
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CHECK(line.size() < 80);
  }
  CHECK(count == 3);
}

TEST_CASE("report: what the kernel has cut off is marked") {
  Crash crash = null_access();
  crash.image().command_line.cut = true;
  CHECK(crash.text().starts_with("\"./orders --fast 3...\" was ended"));
  crash.image().command_line = {};
  crash.image().exe_path = "/srv/bin/orders";
  CHECK(crash.text().starts_with("orders was ended by SIGSEGV reading 4 bytes at 0x8"));
}

}  // namespace
}  // namespace whocall::test
