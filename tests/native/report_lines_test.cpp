// Lines of frames: what stands under them in full.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arch/mips/facts.h"
#include "arch/x86/x86_64_facts.h"
#include "report/form/file_display.h"
#include "report/short_names.h"
#include "report/threads_text.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kStack = 0x70000000;

std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i);
  }
  return bytes;
}

// Frames of a program without names whose stack has 256 readable bytes from kStack on, which count
// up; the first frame begins there.
class Stacked {
 public:
  explicit Stacked(const Architecture& arch = kX86_64) : arch_(arch), process_(arch) {
    process_.code(kCode, 0x1000);
    process_.map(kStack, counting(256), "rw-");
    image_ = process_.image();
    symbolizer_ = std::make_unique<Symbolizer>(*image_);
    made_.stop = {StopReason::end_of_stack, "nothing called it"};
  }

  // A frame whose stack ends at `cfa`.
  Stacked& frame(Address cfa, std::string explanation = {}, Trust trust = Trust::cfi) {
    Frame frame;
    frame.pc = kCode + 16 * made_.frames.size();
    frame.sp = made_.frames.empty() ? kStack : made_.frames.back().cfa;
    frame.cfa = cfa;
    frame.trust = trust;
    made_.frames.push_back(frame);
    made_.details.emplace_back().explanation = std::move(explanation);
    return *this;
  }
  // The last one stands where the one before it does.
  Stacked& again(EvidenceSet evidence) {
    made_.frames.back().pc = made_.frames[made_.frames.size() - 2].pc;
    made_.frames.back().evidence = evidence;
    return *this;
  }
  Stacked& registers(const Registers& values) {
    made_.details.back().registers = std::make_shared<const Registers>(values);
    return *this;
  }
  Stacked& stop(Stop stop) {
    made_.stop = std::move(stop);
    return *this;
  }

  Stacked& of(Backtrace made) {
    made_ = std::move(made);
    return *this;
  }

  [[nodiscard]] const Memory* memory() const { return image_->memory.get(); }

  std::string text(const LinesForm& lines, const ShownPart& part = {}) {
    const NamedWalk walk(made_, *symbolizer_, {});
    const Thread thread;
    const std::vector<ThreadTrace> traces = {shown_trace(thread, walk, part)};
    ThreadsText writer(traces, arch_, {.lines = lines});
    std::string text;
    for (std::string block; writer.append_block(block); block.clear()) {
      text += block;
    }
    return text;
  }
  // Where `near` is what the code at the last frame's place tells.
  std::string text_near(NearPlace near) {
    const NamedWalk walk(made_, *symbolizer_, {.lines = false});  // all frames there have one place
    const Thread thread;
    const std::vector<ThreadTrace> traces = {shown_trace(thread, walk, {})};
    LineNames names{ShortNames(traces), FileNames(FileDisplay::relative, {})};
    const std::size_t last = made_.frames.size() - 1;
    names.near.emplace(traces.front().frame(last).named().place, std::move(near));
    const LinesForm form{.fold = false};
    TextLines lines(traces.front(), arch_, form, names);
    std::string text;
    while (lines.append_block(text)) {
    }
    return text;
  }
  std::string full(const ShownPart& part = {}) { return text({.stack = memory()}, part); }

 private:
  const Architecture& arch_;
  TestProcess process_;
  std::unique_ptr<ProcessImage> image_;
  std::unique_ptr<Symbolizer> symbolizer_;
  Backtrace made_;
};

TEST_CASE("report: in full are CFA, registers and the words of each frame") {
  Registers registers;
  registers.set(3, 1);  // rbx
  Stacked stacked;
  stacked.frame(kStack + 16).registers(registers).frame(kStack + 32);
  CHECK(stacked.full() ==
        "#0  0x0000000000401000 in ?? ()  [cfi]\n"
        "        sp 0x70000000, CFA 0x70000010\n"
        "        rbx    0x0000000000000001\n"
        "        0x70000000: 0x0706050403020100 0x0f0e0d0c0b0a0908\n"
        "#1  0x0000000000401010 in ?? ()  [cfi]\n"
        "        sp 0x70000010, CFA 0x70000020\n"
        "        0x70000010: 0x1716151413121110 0x1f1e1d1c1b1a1918\n");
}

TEST_CASE("report: in full it is told how many words are left out or cannot be read") {
  const std::string text = Stacked().frame(kStack + 264).frame(kStack + 8264).full();
  CHECK(text.find("        (1 more words up to the CFA left out)\n") != std::string::npos);
  CHECK(text.find("        (32 words cannot be read)\n") != std::string::npos);
  CHECK(text.find("        (968 more words up to the CFA left out)\n") != std::string::npos);
}

TEST_CASE("report: in full where the CFA is another stack's, or not known") {
  CHECK(Stacked().frame(0x1000).full().find(
            "        sp 0x70000000, CFA 0x1000\n"
            "        (the CFA lies below sp: another stack begins here)\n") != std::string::npos);
  CHECK(Stacked().frame(0).full().ends_with("        sp 0x70000000, CFA unknown\n"));
}

TEST_CASE("report: words have the size and the byte order of the machine") {
  Registers registers;
  for (Register number = 2; number < 8; ++number) {
    registers.set(number, number);
  }
  const std::string text = Stacked(kMips).frame(kStack + 4).registers(registers).full();
  CHECK(text.find("        v0     0x00000002  v1     0x00000003  a0     0x00000004  "
                  "a1     0x00000005  a2     0x00000006\n"
                  "        a3     0x00000007\n"
                  "        0x70000000: 0x00010203\n") != std::string::npos);
}

