#include "symbols/inferred/message_callees.h"

#include <algorithm>
#include <array>

namespace whocall {
namespace {

// From the public headers of glibc and musl, GLib, OpenSSL, newlib and libstdc++.
constexpr std::array<MessageCallee, 12> kByName = {{{"__assert_fail", 3, true},
                                                    {"__assert_perror_fail", 3, true},
                                                    {"__assert_func", 2, true},
                                                    {"g_return_if_fail_warning", 1, false},
                                                    {"g_warn_message", 3, false},
                                                    {"g_assertion_message", 3, false},
                                                    {"g_assertion_message_expr", 3, true},
                                                    {"g_assertion_message_cmpnum", 3, false},
                                                    {"g_assertion_message_cmpint", 3, false},
                                                    {"g_assertion_message_cmpstr", 3, false},
                                                    {"g_assertion_message_error", 3, false},
                                                    {"ERR_set_debug", 2, false}}};

struct Printed {
  std::string_view begin;  // of the format
  MessageCallee callee;
};

// What glibc and musl print; glibc's __assert_fail has more behind it up to 2.39, and since 2.43
// its lines are texts.
constexpr std::array<Printed, 6> kByText = {
    {{"%s%s%s:%u: %s%sAssertion `%s' failed.\n", {"__assert_fail", 3, true}},
     {"%s%s%s:%s: %s%sAssertion `%s' failed.\n", {"__assert_fail", 3, true}},
     {"%s%s%s:%u: %s%sUnexpected error: %s.\n", {"__assert_perror_fail", 3, true}},
     {"%s%s%s:%s: %s%sUnexpected error: %s.\n", {"__assert_perror_fail", 3, true}},
     {"Fatal glibc error: %s:%s (%s): assertion failed: %s\n", {"__libc_assert_fail", 3, true}},
     {"Assertion failed: %s (%s: %s: %d)\n", {"__assert_fail", 3, true}}}};

}  // namespace

const MessageCallee* message_callee(std::string_view name) {
  const auto* const found = std::ranges::find(kByName, name, &MessageCallee::name);
  return found == kByName.end() ? nullptr : found;
}

const MessageCallee* message_callee_that_prints(std::string_view format) {
  const auto* const found = std::ranges::find_if(
      kByText, [&](const Printed& each) { return format.starts_with(each.begin); });
  return found == kByText.end() ? nullptr : &found->callee;
}

}  // namespace whocall
