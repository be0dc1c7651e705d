// What minidumps and microdumps hold of the processor, and where a core of Linux has the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace whocall {

// A register of a CPU context, and its place in pr_reg; the words there may be wider.
struct ContextField {
  std::uint16_t offset = 0;  // in the context, bytes
  std::uint8_t size = 8;     // bytes
  std::uint16_t place = 0;   // in pr_reg, bytes
};

// One layout of the context of a thread.
struct MinidumpContext {
  std::uint32_t size = 0;  // bytes; what is shorter tells nothing
  std::uint32_t mark = 0;  // bits of the first 32 that tell it from the layouts behind it
  std::span<const ContextField> fields{};
};

struct MinidumpForm {
  std::span<const std::uint16_t> processors{};  // MINIDUMP_SYSTEM_INFO.ProcessorArchitecture
  std::string_view microdump_processor{};       // as the line `O` names it
  std::span<const MinidumpContext> contexts{};  // the first that fits is it
  // Places in pr_reg, bytes: the number of the system call that is to be begun anew, of which no
  // context tells, and the register that the row of a thread has apart, as its TEB.
  std::optional<std::uint16_t> system_call{};
  std::optional<std::uint16_t> thread_pointer{};
};

}  // namespace whocall