TEST_CASE("report: in full the outermost frames begin at their own stack pointers") {
  Stacked stacked;
  stacked.frame(kStack + 16).frame(kStack + 32).frame(kStack + 48);
  CHECK(stacked.full({.count = -1}).find("        sp 0x70000020, CFA 0x70000030\n") !=
        std::string::npos);
}

TEST_CASE("report: in full behind a gap") {
  Backtrace made;
  for (std::size_t i = 0; i < 101; ++i) {
    Frame frame;
    frame.pc = i < 100 ? kCode : kCode + 16;
    frame.sp = kStack + 16 * i;
    frame.cfa = frame.sp + 16;
    frame.trust = Trust::cfi;
    made.frames.push_back(frame);
  }
  const std::string text = Stacked().of(std::move(made)).full();
  CHECK(text.find("... 98 frames: the frame above repeated 98 times ...\n") != std::string::npos);
  CHECK(text.find("        sp 0x70000640, CFA 0x70000650\n") != std::string::npos);
}

TEST_CASE("report: frames that a search found have their line behind a gap") {
  Backtrace made;
  for (std::size_t i = 0; i < 61; ++i) {
    Frame frame;
    frame.pc = i < 60 ? kCode : kCode + 16;
    frame.sp = kStack + 16 * i;
    frame.cfa = frame.sp + 16;
    frame.trust = i < 60 ? Trust::cfi : Trust::scan;
    made.frames.push_back(frame);
  }
  CHECK(Stacked()
            .of(std::move(made))
            .text({})
            .find("(no rule leads on from #59: whocall searched 16 bytes of stack)\n#60 0x") !=
        std::string::npos);
}

TEST_CASE("report: a level is never glued to an address, and signals have none") {
  Stacked stacked;
  for (std::size_t i = 1; i <= 101; ++i) {
    stacked.frame(kStack + 16 * i);
  }
  const std::string text = stacked.text({.fold = false});
  for (const char* begin : {"#7  0x", "#42 0x", "#99 0x", "#100 0x"}) {
    CHECK(text.find(begin) != std::string::npos);
  }
  Backtrace made;
  made.frames.push_back({.pc = kCode, .trust = Trust::cfi, .signal_trampoline = true});
  CHECK(Stacked().of(std::move(made)).text({}).starts_with("#0  <signal handler called>  [cfi]\n"));
}

TEST_CASE("report: explanations are sentences under their frames") {
  for (const char* raw :
       {"the registers say so", "The registers say so.", "  the registers say so.. "}) {
    Stacked stacked;
    stacked.frame(kStack + 16, raw);
    CHECK(stacked.text({.explain = true}) ==
          "#0  0x0000000000401000 in ?? ()  [cfi]\n"
          "    The registers say so.\n"
          "    The stack ends here: nothing called it.\n");
    CHECK(stacked.text({}) == "#0  0x0000000000401000 in ?? ()  [cfi]\n");
  }
}

TEST_CASE("report: explained is also the end") {
  const auto end = [](Stop stop) {
    return Stacked().frame(kStack + 16).stop(std::move(stop)).text({.explain = true});
  };
  CHECK(
      end({StopReason::main, "x"}).ends_with("\n    The frames that called main are left out.\n"));
  CHECK(end({StopReason::end_of_stack, {}}).ends_with("\n    The stack ends here.\n"));
  CHECK(end({StopReason::no_caller, "x"}).ends_with("\n(whocall stopped: x)\n"));
}

TEST_CASE("report: what was searched for looks unlike what was found") {
  Stacked stacked;
  stacked.frame(kStack + 16).frame(kStack + 32, {}, Trust::scan);
  LinesForm form;
  CHECK(stacked.text(form) ==
        "#0  0x0000000000401000 in ?? ()  [cfi]\n"
        "(no rule leads on from #0: whocall searched 16 bytes of stack)\n"
        "#1  0x0000000000401010 in ?? ()  [scan?]\n");
  form.paint = {.metadata = "2", .highlight = "31"};
  const std::string painted = stacked.text(form);
  CHECK(painted.find("\x1b[2m[cfi]\x1b[0m\n") != std::string::npos);
  CHECK(painted.find("\x1b[31m[scan?]\x1b[0m\n") != std::string::npos);
}

TEST_CASE("report: how far was searched is as well told of the outermost frames alone") {
  Stacked stacked;
  stacked.frame(kStack + 16).frame(kStack + 32).frame(kStack + 64, {}, Trust::scan);
  const std::string line = "(no rule leads on from #1: whocall searched 16 bytes of stack)\n";
  CHECK(stacked.text({}).find(line) != std::string::npos);
  CHECK(stacked.text({}, {.count = -2}).find(line) != std::string::npos);
}

TEST_CASE("report: what a place is near is not told of a frame whose call led elsewhere") {
  EvidenceSet elsewhere;
  elsewhere.add(Evidence::call_elsewhere);
  const NearPlace near{"shop.c", ":7?"};
  Stacked innermost;
  innermost.frame(kStack + 16).frame(kStack + 32);
  CHECK(innermost.frame(kStack + 48).again({}).text_near(near) ==
        "#0  0x0000000000401000 in ?? ()                 [cfi]\n"
        "#1  0x0000000000401010 in ?? () near shop.c:7?  [cfi]\n"
        "#2  0x0000000000401010 in ?? () near shop.c:7?  [cfi]\n");
  Stacked other;
  other.frame(kStack + 16).frame(kStack + 32);
  CHECK(other.frame(kStack + 48).again(elsewhere).text_near(near) ==
        "#0  0x0000000000401000 in ?? ()                 [cfi]\n"
        "#1  0x0000000000401010 in ?? () near shop.c:7?  [cfi]\n"
        "#2  0x0000000000401010 in ?? ()                 [cfi]\n");
}

}  // namespace
}  // namespace whocall::test
