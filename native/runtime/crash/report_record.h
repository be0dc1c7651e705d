// The record of a crash, put together thread by thread.
#pragma once

#include <array>

#include "runtime/crash/crash.h"
#include "runtime/crash/record.h"
#include "runtime/crash/stack_frames.h"
#include "runtime/modules.h"

namespace whocall::runtime {

class ReportRecord {
 public:
  static constexpr std::size_t kMost = std::size_t{16} << 10U;  // bytes

  void begin(const Crash& crash, std::size_t room, std::uint64_t sequence);
  // `name` has up to 15 letters and a zero. Where there is no room for all frames, the middle ones
  // are left out.
  void add_thread(pid_t thread, const Registers& registers, const char* name,
                  const StackFrames& frames);
  void add_silent(pid_t thread, const char* name);
  // Bytes of the stack from the stack pointer on, as far as there is room and they can be read.
  void add_stack(const ucontext_t& context);
  // Who sent the signal, where somebody did.
  void add_sender(const Crash& crash);
  // Of what the program said of itself all that has room.
  void add_annotations();
  void set_interrupted() { writer_.header().flags |= record_interrupted; }
  // The modules, which all fit: each thread was only given what room they leave.
  std::size_t finish();
  [[nodiscard]] const void* bytes() const { return bytes_.data(); }

 private:
  static constexpr std::size_t kMostModules = 64;

  [[nodiscard]] std::uint16_t module_of(std::uintptr_t lookup);
  [[nodiscard]] std::size_t room_for_modules() const;
  void put_modules();

  alignas(8) std::array<std::byte, kMost> bytes_{};
  RecordWriter writer_;
  std::array<Module, kMostModules> modules_{};
  std::size_t module_count_ = 0;
};

}  // namespace whocall::runtime
