// How far the analysis can be trusted on one very file: at every instruction that its unwind
// tables cover, does the analysis know the frame as the tables do?
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/address.h"
#include "object/elf_file.h"
#include "unwind/audit/audit_class.h"
#include "unwind/audit/audit_difference.h"
#include "unwind/audit/audit_outcome.h"

namespace whocall {

struct AuditCount {
  std::uint64_t places = 0;          // that a table covers
  std::uint64_t cfa = 0;             // the CFA agrees
  std::uint64_t return_address = 0;  // the return address agrees as well
  std::uint64_t registers = 0;       // and every callee-saved register that the table tells of
  std::array<std::uint64_t, kAuditOutcomes> outcomes{};  // by AuditOutcome
  std::array<std::uint64_t, kAuditClasses> classes{};    // by AuditClass, of what does not agree

  void add(AuditOutcome outcome, AuditClass which);
};

struct Audit {
  std::string_view architecture;
  std::uint64_t functions = 0;
  AuditCount instructions;
  AuditCount calls;  // the call instructions among them: where callers stand on real stacks
  std::vector<AuditDifference> differences;  // the first of a function, the first `limit`
};

struct AuditOptions {
  std::size_t difference_limit = 20;
  std::uint64_t every = 1;                // look at every n-th function
  std::function<void()> check_interrupt;  // called once a function; may throw to end the audit
};

// Throws Error when the file's instruction set is unknown or it has no unwind tables.
Audit audit_file(const std::shared_ptr<const ElfFile>& file, const AuditOptions& options);

}  // namespace whocall
