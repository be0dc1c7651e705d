#include "report/causes/faults.h"

#include <span>

namespace whocall {
namespace {

constexpr std::string_view kSegv = "SIGSEGV";
constexpr std::string_view kBus = "SIGBUS";

struct Meaning {
  std::string_view signal;
  int code;
  std::string_view words;
};

constexpr Meaning kMeanings[] = {
    {kSegv, 1, "nothing is mapped there"},
    {kSegv, 2, "the memory there does not allow it"},
    {kSegv, 3, "the bounds of the pointer forbid it"},
    {kSegv, 4, "the protection key of the memory forbids it"},
    {kSegv, 8, "a pointer's tag was another than its memory's, which was noticed later"},
    {kSegv, 9, "the pointer's tag is another than its memory's"},
    {kSegv, 10,
     "the shadow stack, or the marks of where jumps may lead to, forbid where control went"},
    {kBus, 1, "the address is not aligned as the instruction needs it"},
    {kBus, 2, "there is no memory behind the address, as where a mapped file was cut short"},
    {kBus, 3, "the hardware reports an error of this memory"},
    {kBus, 4, "the hardware reports that this memory is lost"},
    {kBus, 5, "the hardware reports that this memory is damaged"},
    {"SIGFPE", 1, "an integer was divided by zero"},
    {"SIGFPE", 2, "an integer division overflowed"},
    {"SIGFPE", 3, "a floating-point number was divided by zero"},
    {"SIGFPE", 4, "a floating-point operation overflowed"},
    {"SIGFPE", 5, "a floating-point operation underflowed"},
    {"SIGFPE", 6, "a floating-point result is inexact"},
    {"SIGFPE", 7, "a floating-point operation is invalid"},
    {"SIGFPE", 8, "a subscript is out of range"},
    {"SIGILL", 1, "the processor knows no such instruction"},
    {"SIGILL", 2, "the instruction has an operand that is none"},
    {"SIGILL", 3, "the instruction addresses what it cannot"},
    {"SIGILL", 4, "the instruction raised a trap"},
    {"SIGILL", 5, "the instruction is for the kernel alone"},
    {"SIGILL", 6, "the instruction touches a register of the kernel's"},
    {"SIGSYS", 1, "a filter of system calls (seccomp) forbids the call"},
};

// Where x86 tells less than the codes do, or the code says another thing of it.
constexpr Meaning kOnX86[] = {
    // One exception for both, and the kernel calls both FPE_INTDIV.
    {"SIGFPE", kIntegerDivision, "an integer was divided by zero, or the quotient has no room"},
    // Whatever is wrong with it.
    {"SIGILL", 2, "the processor does not know the instruction, or must not run it"},
};

std::string_view find(std::span<const Meaning> meanings, std::string_view signal, int code) {
  for (const Meaning& each : meanings) {
    if (each.signal == signal && each.code == code) {
      return each.words;
    }
  }
  return {};
}

}  // namespace

std::string_view fault_meaning(const Architecture& arch, std::string_view signal, int code) {
  if (code == kFromKernel && (signal == kSegv || signal == kBus)) {
    return "the kernel tells no address (of a pointer that is none, an operand that is not "
           "aligned, an instruction for the kernel alone, a handler without a stack)";
  }
  const std::string_view special = is_x86(arch) ? find(kOnX86, signal, code) : std::string_view();
  return special.empty() ? find(kMeanings, signal, code) : special;
}

bool tells_fault_address(const Architecture& arch, std::string_view signal, int code) {
  if (code <= 0 || code >= kFromKernel) {
    return false;
  }
  // Codes of faults without an address: si_addr is 0 there, which is no null pointer. An
  // asynchronous tag check and a control protection fault come without; so does x86's alignment
  // check.
  return signal == kSegv  ? code != 8 && code != 10
         : signal == kBus ? !(is_x86(arch) && code == 1)
                          : false;
}

}  // namespace whocall
