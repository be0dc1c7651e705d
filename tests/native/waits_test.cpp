// Calls of the kernel by registers and code, and rings of threads.
#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <vector>

#include "arch/system_call.h"
#include "memory/segment_memory.h"
#include "waits/kernel_call.h"
#include "waits/wait_cycles.h"

using namespace whocall;

namespace {

constexpr Address kWaitCode = 0x1000;

// Memory of one piece of code.
class OneCode : public Memory {
 public:
  explicit OneCode(std::vector<std::uint8_t> code) : code_(std::move(code)) {}
  [[nodiscard]] std::span<const std::byte> run_at(Address address) const override {
    if (address < kWaitCode || address - kWaitCode >= code_.size()) {
      return {};
    }
    return std::as_bytes(std::span(code_)).subspan(address - kWaitCode);
  }

 private:
  std::vector<std::uint8_t> code_;
};

struct Standing {
  ProcessImage image;
  Thread thread;

  Standing(std::string_view arch, std::vector<std::uint8_t> code, std::size_t at) {
    image.arch = find_architecture(arch);
    image.memory = std::make_unique<OneCode>(std::move(code));
    thread.registers.set(image.arch->registers.pc, kWaitCode + at);
  }
  const SystemCallAbi& abi() const { return *system_call_abi(*image.arch); }
  std::optional<KernelCall> call() { return KernelCalls(image).of(thread); }
};

// mov $202,%eax; syscall; ret
const std::vector<std::uint8_t> kFutexCode = {0xb8, 0xca, 0, 0, 0, 0x0f, 0x05, 0xc3};

Waiting for_thread(std::size_t thread, std::size_t owner, bool timed = false) {
  Waiting waiting;
  waiting.thread = thread;
  waiting.kind = WaitKind::mutex;
  waiting.owner = owner;
  waiting.timed = timed;
  return waiting;
}
Waiting runs(std::size_t thread) {
  Waiting waiting;
  waiting.thread = thread;
  return waiting;
}

}  // namespace

TEST_CASE("waits: names and shapes of system calls") {
  const SystemCallAbi& wide = *system_call_abi(*find_architecture(std::string_view("x86_64")));
  const SystemCallAbi& arm64 = *system_call_abi(*find_architecture(std::string_view("aarch64")));
  CHECK(system_call_name(wide, 0) == "read");
  CHECK(system_call_name(wide, 202) == "futex");
  CHECK(system_call_name(wide, 424) == "pidfd_send_signal");
  CHECK(system_call_name(wide, 400).empty());
  CHECK(system_call_name(wide, ~std::uint64_t{0}).empty());
  CHECK(system_call_name(arm64, 98) == "futex");
  CHECK(system_call_number(arm64, "futex") == 98);
  CHECK(system_call_number(wide, "pidfd_send_signal") == 424);
  CHECK_FALSE(system_call_number(wide, "pidfd_send"));
  CHECK_FALSE(system_call_number(wide, ""));
  CHECK(system_call_shape("read") == "dpu");
  CHECK(system_call_shape("futex") == "piuppu");
  CHECK_FALSE(system_call_shape("rea"));
  CHECK_FALSE(system_call_shape(""));
}

TEST_CASE("waits: the kernel keeps the number on x86-64") {
  Standing standing("x86_64", kFutexCode, 7);
  Registers& registers = standing.thread.registers;
  registers.set(5, 0x5000);                            // rdi
  registers.set(0, static_cast<std::uint64_t>(-512));  // rax
  registers.set(standing.abi().kept, 202);
  const auto call = standing.call();
  REQUIRE(call);
  CHECK(call->name == "futex");
  CHECK(call->state == KernelCall::State::waits);
  CHECK(call->arguments[0] == 0x5000);
  CHECK_FALSE(call->restarted);

  registers.set(standing.abi().kept, 219);  // restart_syscall
  REQUIRE(standing.call());
  CHECK(standing.call()->name == "futex");
  CHECK(standing.call()->restarted);

  registers.set(standing.abi().kept, 202);
  registers.set(0, 0);
  REQUIRE(standing.call());
  CHECK(standing.call()->state == KernelCall::State::returned);

  registers.set(standing.abi().kept, ~std::uint64_t{0});
  CHECK_FALSE(standing.call());
  registers.set(0, static_cast<std::uint64_t>(-4));  // as minidumps have it
  REQUIRE(standing.call());
  CHECK(standing.call()->state == KernelCall::State::unclear);
  CHECK(standing.call()->name == "futex");
}

TEST_CASE("waits: a call that goes on is named by who made it") {
  const auto named = [](std::string_view arch, std::string_view name) {
    Standing standing(arch, {}, 0);
    KernelCall call;
    call.name = "restart_syscall";
    KernelCalls(standing.image).name_restarted(call, name);
    return call;
  };
  CHECK(named("x86_64", "clock_nanosleep").number == 230);
  CHECK(named("x86_64", "clock_nanosleep").restarted);
  CHECK(named("i386", "clock_nanosleep").name == "restart_syscall");  // two are named so
  CHECK(named("i386", "poll").name == "poll");
  CHECK(named("x86_64", "clock").name == "restart_syscall");
  CHECK_FALSE(named("x86_64", "clock").restarted);
}

TEST_CASE("waits: a thread that stands elsewhere is in no call") {
  Standing standing("x86_64", kFutexCode, 5);
  standing.thread.registers.set(0, static_cast<std::uint64_t>(-512));
  standing.thread.registers.set(standing.abi().kept, 202);
  CHECK_FALSE(standing.call());
}

TEST_CASE("waits: AArch64 sets a call back") {
  // mov x8,#98; svc #0; ret
  const std::vector<std::uint8_t> code = {0x48, 0x0c, 0x80, 0xd2, 0x01, 0x00,
                                          0x00, 0xd4, 0xc0, 0x03, 0x5f, 0xd6};
  Standing standing("aarch64", code, 4);
  standing.thread.registers.set(8, 98);
  standing.thread.registers.set(0, 0x7000);
  const auto call = standing.call();
  REQUIRE(call);
  CHECK(call->name == "futex");
  CHECK(call->arguments[0] == 0x7000);

  Standing behind("aarch64", code, 8);
  behind.thread.registers.set(8, 98);
  behind.thread.registers.set(0, 0);
  CHECK_FALSE(behind.call());
  behind.thread.registers.set(0, static_cast<std::uint64_t>(-4));  // its first argument is gone
  REQUIRE(behind.call());
  CHECK_FALSE(behind.call()->arguments[0]);
}

TEST_CASE("waits: rings of threads") {
  CHECK(find_cycles({runs(0), for_thread(1, 0), for_thread(2, 1)}).empty());
  const auto itself = find_cycles({for_thread(0, 0)});
  REQUIRE(itself.size() == 1);
  CHECK(itself[0].threads == std::vector<std::size_t>{0});
  // 1 -> 4 -> 2 -> 1, and two that wait behind
  const auto one = find_cycles(
      {for_thread(0, 4), for_thread(1, 4), for_thread(2, 1), for_thread(3, 0), for_thread(4, 2)});
  REQUIRE(one.size() == 1);
  CHECK(one[0].threads == std::vector<std::size_t>{1, 4, 2});
  CHECK(one[0].lasts);
  const auto timed = find_cycles({for_thread(0, 1), for_thread(1, 0, true)});
  REQUIRE(timed.size() == 1);
  CHECK_FALSE(timed[0].lasts);
  const auto two = find_cycles(
      {for_thread(0, 1), for_thread(1, 0), for_thread(2, 3), for_thread(3, 2), for_thread(4, 2)});
  CHECK(two.size() == 2);
}
