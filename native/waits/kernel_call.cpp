#include "waits/kernel_call.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "base/code_reader.h"

namespace whocall {
namespace {

// What the kernel has in the place of a result while it is about to begin a call anew, or to go on
// with it; no program ever sees them (include/linux/errno.h of Linux).
constexpr std::array<std::int64_t, 4> kRestarts = {-512, -513, -514, -516};

bool restarts(std::int64_t result) {
  return std::ranges::find(kRestarts, result) != kRestarts.end();
}

constexpr std::size_t kCodeBefore = 64;  // bytes
constexpr std::size_t kLongestCall = 4;

// x86-64's page of three calls, each 1 KiB behind the other (arch/x86/entry/vsyscall).
constexpr Address kVsyscallPage = 0xffffffffff600000;
constexpr Address kVsyscallSize = 0x400;
constexpr std::array<std::string_view, 3> kVsyscalls = {"gettimeofday", "time", "getcpu"};

}  // namespace

KernelCalls::KernelCalls(const ProcessImage& process)
    : process_(process), abi_(system_call_abi(*process.arch)) {
  if (process.arch->code.make_decoder != nullptr) {
    decoder_ = process.arch->code.make_decoder(CodeReader{});
  }
}

const KernelCalls::Place& KernelCalls::place(Address pc) {
  const auto [found, is_new] = places_.try_emplace(pc);
  Place& place = found->second;
  if (!is_new || decoder_ == nullptr) {
    return place;
  }
  std::vector<std::byte> room;
  std::span<const std::byte> bytes;
  std::size_t before = std::min<Address>(kCodeBefore, pc);
  for (; before != 0; --before) {  // a mapping may begin there
    bytes = process_.memory->bytes_at(pc - before, before + kLongestCall, room);
    if (bytes.size() >= before) {
      break;
    }
  }
  if (before == 0) {
    return place;
  }
  const ByteView code(bytes, process_.arch->abi.endian);
  const ByteView below = *code.slice(0, before);
  place.readable = true;
  place.behind = ends_with_system_call(*decoder_, below, pc);
  const ByteView call = code.from(before);
  const auto instruction = decoder_->decode(call, pc);
  const std::size_t size = instruction ? instruction->size : 0;
  place.at = size != 0 && size <= call.size() &&
             ends_with_system_call(*decoder_, *call.slice(0, size), pc + size);
  if (place.behind && abi_ != nullptr) {
    place.number = number_set_before(*decoder_, below, pc, abi_->number);
  }
  return place;
}

std::optional<std::int64_t> KernelCalls::result_of(const Thread& thread) const {
  const auto word = thread.registers.get(abi_->result);
  if (!word) {
    return std::nullopt;  // of a core that was made for strangers
  }
  return process_.arch->registers.size == 4 ? static_cast<std::int32_t>(*word)
                                            : static_cast<std::int64_t>(*word);
}

void KernelCalls::name(KernelCall& call, const Place& place) const {
  if (call.number) {
    call.name = system_call_name(*abi_, *call.number);
  }
  const bool tells_none = call.name == "restart_syscall";
  if ((tells_none || !call.number) && place.number) {
    const std::uint64_t number = *place.number & ~abi_->mark & 0xffffffff;
    const std::string_view told = system_call_name(*abi_, number);
    if (!told.empty()) {
      call.restarted = tells_none;
      call.number = number;
      call.name = told;
    }
  }
  call.is_inline = place.number && call.number == (*place.number & ~abi_->mark & 0xffffffff);
}

void KernelCalls::name_restarted(KernelCall& call, std::string_view name) const {
  const auto number = system_call_number(*abi_, name);
  // Which of both a C library calls hangs on its age.
  if (number && !system_call_number(*abi_, std::string(name) + "_time64")) {
    call.number = number;
    call.name = system_call_name(*abi_, *number);
    call.restarted = true;
  }
}

std::optional<KernelCall> KernelCalls::of(const Thread& thread) {
  const auto pc = thread.registers.get(process_.arch->registers.pc);
  if (abi_ == nullptr || !pc) {
    return std::nullopt;
  }
  const Place& here = place(process_.arch->code_address(*pc));
  KernelCall call;
  for (std::size_t at = 0; at < std::min(call.arguments.size(), abi_->arguments.size()); ++at) {
    call.arguments[at] = thread.registers.get(abi_->arguments[at]);
  }
  return abi_->set_back ? set_back(thread, call, here) : kept(thread, call, here);
}

// The kernel keeps the number, and the result stands in its register.
std::optional<KernelCall> KernelCalls::kept(const Thread& thread, KernelCall call,
                                            const Place& place) const {
  if (place.readable && !place.behind) {
    return std::nullopt;
  }
  const auto told = result_of(thread);
  const std::int64_t result = told.value_or(0);
  const auto word = thread.registers.get(abi_->kept);
  const std::int64_t number = word ? static_cast<std::int32_t>(*word) : -1;
  if (number >= 0) {
    call.number = static_cast<std::uint64_t>(number) & ~abi_->mark;
    // ENOSYS stands there from the beginning of a call on.
    if (!told) {
      call.state = KernelCall::State::unclear;
    } else if (!restarts(result) && result != -EINTR && result != -ENOSYS) {
      call.state = KernelCall::State::returned;
      call.result = result;
    }
  } else if (!place.behind || (!restarts(result) && result != -EINTR)) {
    return std::nullopt;
  } else if (!restarts(result)) {
    call.state = KernelCall::State::unclear;  // a minidump has no place for the number
  }
  name(call, place);
  return call;
}

// The pc stands at the call again, unless that failed for good.
std::optional<KernelCall> KernelCalls::set_back(const Thread& thread, KernelCall call,
                                                const Place& place) const {
  const std::int64_t result = result_of(thread).value_or(0);
  if (!place.at && !(place.behind && (restarts(result) || result == -EINTR))) {
    return std::nullopt;
  }
  call.number = thread.registers.get(abi_->number);
  if (!place.at) {
    for (std::size_t at = 0; at < abi_->arguments.size(); ++at) {
      if (abi_->arguments[at] == abi_->result) {
        call.arguments[at].reset();
      }
    }
  }
  name(call, place);
  return call.name.empty() ? std::nullopt : std::optional(call);
}

std::string_view KernelCalls::vsyscall_at(Address pc) const {
  if (process_.arch->name != "x86_64" || pc < kVsyscallPage ||
      pc - kVsyscallPage >= kVsyscallSize * kVsyscalls.size()) {
    return {};
  }
  return kVsyscalls[(pc - kVsyscallPage) / kVsyscallSize];
}

}  // namespace whocall
