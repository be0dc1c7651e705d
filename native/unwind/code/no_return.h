// Functions that never return to their callers.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>

#include "arch/instruction.h"
#include "process/process_image.h"
#include "unwind/code/code_map.h"

namespace whocall {

// The functions of C, C++ and other runtimes that are known never to return, by their symbol names:
// abort, exit, __stack_chk_fail, __cxa_throw, ...
bool is_known_not_to_return(std::string_view name);

// Answers for any function of a process: by the name under which it is imported, or by following
// its flow, in which no path reaches a return.
class NoReturn {
 public:
  // Both must outlive the object.
  NoReturn(const ProcessImage& process, CodeMap& code);

  // `target`: where a direct call goes, a function or a jump stub (runtime address).
  bool never_returns(Address target);

 private:
  static constexpr int kDeepest = 8;           // calls followed into called functions
  static constexpr std::size_t kSteps = 4000;  // instructions looked at in one function

  bool never_returns(Address target, int depth);
  bool reaches_return(const AddressRange& function, int depth);
  bool slot_never_returns(Address stub, Address slot, int depth);

  const ProcessImage& process_;
  CodeMap& code_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::unordered_map<Address, bool> answers_;  // by target
};

}  // namespace whocall
