// ARM of 32 bits, A32 and T32: the Procedure Call Standard and the DWARF of the Arm Architecture;
// <asm/ptrace.h> and <asm/sigcontext.h> of Linux.
#include "arch/arm/facts.h"

#include <elf.h>

#include "arch/arm/code.h"
#include "arch/arm/constants.h"
#include "arch/arm/decoder.h"
#include "arch/arm/fields.h"
#include "arch/arm/linkage.h"
#include "arch/arm/relocations.h"
#include "arch/arm/value_reader.h"

namespace whocall {
namespace {

using namespace std::string_view_literals;

using arm::kFlags;
using arm::kFp;

constexpr std::array kGdbNames = {
    "arm"sv,    "armv2"sv,   "armv2a"sv,  "armv3"sv,          "armv3m"sv,   "armv4"sv,
    "armv4t"sv, "armv5"sv,   "armv5t"sv,  "armv5te"sv,        "armv5tej"sv, "xscale"sv,
    "iwmmxt"sv, "iwmmxt2"sv, "armv6"sv,   "armv6k"sv,         "armv6t2"sv,  "armv6kz"sv,
    "armv7"sv,  "armv8-a"sv, "armv8-r"sv, "armv8.1-m.main"sv, "arm_any"sv};
// Those of machines of 64 bits that run its programs as well.
constexpr std::array kHostNames = {"armv5tel"sv, "armv6l"sv,  "armv7l"sv,    "armv7b"sv,
                                   "armv8l"sv,   "aarch64"sv, "aarch64_be"sv};
constexpr std::array<Register, 8> kCalleeSaved = {4, 5, 6, 7, 8, 9, 10, kFp};
constexpr std::array<Register, 4> kArguments = {0, 1, 2, 3};

// struct pt_regs, and the same behind three words of struct sigcontext.
template <std::uint32_t Base>
constexpr auto kSaved = [] {
  std::array<SavedRegister, 17> registers{};
  for (std::uint32_t number = 0; number < registers.size(); ++number) {
    registers[number] = {static_cast<Register>(number), Base + 4U * number, 4};
  }
  return registers;
}();

// sigreturn finds a ucontext at sp, rt_sigreturn one behind siginfo (128 bytes); in the ucontext
// 20 bytes stand before the sigcontext.
constexpr std::uint32_t kContext = 20 + 12;
constexpr std::uint32_t kRtContext = 128 + kContext;
// User mode with interrupts on.
template <std::uint32_t Base>
constexpr std::array<ContextMark, 1> kMarks = {{{Base + 4 * kFlags, 4, 0xdf, 0x10}}};
constexpr std::array<SignalTrampoline, 6> kTrampolines = {
    {{"sigreturn", arm::kSigreturn, 0, false, kSaved<kContext>, kMarks<kContext>},
     {"rt_sigreturn", arm::kRtSigreturn, 0, false, kSaved<kRtContext>, kMarks<kRtContext>},
     {"sigreturn", arm::kThumbSigreturn, 0, false, kSaved<kContext>, kMarks<kContext>},
     {"rt_sigreturn", arm::kThumbRtSigreturn, 0, false, kSaved<kRtContext>, kMarks<kRtContext>},
     {"sigreturn", arm::kWideSigreturn, 0, false, kSaved<kContext>, kMarks<kContext>},
     {"rt_sigreturn", arm::kWideRtSigreturn, 0, false, kSaved<kRtContext>, kMarks<kRtContext>}}};

// mov r7,#__NR_clone; svc #0; mov r7,#__NR_exit; svc #0; in T32 and in A32
constexpr std::array<std::uint8_t, 6> kThumbClone = {0x4f, 0xf0, 0x78, 0x07, 0x00, 0xdf};
constexpr std::array<std::uint8_t, 6> kThumbExit = {0x4f, 0xf0, 0x01, 0x07, 0x00, 0xdf};
constexpr std::array<std::uint8_t, 8> kClone = {0x78, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef};
constexpr std::array<std::uint8_t, 8> kExit = {0x01, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef};
constexpr std::array<ThreadStart, 2> kThreadStarts = {{{kThumbClone, kThumbExit}, {kClone, kExit}}};

// MDRawContextARM of Breakpad: the same registers behind a word of flags.
constexpr auto kArmContextFields = [] {
  std::array<ContextField, 17> fields{};
  std::uint16_t at = 0;
  for (ContextField& field : fields) {
    field = {static_cast<std::uint16_t>(4 + at), 4, at};
    at += 4;
  }
  return fields;
}();
constexpr std::array<MinidumpContext, 1> kArmContexts = {{{72, 0, kArmContextFields}}};
constexpr std::array<std::uint16_t, 1> kArmProcessors = {5};

// Of big-endian code, which went before (BE32), nothing is known here. Cores say nothing of it.
bool is_be8(std::uint32_t flags) { return flags == 0 || (flags & EF_ARM_BE8) != 0; }

template <Endian Data>
std::unique_ptr<InstructionDecoder> make_decoder(const CodeReader& around) {
  return std::make_unique<arm::Decoder>(around, Data);
}

template <Endian Data>
Architecture row(std::string_view name) {
  Architecture arch;
  arch.name = name;
  arch.family = "arm";
  arch.gdb_names = kGdbNames;
  arch.abi = {.elf_machine = arm::kElfMachine,
              .pointer_size = 4,
              .endian = Data,
              .accepts = Data == Endian::big ? is_be8 : nullptr,
              .call_alignment = 8,
              .host_names = kHostNames,
              .image_name = Data == Endian::little ? "arm" : "",
              .flirt_processor = 13};
  arch.registers = {.names = arm::kNames,
                    .size = 4,
                    .pc = arm::kPc,
                    .sp = arm::kSp,
                    .fp = kFp,
                    .other_fp = arm::kThumbFp,
                    .return_address = arm::kLink,
                    .link = arm::kLink,
                    .callee_saved = kCalleeSaved,
                    .mode = ModeBit{.status = kFlags, .bit = 0x20, .usual = 0x10},
                    .arguments = kArguments};
  arch.code.pointer_mask = ~Address{arm::kThumbBit};
  arch.code.function_alignment = 4;
  arch.code.alignment = 2;
  arch.code.call_before = arm::call_before;
  arch.code.longest_call = 4;
  arch.code.append_start_marks = arm::append_start_marks;
  arch.code.features_at_start = arm::features_at_start;
  arch.code.flow_ends = arm::flow_ends;
  arch.code.append_direct_jumps = arm::append_direct_jumps;
  arch.code.append_constant_addresses = arm::append_constant_addresses<Data>;
  arch.code.append_named_addresses = arm::append_named_addresses<Data>;
  arch.code.make_decoder = make_decoder<Data>;
  arch.code.make_value_reader = arm::make_value_reader;
  arch.os = {.prstatus = {.size = 148,
                          .lwp_offset = 24,
                          .registers_offset = 72,
                          .registers_size = 72,
                          .registers = kSaved<0>},
             .signal_trampolines = kTrampolines,
             .thread_starts = kThreadStarts};
  arch.linkage = {
      .smallest_slot = 12, .jump_stub = arm::jump_stub<Data>, .startup = arm::startup<Data>};
  if (Data == Endian::little) {  // of BE8 the linker turns the instructions round
    arch.linkage.relocations = arm::relocations;
    arch.linkage.got_target = arm::got_target;
    arch.minidump = {.processors = kArmProcessors,
                     .microdump_processor = "arm",
                     .contexts = kArmContexts,
                     .system_call = 68};
  }
  return arch;
}

}  // namespace

const Architecture kArm = row<Endian::little>("arm");
const Architecture kArmeb = row<Endian::big>("armeb");

}  // namespace whocall
