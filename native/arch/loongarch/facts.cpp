// LoongArch of 64 bits: the LoongArch ELF psABI; <asm/ptrace.h> and <asm/sigcontext.h> of Linux.
#include "arch/loongarch/facts.h"

#include <algorithm>
#include <array>

#include "arch/fixed_width.h"
#include "arch/loongarch/addresses.h"
#include "arch/loongarch/decoder.h"
#include "arch/loongarch/fields.h"
#include "arch/loongarch/frame_facts.h"
#include "arch/loongarch/linkage.h"
#include "arch/named_addresses.h"

namespace whocall {
namespace {

using namespace std::string_view_literals;

constexpr std::array kLoongArchGdbNames = {"Loongarch64"sv};
constexpr std::array kLoongArchHosts = {"loongarch64"sv};
constexpr std::array<Register, 10> kLoongArchCalleeSaved = {22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
constexpr std::array<Register, 8> kLoongArchArguments = {4, 5, 6, 7, 8, 9, 10, 11};

// The general registers by their numbers, and the pc.
constexpr auto kLoongArchNames = [] {
  std::array<std::string_view, loongarch::kPc + 1> names{};
  std::ranges::copy(loongarch::kNames, names.begin());
  names[loongarch::kPc] = "pc";
  return names;
}();

template <std::uint32_t Base, std::uint32_t Pc>
constexpr auto kLoongArchSaved = [] {
  std::array<SavedRegister, 32> registers{};
  registers[0] = {loongarch::kPc, Pc};  // the register of that number is always 0
  for (std::uint32_t number = 1; number < registers.size(); ++number) {
    registers[number] = {static_cast<Register>(number), Base + 8U * number};
  }
  return registers;
}();
// struct user_pt_regs: behind the registers stands the first argument of a system call, then the
// pc.
constexpr auto kLoongArchUser = kLoongArchSaved<0, 8 * 33>;

// At the trampoline sp stands at siginfo (128 bytes); in the ucontext behind it the sigcontext
// begins at the next multiple of 16 behind the signal mask's 128 bytes: the pc, then the registers.
// uc_flags, uc_link and the first register are zero.
constexpr std::uint32_t kLoongArchContext = 128 + 176;
constexpr auto kLoongArchInterrupted = kLoongArchSaved<kLoongArchContext + 8, kLoongArchContext>;
constexpr std::array<ContextMark, 3> kLoongArchMarks = {
    {{128, 8, ~std::uint64_t{0}, 0},
     {136, 8, ~std::uint64_t{0}, 0},
     {kLoongArchContext + 8, 8, ~std::uint64_t{0}, 0}}};
constexpr std::array<SignalTrampoline, 1> kLoongArchTrampolines = {
    {{"rt_sigreturn", loongarch::kRtSigreturn, 0, false, kLoongArchInterrupted, kLoongArchMarks}}};

// li.w a7,__NR_clone, or __NR_clone3; syscall 0; li.w a7,__NR_exit; syscall 0
constexpr std::array<std::uint8_t, 8> kLoongArchClone = {0x0b, 0x70, 0x83, 0x03,
                                                         0x00, 0x00, 0x2b, 0x00};
constexpr std::array<std::uint8_t, 8> kLoongArchClone3 = {0x0b, 0xcc, 0x86, 0x03,
                                                          0x00, 0x00, 0x2b, 0x00};
constexpr std::array<std::uint8_t, 8> kLoongArchExit = {0x0b, 0x74, 0x81, 0x03,
                                                        0x00, 0x00, 0x2b, 0x00};
constexpr std::array<ThreadStart, 2> kLoongArchThreadStarts = {
    {{kLoongArchClone, kLoongArchExit}, {kLoongArchClone3, kLoongArchExit}}};

// GCC aligns functions to 8 bytes, and what it thinks is run often to 32.
constexpr FixedWidth kLoongArchForm{.width = loongarch::kWidth,
                                    .function_alignment = 8,
                                    .sp = loongarch::kSp,
                                    .link = loongarch::kRa};
using LoongArchCode = FixedWidthCode<loongarch::Decoder, kLoongArchForm>;
using LoongArchAddresses =
    NamedAddresses<loongarch::Decoder, loongarch::Addresses, loongarch::kWidth>;

void append_loongarch_start_marks(ByteView code, Address address, StartMarks& marks) {
  LoongArchCode::append_start_marks(code, address, marks);
  LoongArchAddresses::append_taken_code(code, address, marks.address_taken);
}

Architecture loongarch64() {
  Architecture arch;
  arch.name = "loongarch64";
  arch.family = "loongarch";
  arch.gdb_names = kLoongArchGdbNames;
  arch.abi = {.elf_machine = loongarch::kElfMachine,
              .pointer_size = 8,
              .host_names = kLoongArchHosts,
              .image_name = "loong64"};
  arch.registers = {.names = kLoongArchNames,
                    .size = 8,
                    .pc = loongarch::kPc,
                    .sp = loongarch::kSp,
                    .fp = loongarch::kFp,
                    .return_address = loongarch::kRa,
                    .link = loongarch::kRa,
                    .callee_saved = kLoongArchCalleeSaved,
                    .thread_pointer = loongarch::kTp,
                    .arguments = kLoongArchArguments};
  arch.frame.chain = FrameChain{.kind = FrameChain::Kind::frame_pointer,
                                .base = loongarch::kFp,
                                .link_offset = loongarch::kLinkBelowFrame,
                                .return_address_offset = loongarch::kReturnBelowFrame};
  arch.code = LoongArchCode::model();
  arch.code.append_start_marks = append_loongarch_start_marks;
  arch.code.append_constant_addresses = LoongArchAddresses::append_constant_addresses;
  arch.code.append_named_addresses = LoongArchAddresses::append_named_addresses;
  arch.os = {.prstatus = {.size = 480,
                          .lwp_offset = 32,
                          .registers_offset = 112,
                          .registers_size = 360,
                          .registers = kLoongArchUser},
             .signal_trampolines = kLoongArchTrampolines,
             .thread_starts = kLoongArchThreadStarts};
  arch.linkage = {.jump_stub = loongarch::jump_stub, .startup = loongarch::startup};
  return arch;
}

}  // namespace

const Architecture kLoongArch64 = loongarch64();

}  // namespace whocall
