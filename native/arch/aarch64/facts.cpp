// AArch64: the Procedure Call Standard and the DWARF of the Arm 64-bit Architecture; <sys/procfs.h>
// and <asm/sigcontext.h> of Linux.
#include "arch/aarch64/facts.h"

#include <elf.h>

#include <algorithm>
#include <array>

#include "arch/aarch64/constants.h"
#include "arch/aarch64/decoder.h"
#include "arch/aarch64/linkage.h"
#include "arch/aarch64/relocations.h"
#include "arch/aarch64/value_reader.h"
#include "arch/fixed_width.h"
#include "arch/linked_return_path.h"

namespace whocall {
namespace {

using namespace std::string_view_literals;

using aarch64::kFlags;
using aarch64::kPc;
constexpr Register kGoroutine = 28;

constexpr std::array kGdbNames = {"aarch64"sv};
constexpr std::array kHostNames = {"aarch64"sv, "aarch64_be"sv};
constexpr std::array<Register, 11> kCalleeSaved = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
constexpr std::array<Register, 8> kArguments = {0, 1, 2, 3, 4, 5, 6, 7};

// struct user_pt_regs, and the same behind the address of a fault in struct sigcontext.
template <std::uint32_t Base>
constexpr auto kSaved = [] {
  std::array<SavedRegister, 34> registers{};
  for (std::uint32_t number = 0; number < registers.size(); ++number) {
    registers[number] = {static_cast<Register>(number), Base + 8U * number};
  }
  return registers;
}();

// At the trampoline sp stands at siginfo (128 bytes); in the ucontext behind it the sigcontext
// begins at the next multiple of 16 behind the signal mask's 128 bytes.
constexpr std::uint32_t kContext = 128 + 176 + 8;
// User mode, 64-bit; the upper half is always zero. So are uc_flags and uc_link.
constexpr std::array<ContextMark, 3> kMarks = {{{kContext + 8 * kFlags, 8, 0xffffffff0000001f, 0},
                                                {128, 8, ~std::uint64_t{0}, 0},
                                                {136, 8, ~std::uint64_t{0}, 0}}};
constexpr std::array<SignalTrampoline, 1> kTrampolines = {
    {{"rt_sigreturn", aarch64::kRtSigreturn, 0, false, kSaved<kContext>, kMarks}}};

// mov x8,#__NR_clone, or __NR_clone3; svc #0; mov x8,#__NR_exit; svc #0
constexpr std::array<std::uint8_t, 8> kClone = {0x88, 0x1b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
constexpr std::array<std::uint8_t, 8> kClone3 = {0x68, 0x36, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
constexpr std::array<std::uint8_t, 8> kExit = {0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
constexpr std::array<ThreadStart, 2> kThreadStarts = {{{kClone, kExit}, {kClone3, kExit}}};

// CONTEXT of ARM64 (winnt.h): flags, the status, 31 registers, sp and pc. Breakpad's own of old has
// flags of 64 bits, of which one tells it, and the status behind all.
template <std::uint16_t Status>
constexpr auto kArm64ContextFields = [] {
  std::array<ContextField, 34> fields{};
  for (std::uint16_t at = 0; at < 8 * 33; at += 8) {
    fields[at / 8] = {static_cast<std::uint16_t>(8 + at), 8, at};
  }
  fields.back() = {Status, 4, 8 * kFlags};
  return fields;
}();
constexpr std::array<MinidumpContext, 2> kArm64Contexts = {
    {{276, 0x80000000, kArm64ContextFields<272>}, {272, 0, kArm64ContextFields<4>}}};
constexpr std::array<std::uint16_t, 2> kArm64Processors = {12, 0x8003};

constexpr FixedWidth kForm{.width = 4, .sp = aarch64::kSp, .link = aarch64::kLink};
using Code = FixedWidthCode<aarch64::Decoder, kForm>;

void append_start_marks(ByteView code, Address address, StartMarks& marks) {
  Code::append_start_marks(code, address, marks);
  aarch64::append_taken_code(code, address, marks.address_taken);
}

// The stack pointer may be kept in any register that calls preserve.
constexpr auto kKept = [] {
  std::array<Register, kCalleeSaved.size() + 1> registers{};
  std::ranges::copy(kCalleeSaved, registers.begin());
  registers.back() = aarch64::kSp;
  return registers;
}();
constexpr LinkedReturn kReturn{.sp = aarch64::kSp,
                               .fp = aarch64::kFp,
                               .link = aarch64::kLink,
                               .goroutine = kGoroutine,
                               .kept = kKept,
                               .registers = kPc};

std::optional<ReturnPath> return_path(ByteView code, Address address, std::uint64_t at) {
  return at % kForm.width == 0 ? kReturn.path(Code::decoder(), code, address, at) : std::nullopt;
}

Architecture row(std::string_view name, Endian data) {
  Architecture arch;
  arch.name = name;
  arch.family = "aarch64";
  arch.gdb_names = kGdbNames;
  arch.abi = {.elf_machine = aarch64::kElfMachine,
              .pointer_size = 8,
              .endian = data,
              .host_names = kHostNames};
  arch.abi.image_name = data == Endian::little ? "arm64" : "";
  arch.abi.flirt_processor = 13;
  arch.registers = {.names = aarch64::kNames,
                    .size = 8,
                    .pc = kPc,
                    .sp = aarch64::kSp,
                    .fp = aarch64::kFp,
                    .return_address = aarch64::kLink,
                    .link = aarch64::kLink,
                    .callee_saved = kCalleeSaved,
                    .arguments = kArguments};
  arch.frame.chain = FrameChain{.kind = FrameChain::Kind::frame_record,
                                .base = aarch64::kFp,
                                .link_offset = aarch64::kLinkInRecord,
                                .return_address_offset = aarch64::kReturnInRecord};
  arch.frame.go = GoFrames{
      .goroutine = kGoroutine, .clone_stack = 1, .saved_fp = -8, .pushed_by_injection = 16};
  arch.code = Code::model();
  arch.code.append_start_marks = append_start_marks;
  arch.code.return_path = return_path;
  arch.code.make_value_reader = aarch64::make_value_reader;
  arch.code.append_constant_addresses = aarch64::append_constant_addresses;
  arch.code.append_named_addresses = aarch64::append_named_addresses;
  // Kernels with smaller or larger addresses say so.
  arch.code.pointer_mask = (Address{1} << aarch64::kAddressBits) - 1;
  arch.os = {
      .prstatus = {.size = 392,
                   .lwp_offset = 32,
                   .registers_offset = 112,
                   .registers_size = 272,
                   .registers = kSaved<0>},
      .signatures = {.type = NT_ARM_PAC_MASK, .offset = 8},  // struct user_pac_mask: insn_mask
      .signal_trampolines = kTrampolines,
      .thread_starts = kThreadStarts};
  arch.linkage = {.jump_stub = aarch64::jump_stub,
                  .startup = aarch64::startup,
                  .relocations = aarch64::relocations,
                  .got_target = aarch64::got_target};
  if (data == Endian::little) {
    arch.minidump = {
        .processors = kArm64Processors, .microdump_processor = "arm64", .contexts = kArm64Contexts};
  }
  return arch;
}

}  // namespace

const Architecture kAArch64 = row("aarch64", Endian::little);
const Architecture kAArch64Be = row("aarch64_be", Endian::big);

}  // namespace whocall
