// The system call in which a thread stands.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "arch/system_call.h"
#include "process/process_image.h"

namespace whocall {

struct KernelCall {
  enum class State : std::uint8_t {
    waits,     // the kernel has not come back from it, or would begin it anew
    returned,  // it is over, and the thread is about to go on
    unclear,   // a dump does not tell which of both
  };
  State state = State::waits;
  std::optional<std::uint64_t> number;  // without the mark of its ABI
  std::string_view name;                // empty where it is not known
  // What the thread handed over; a miss where the result has taken its place.
  std::array<std::optional<std::uint64_t>, 6> arguments{};
  std::optional<std::int64_t> result;  // of one that has returned; minus errno for an error
  // The kernel goes on with a call that was interrupted, under a number that tells none: the name
  // is that of the call for which the code is made.
  bool restarted = false;
  // The code before the call is made for this number alone: it is not syscall(), nor its like.
  bool is_inline = false;
};

class KernelCalls {
 public:
  // The process must outlive it.
  explicit KernelCalls(const ProcessImage& process);

  // Of a thread's innermost frame; a miss where it stands in none.
  std::optional<KernelCall> of(const Thread& thread);

  // Of a call that goes on under a number that tells none, and whose code is made for all calls:
  // what a function of the name calls. Nothing changes where no call, or more than one, is named
  // so.
  void name_restarted(KernelCall& call, std::string_view name) const;

  // The call that an address in the kernel's vsyscall page stands for; empty for others. No thread
  // waits there.
  [[nodiscard]] std::string_view vsyscall_at(Address pc) const;

 private:
  // What the code around a pc tells, found once.
  struct Place {
    bool readable = false;
    bool behind = false;                  // a call of the kernel ends there
    bool at = false;                      // one begins there
    std::optional<std::uint64_t> number;  // that the code puts into the number's register
  };
  const Place& place(Address pc);
  void name(KernelCall& call, const Place& place) const;
  std::optional<KernelCall> kept(const Thread& thread, KernelCall call, const Place& place) const;
  std::optional<KernelCall> set_back(const Thread& thread, KernelCall call,
                                     const Place& place) const;
  [[nodiscard]] std::optional<std::int64_t> result_of(const Thread& thread) const;

  const ProcessImage& process_;
  const SystemCallAbi* abi_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::unordered_map<Address, Place> places_;
};

}  // namespace whocall
