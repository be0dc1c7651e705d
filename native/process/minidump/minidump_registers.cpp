// What a dump tells of the processor and of the signal.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>

#include "process/minidump/minidump.h"

namespace whocall {
namespace {

constexpr std::array kFaultSignals = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV};

}  // namespace

std::optional<std::vector<std::byte>> registers_of_context(ByteView context,
                                                           const Architecture& arch) {
  const auto first = context.read<std::uint32_t>(0);
  const auto layout = std::ranges::find_if(
      arch.minidump.contexts,
      [&](const MinidumpContext& each) { return first && (*first & each.mark) == each.mark; });
  if (layout == arch.minidump.contexts.end() || context.size() < layout->size) {
    return std::nullopt;
  }
  std::vector<std::byte> registers(arch.os.prstatus.registers_size);
  for (const ContextField& field : layout->fields) {
    const auto value = context.slice(field.offset, field.size);
    if (value && field.place + field.size <= registers.size()) {
      std::memcpy(registers.data() + field.place, value->bytes().data(), field.size);
    }
  }
  // No system call is on its way: gdb would take a 0 there for one to begin anew.
  if (const auto place = arch.minidump.system_call; place) {
    std::fill_n(registers.begin() + *place, arch.registers.size, std::byte{0xff});
  }
  return registers;
}

// Folklore. Situation: the flags are si_code with newer writers alone, others leave 0. Example:
// Breakpad's dump of a division has flags 0 and the address 0x401f27; read as a siginfo, that is a
// signal that process 4202279 sent. Remedy: 0 tells nothing, and the address may be a fault's; a
// sender is believed where it is the process itself, as siginfo's union has it.
DumpedSignal told_signal(int number, std::uint32_t flags, Address address, std::uint64_t sender,
                         std::uint32_t pid) {
  DumpedSignal signal{.number = number, .code = {}, .address = {}, .sender = {}};
  const bool faults = std::ranges::find(kFaultSignals, number) != kFaultSignals.end();
  const auto code = static_cast<std::int32_t>(flags);
  if (code != 0) {
    signal.code = code;
  }
  if (faults && code >= 0) {
    signal.address = address;
  }
  const bool believed = code < 0 ? pid != 0 : code == 0 && !faults && sender == pid;
  if (believed && sender != 0 && std::in_range<std::uint32_t>(sender)) {
    signal.sender = static_cast<std::uint32_t>(sender);
  }
  return signal;
}

}  // namespace whocall
