// How the analysis met an unwind table at one place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace whocall {

enum class AuditOutcome : std::uint8_t {
  agrees,
  registers_differ,        // CFA and return address agree, a saved register does not
  return_address_differs,  // the CFA agrees
  cfa_differs,
  cfa_unknown,  // the analysis lost the stack pointer
  unreached,    // the analysis did not get there
};
inline constexpr std::size_t kAuditOutcomes = static_cast<std::size_t>(AuditOutcome::unreached) + 1;
std::string_view to_string(AuditOutcome outcome);  // "agrees", "cfa-differs", ...

}  // namespace whocall
