// Layouts: struct rt_sigframe of Linux (arch/x86/include/asm/sigframe.h, arch/arm64/kernel/
// signal.c), struct sigcontext, siginfo_t; the error code of x86's page faults (Intel's manual,
// volume 3, 4.7), and AArch64's ESR_EL1 (Arm ARM, D17.2.37).
#include "report/causes/handled_fault.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/hex.h"
#include "report/causes/faults.h"
#include "unwind/judge/signal_context.h"

namespace whocall {
namespace {

constexpr std::size_t kDeepestHandler = 64;  // frames

struct HandledSignal {
  std::string_view name;
  int code = 0;
  std::optional<Address> address{};
  std::string_view verb{};  // "reading"; empty where the processor's word is not there
};

class SignalFrameWords {
 public:
  // `sp` is the trampoline's.
  SignalFrameWords(const Scene& scene, Address sp) : scene_(scene), sp_(sp) {}

  // A miss where it is no signal of a fault, as the kernel writes it.
  [[nodiscard]] std::optional<HandledSignal> read() const {
    const auto info = place_of_info();
    const auto number = info ? half_at(*info) : std::nullopt;
    const auto code = info ? half_at(*info + 8) : std::nullopt;
    const std::string_view name = name_of(number.value_or(0));
    // The kernel sends what a fault raised; a process's code is not above 0.
    if (!code || name.empty() || *code == 0 || *code >= kFromKernel) {
      return std::nullopt;
    }
    HandledSignal found{.name = name, .code = static_cast<int>(*code)};
    if (!tells_fault_address(scene_.arch(), name, found.code)) {
      return found;
    }
    found.address = scene_.word_at(*info + (is_64() ? 16 : 12));
    if (found.address) {
      found.verb = is_x86(scene_.arch()) ? by_page_fault(*found.address) : by_syndrome();
    }
    return found;
  }

 private:
  [[nodiscard]] bool is_64() const { return scene_.arch().abi.pointer_size == 8; }
  [[nodiscard]] std::optional<std::uint64_t> half_at(Address at) const {
    return scene_.image().memory->read_unsigned(at, 4, scene_.arch().abi.endian);
  }

  static std::string_view name_of(std::uint64_t number) {
    constexpr std::pair<std::uint64_t, std::string_view> kNames[] = {
        {4, "SIGILL"}, {5, "SIGTRAP"}, {7, "SIGBUS"}, {8, "SIGFPE"}, {11, "SIGSEGV"}};
    const auto* const found =
        std::ranges::find(kNames, number, &std::pair<std::uint64_t, std::string_view>::first);
    return found == std::end(kNames) ? std::string_view() : found->second;
  }

  // Of siginfo_t. i386 has it where the handler's second argument says, if the handler takes one.
  [[nodiscard]] std::optional<Address> place_of_info() const {
    if (scene_.arch().name == "x86_64") {
      return sp_ + 304;
    }
    if (scene_.arch().name == "aarch64") {
      return sp_;
    }
    const auto context = scene_.arch().name == "i386" ? context_of_i386() : std::nullopt;
    return context ? scene_.word_at(sp_ + 4) : std::nullopt;
  }
  [[nodiscard]] std::optional<Address> context_of_i386() const {
    const auto info = scene_.word_at(sp_ + 4);
    const auto context = scene_.word_at(sp_ + 8);
    // Both lie in the frame: without SA_SIGINFO registers stand there.
    const bool lie_there =
        info && context && *info > sp_ && *context > *info && *context - sp_ < 4096;
    return lie_there ? context : std::nullopt;
  }

  // By trap number, error code and cr2, which the kernel leaves as they were for other signals.
  [[nodiscard]] std::string_view by_page_fault(Address address) const {
    constexpr std::uint64_t kPageFault = 14;
    const auto context = is_64() ? std::optional(sp_) : context_of_i386();
    const Address at = context.value_or(0) + (is_64() ? 40 : 20);  // struct sigcontext
    const auto trap = is_64() ? scene_.word_at(at + 160) : scene_.word_at(at + 48);
    const auto error = is_64() ? scene_.word_at(at + 152) : scene_.word_at(at + 52);
    const auto place = is_64() ? scene_.word_at(at + 176) : scene_.word_at(at + 84);
    if (!context || trap != kPageFault || !error || place != address) {
      return {};
    }
    return (*error & 16U) != 0 ? "executing" : (*error & 2U) != 0 ? "writing" : "reading";
  }

  // By the record of the exception's syndrome among those behind the registers.
  [[nodiscard]] std::string_view by_syndrome() const {
    constexpr std::uint64_t kSyndrome = 0x45535201;
    constexpr Address kRecords = 128 + 176 + 288;  // siginfo_t, up to uc_mcontext, its registers
    constexpr Address kMost = 4096;
    for (Address at = 0; at + 16 <= kMost;) {
      const auto magic = half_at(sp_ + kRecords + at);
      const auto size = half_at(sp_ + kRecords + at + 4);
      if (!magic || !size || *size < 8 || *size % 8 != 0) {
        return {};
      }
      if (*magic == kSyndrome) {
        return verb_of_syndrome(scene_.word_at(sp_ + kRecords + at + 8).value_or(0));
      }
      at += *size;
    }
    return {};
  }
  static std::string_view verb_of_syndrome(std::uint64_t syndrome) {
    const std::uint64_t exception = syndrome >> 26U & 0x3fU;
    if (exception == 0x20) {  // fetched, by a program
      return "executing";
    }
    const bool is_maintenance = (syndrome >> 8U & 1U) != 0;  // of a cache, told as a write
    if (exception != 0x24 || is_maintenance) {
      return {};
    }
    return (syndrome >> 6U & 1U) != 0 ? "writing" : "reading";
  }

  const Scene& scene_;
  Address sp_;
};

std::string told_of(const Scene& scene, const HandledSignal& handled, const std::string& who) {
  const std::string_view meaning = fault_meaning(scene.arch(), handled.name, handled.code);
  std::string text = "that was in a handler of " + std::string(handled.name) + ", raised by " + who;
  if (handled.address) {
    text += handled.verb.empty() ? "" : " " + std::string(handled.verb);
    text += (handled.verb == "executing" ? " " : " at ") + hex(*handled.address);
  }
  return meaning.empty() ? text : text + ": " + std::string(meaning);
}

}  // namespace

std::optional<Fact> handled_fault(const Scene& scene) {
  const std::size_t most = std::min(kDeepestHandler, scene.walk().size());
  for (std::size_t level = 0; level + 1 < most; ++level) {
    const FrameFacts facts(scene.walk(), level);
    const Frame& frame = facts.frame();
    if (frame.trust == Trust::scan || facts.rests_on()) {
      return std::nullopt;
    }
    if (!frame.signal_trampoline || trampoline_at(frame.pc, scene.image()) == nullptr) {
      continue;
    }
    const auto handled = SignalFrameWords(scene, frame.sp).read();
    if (!handled) {
      return std::nullopt;
    }
    const std::string who =
        "#" + std::to_string(level + 1) + ", " + named(FrameFacts(scene.walk(), level + 1));
    return Fact{"handled", told_of(scene, *handled, who),
                "#" + std::to_string(level) +
                    " is the kernel's frame of that handler, with si_code " +
                    std::to_string(handled->code)};
  }
  return std::nullopt;
}

}  // namespace whocall
