#include "report/waits/call_text.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/hex.h"
#include "base/printable_text.h"

namespace whocall {
namespace {

constexpr std::size_t kLongestShownPath = 64;       // bytes that are shown
constexpr std::uint64_t kLargestCount = 1U << 20U;  // larger unsigned numbers are shown as flags

struct NamedValue {
  std::uint64_t value;
  std::string_view name;
};
#define WHOCALL_NAMED(name) \
  NamedValue { static_cast<std::uint64_t>(name), #name }
constexpr std::array<NamedValue, 11> kFutexOperations = {
    WHOCALL_NAMED(FUTEX_WAIT),           WHOCALL_NAMED(FUTEX_WAKE),
    WHOCALL_NAMED(FUTEX_REQUEUE),        WHOCALL_NAMED(FUTEX_CMP_REQUEUE),
    WHOCALL_NAMED(FUTEX_WAKE_OP),        WHOCALL_NAMED(FUTEX_LOCK_PI),
    WHOCALL_NAMED(FUTEX_UNLOCK_PI),      WHOCALL_NAMED(FUTEX_TRYLOCK_PI),
    WHOCALL_NAMED(FUTEX_WAIT_BITSET),    WHOCALL_NAMED(FUTEX_WAKE_BITSET),
    WHOCALL_NAMED(FUTEX_WAIT_REQUEUE_PI)};
constexpr std::array<NamedValue, 6> kWaitOptions = {
    WHOCALL_NAMED(WNOHANG),    WHOCALL_NAMED(WUNTRACED), WHOCALL_NAMED(WEXITED),
    WHOCALL_NAMED(WCONTINUED), WHOCALL_NAMED(WNOWAIT),   WHOCALL_NAMED(__WALL)};
constexpr std::array<NamedValue, 6> kClocks = {
    WHOCALL_NAMED(CLOCK_REALTIME),           WHOCALL_NAMED(CLOCK_MONOTONIC),
    WHOCALL_NAMED(CLOCK_PROCESS_CPUTIME_ID), WHOCALL_NAMED(CLOCK_THREAD_CPUTIME_ID),
    WHOCALL_NAMED(CLOCK_BOOTTIME),           WHOCALL_NAMED(CLOCK_TAI)};
#undef WHOCALL_NAMED

template <std::size_t Count>
std::string_view name_in(const std::array<NamedValue, Count>& names, std::uint64_t value) {
  const auto found =
      std::ranges::find_if(names, [&](const NamedValue& row) { return row.value == value; });
  return found == names.end() ? std::string_view() : found->name;
}

std::string futex_operation(std::uint64_t value) {
  const std::uint64_t command = value & static_cast<std::uint32_t>(FUTEX_CMD_MASK);
  std::string text(name_in(kFutexOperations, command));
  if (text.empty()) {
    return hex(value);
  }
  text += (value & FUTEX_PRIVATE_FLAG) != 0 ? "_PRIVATE" : "";
  return (value & FUTEX_CLOCK_REALTIME) != 0 ? text + "|FUTEX_CLOCK_REALTIME" : text;
}

std::string wait_options(std::uint64_t value) {
  std::string text;
  std::uint64_t rest = static_cast<std::uint32_t>(value);
  for (const NamedValue& option : kWaitOptions) {
    if ((rest & option.value) != 0) {
      (text += text.empty() ? "" : "|") += option.name;
      rest &= ~option.value;
    }
  }
  return rest == 0 && !text.empty() ? text
         : text.empty()             ? std::to_string(rest)
                                    : text + "|" + hex(rest);
}

// Arguments that have names: which one of which call.
struct NamedArgument {
  std::string_view call;
  std::size_t at;
  std::string (*text)(std::uint64_t value);
};
std::string clock_name(std::uint64_t value) {
  const std::string_view name = name_in(kClocks, static_cast<std::uint32_t>(value));
  return name.empty() ? std::to_string(static_cast<std::int32_t>(value)) : std::string(name);
}
std::string sleep_flags(std::uint64_t value) {
  return value == TIMER_ABSTIME ? "TIMER_ABSTIME" : std::to_string(value);
}
constexpr std::array<NamedArgument, 9> kNamedArguments = {{
    {"futex", 1, &futex_operation},
    {"futex_time64", 1, &futex_operation},
    {"wait4", 2, &wait_options},
    {"waitpid", 2, &wait_options},
    {"waitid", 3, &wait_options},
    {"clock_nanosleep", 0, &clock_name},
    {"clock_nanosleep_time64", 0, &clock_name},
    {"clock_nanosleep", 1, &sleep_flags},
    {"clock_nanosleep_time64", 1, &sleep_flags},
}};

std::string path_text(const ProcessImage& process, Address address) {
  std::vector<std::byte> room;
  const auto bytes = process.memory->bytes_at(address, kLongestShownPath + 1, room);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos && text.size() <= kLongestShownPath) {
    return hex(address);
  }
  std::string shown = "\"";
  append_printable(shown, text.substr(0, std::min(end, kLongestShownPath)));
  return shown + (end > kLongestShownPath ? "\"..." : "\"");
}

std::string argument_text(const ProcessImage& process, char kind, std::uint64_t value) {
  switch (kind) {
    case 'd':
      return static_cast<std::int32_t>(value) == AT_FDCWD
                 ? "AT_FDCWD"
                 : std::to_string(static_cast<std::int32_t>(value));
    case 's':
      return value == 0 ? "NULL" : path_text(process, value);
    case 'p':
      return value == 0 ? "NULL" : hex(value);
    case 'i': {  // most are of 32 bits, and the upper half may be anything
      const bool is_narrow = value >> 32U == 0 || process.arch->registers.size == 4;
      return std::to_string(is_narrow ? static_cast<std::int32_t>(value)
                                      : static_cast<std::int64_t>(value));
    }
    default:
      return value < kLargestCount ? std::to_string(value) : hex(value);
  }
}

}  // namespace

std::string call_text(const ProcessImage& process, const KernelCall& call) {
  if (call.name.empty()) {
    return call.number ? "system call " + std::to_string(*call.number) : std::string();
  }
  std::string text(call.name);
  const auto shape = system_call_shape(call.name);
  if (!shape) {
    return text + "(...)";
  }
  text += '(';
  for (std::size_t at = 0; at < std::min(shape->size(), call.arguments.size()); ++at) {
    if ((*shape)[at] == '-') {
      break;
    }
    text += at == 0 ? "" : ", ";
    const auto* const named = std::ranges::find_if(kNamedArguments, [&](const NamedArgument& row) {
      return row.at == at && row.call == call.name;
    });
    const auto& value = call.arguments[at];
    text += !value                           ? "?"
            : named != kNamedArguments.end() ? named->text(*value)
                                             : argument_text(process, (*shape)[at], *value);
  }
  return text + ')';
}

}  // namespace whocall
