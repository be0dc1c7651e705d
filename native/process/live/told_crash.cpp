#include "process/live/told_crash.h"

#include <algorithm>
#include <string>

#include "arch/system_call_abi.h"
#include "base/error.h"

namespace whocall {
namespace {

// What the thread waits in now is the handler's affair.
void forget_system_call(const Architecture& arch, Registers& registers) {
  if (const SystemCallAbi* abi = system_call_abi(arch); abi != nullptr && abi->kept_size != 0) {
    registers.forget(abi->kept);
  }
}

}  // namespace

void put_where_it_crashed(const ToldCrash& crash, ProcessImage& image) {
  const auto found = std::ranges::find(image.threads, crash.lwp, &Thread::lwp);
  if (found == image.threads.end()) {
    throw Error("process " + std::to_string(image.pid),
                "has no thread " + std::to_string(crash.lwp) + " that could be stopped");
  }
  forget_system_call(*image.arch, found->registers);
  for (Register each = 0; each < kRegisterLimit; ++each) {
    if (const auto value = crash.registers.get(each)) {
      found->registers.set(each, *value);
    }
  }
  found->crashed = true;
  found->signal = crash.signal;
  found->signal_info = crash.info;
  std::rotate(image.threads.begin(), found, found + 1);
  for (std::size_t i = 0; i < image.threads.size(); ++i) {
    image.threads[i].number = static_cast<unsigned>(i + 1);
  }
}

}  // namespace whocall
