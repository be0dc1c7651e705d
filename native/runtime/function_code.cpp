#include "runtime/function_code.h"

#include <algorithm>
#include <cstring>

#include "runtime/code_checks.h"
#include "runtime/code_rule.h"
#include "runtime/names.h"
#include "runtime/rule_lookup.h"

namespace whocall::runtime {

#if WHOCALL_READS_FUNCTIONS

namespace {

using rules::FrameRule;

constexpr std::uintptr_t kCodePage = 4096;         // bytes
constexpr std::uintptr_t kFarthestBegin = 0x8000;  // bytes from a function's beginning to the place
constexpr std::size_t kWordsTried = 512;           // of a stack that are looked through
constexpr unsigned kBeginsTried = 16;
constexpr bool kHasLink = kRegisters.link.has_value();
constexpr auto kStackWord = static_cast<std::int32_t>(sizeof(std::uintptr_t));

// Code of one module, page by page: between its parts may lie what cannot be read.
struct CodePages {
  const Module& module;
  std::uintptr_t known = 1;  // the page that was found to be readable last; none is 1

  static std::size_t readable_from(void* self, std::uintptr_t address, std::size_t wanted) {
    auto& pages = *static_cast<CodePages*>(self);
    std::size_t size = 0;
    while (size < wanted) {
      const std::uintptr_t at = address + size;
      const std::uintptr_t page = at & ~(kCodePage - 1);
      if (at < pages.module.begin || at >= pages.module.end ||
          (page != pages.known && !readable(at))) {
        break;
      }
      pages.known = page;
      size = std::min(wanted, size + (page + kCodePage - at));
    }
    return size;
  }
};

FrameRule rule_from(std::uintptr_t begin, std::uintptr_t size, std::uintptr_t place, bool exact,
                    CodePages& pages) {
  return rule_by_code({.begin = begin,
                       .end = size == 0 ? 0 : begin + size,
                       .place = place,
                       .exact = exact,
                       .has_link = kHasLink,
                       .word = kStackWord,
                       .step = kStepReader,
                       .readable = CodePages::readable_from,
                       .reader = &pages});
}

// Where the code at an address jumps at once: of a stub for imported functions what its word says.
// 0: it does something.
std::uintptr_t jumps_to(std::uintptr_t address, CheckedReader& reader) {
  static_assert(kStubSize <= kLongestStep);
  if (!readable(address) || !readable(address + kLongestStep - 1)) {
    return 0;
  }
  const auto* const code = reinterpret_cast<const std::uint8_t*>(address);
  std::uintptr_t target = 0;
  if (const std::uintptr_t slot = slot_of_stub(code, address); slot != 0) {
    return reader.read(slot, target) ? target : 0;
  }
  const CodeStep step = kStepReader(code, kLongestStep, address);
  return step.flow == CodeStep::Flow::jump ? step.target : 0;
}

// What the call before a return address has called, where its instruction says it.
std::uintptr_t called_before(std::uintptr_t return_address) {
  const std::uintptr_t end = return_address & kCodeMask;
  Module module;
  if (end < kLongestCall || end % kCodePage < kLongestCall || !find_module(end - 1, module) ||
      !is_behind_call(return_address)) {
    return 0;
  }
  const auto* const before = reinterpret_cast<const std::uint8_t*>(end - kLongestCall);
  return called_by({before, kLongestCall}, end);
}

// A place in a function that has no symbol.
struct Nameless {
  const Module& module;
  const Point& at;
  bool exact;
  CodePages& pages;
  CheckedReader& reader;
  unsigned tried = 0;  // beginnings that were read from: a damaged stack may tell of many

  // Whether the rule says that the return address lies there; 0: in the link register.
  [[nodiscard]] bool leads_to(const FrameRule& rule, std::uintptr_t slot) const {
    if (rule.cfa == FrameRule::Cfa::none || rule.ret != FrameRule::Return::stored) {
      return slot == 0 && rule.cfa != FrameRule::Cfa::none;
    }
    const bool by_sp = rule.cfa == FrameRule::Cfa::from_sp;
    const auto offset = std::intptr_t{rule.cfa_offset} + rule.return_slot;
    return (by_sp || at.fp_known) &&
           (by_sp ? at.sp : at.fp) + static_cast<std::uintptr_t>(offset) == slot;
  }

  // The rule, if what has been called there, or what that jumps to, is the function.
  [[nodiscard]] FrameRule rule_of_call(std::uintptr_t return_address, std::uintptr_t slot) {
    constexpr int kMostJumps = 4;
    std::uintptr_t begin = called_before(return_address);
    for (int i = 0; i < kMostJumps && begin != 0 && tried < kBeginsTried; ++i) {
      if (begin >= module.begin && begin <= at.pc && at.pc - begin < kFarthestBegin) {
        ++tried;
        const FrameRule rule = rule_from(begin, 0, at.pc, exact, pages);
        if (leads_to(rule, slot)) {
          return rule;
        }
      }
      begin = jumps_to(begin, reader);
    }
    return {};
  }
};

// Folklore. Situation: a function without a table and without a symbol. Example: musl's smoothsort
// below qsort(), in a libc.so that is stripped. Remedy: each word of the stack behind a call of a
// function not far before the place is tried: it is the return address if the instructions from
// that function's beginning on say that it lies just there.
FrameRule rule_by_caller(Nameless place) {
  if (kHasLink && place.exact && place.at.link_known) {
    const FrameRule rule = place.rule_of_call(place.at.link, 0);
    if (rule.cfa != FrameRule::Cfa::none) {
      return rule;
    }
  }
  for (std::size_t i = 0; i < kWordsTried; ++i) {
    const std::uintptr_t slot = place.at.sp + i * sizeof(std::uintptr_t);
    std::uintptr_t word = 0;
    if (!place.reader.read(slot, word)) {
      break;
    }
    const FrameRule rule = place.rule_of_call(word, slot);
    if (rule.cfa != FrameRule::Cfa::none) {
      return rule;
    }
  }
  return {};
}

}  // namespace

FrameRule rule_by_function(const Module& module, const Point& at, bool exact,
                           CheckedReader& reader) {
  const std::uintptr_t lookup = at.pc - (exact ? 0 : 1);
  CodePages pages{module};
  const FunctionName function = find_name(module, lookup - module.bias);
  // Compilers put what is rarely run elsewhere, with a name of its own and a frame that is there.
  // A symbol without a size may be a label in a function.
  if (function.name != nullptr && function.size != 0 &&
      std::strstr(function.name, ".cold") == nullptr) {
    FrameRule rule = rule_from(function.begin + module.bias, function.size, at.pc, exact, pages);
    rule.from_disk = true;  // the walk that reads without care is not to go by it
    rules::ShortRule kept;
    if (rule.cfa != FrameRule::Cfa::none && !exact && rules::shortened(rule, kept)) {
      known_rules().put(at.pc, kept);
    }
    return rule;
  }
  return rule_by_caller({module, at, exact, pages, reader});
}

#else

rules::FrameRule rule_by_function(const Module& /*module*/, const Point& /*at*/, bool /*exact*/,
                                  CheckedReader& /*reader*/) {
  return {};
}

#endif

}  // namespace whocall::runtime
