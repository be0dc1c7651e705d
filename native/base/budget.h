// What one input may cost: small files must not make endless work.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace whocall {

// What is counted, each in the sum over the whole input. The limits stand in budget.cpp.
enum class Cost : std::uint8_t {
  unpacked,    // bytes that compressed parts of a file become
  copied,      // bytes of files that are put together again out of a process's memory
  notes,       // notes of a file
  symbols,     // rows of one symbol table
  code,        // bytes of a file's code
  searched,    // bytes that are searched for what no header tells
  audited,     // bytes of code that unwind tables are held against
  note_bytes,  // bytes that are looked at for notes: parts of a file may be named again and again
  threads,     // threads of a process
  modules,     // loaded files that are looked for
  mapped,      // files that a process tells to have mapped
  names,       // bytes of names in one listing
  jit_functions,  // functions that logs of JIT compilers tell
  lines,          // source lines that logs of JIT compilers tell
  mappings,       // mappings that a dump lists
  pieces,         // pieces of memory that a dump holds
};
inline constexpr std::size_t kCosts = 16;

// Is given to an input and handed down to whoever parses a part of it. Where it runs out, that part
// is left out, and the user is told: once for each input and cost. May be used by several threads.
class Budget : public std::enable_shared_from_this<Budget> {
 public:
  // `input` names it to the user, `size` (bytes) is its own: large files may cost more. A part of a
  // `whole`, which a shared pointer keeps, draws from that one too what its bytes can be made to
  // cost many times over: one place may be part of thousands. Example: libraries of an archive that
  // overlap.
  Budget(std::string input, std::uint64_t size, Budget* whole = nullptr)
      : input_(std::move(input)),
        size_(size),
        whole_(whole == nullptr ? nullptr : whole->weak_from_this().lock()) {}

  // Takes `amount`. False where less is left: nothing is taken, and what it was for is left out.
  bool draw(Cost cost, std::uint64_t amount);
  [[nodiscard]] std::uint64_t left(Cost cost) const;
  // As much of `amount` as is left, which stays there: for what is looked at again and again.
  std::uint64_t cut(Cost cost, std::uint64_t amount);

 private:
  void tell(Cost cost);
  bool draw_alone(Cost cost, std::uint64_t amount);

  std::string input_;
  std::uint64_t size_;
  std::shared_ptr<Budget> whole_;
  std::array<std::atomic<std::uint64_t>, kCosts> used_{};
  std::array<std::atomic<bool>, kCosts> told_{};
};

// Whole sentences on what was left out since the last call, of all inputs: which limit was reached,
// and by which setting it is raised.
std::vector<std::string> take_exhausted_budgets();

// The setting: every limit times this, a whole number from 1 on.
inline constexpr const char* kBudgetVariable = "WHOCALL_BUDGET";

}  // namespace whocall
