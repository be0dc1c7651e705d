// The rules of one Go program: how deep its frames are, where its stacks begin, and how the runtime
// changes from one stack to another.
//
// Source: src/runtime/traceback.go, asm_amd64.s and signal_amd64.go of Go 1.19 and 1.27,
// asm_arm64.s and signal_arm64.go of 1.19. The Go runtime runs on several stacks: a goroutine's,
// the thread's own
// ("g0") and one for signals.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arch/return_path.h"
#include "golang/go_program.h"
#include "process/process_image.h"
#include "unwind/rows/row.h"

namespace whocall {

// What a function is to a walk.
enum class GoRole : std::uint8_t {
  plain,
  outermost,     // nothing called it, or what did is gone
  stack_growth,  // runs on g0 for a goroutine whose stack is too small, and does not return
  makes_thread,  // returns in the thread that called it, not in the one that it makes
  from_c,        // calls Go on the goroutine's stack for C on g0
  switches,      // changes stacks, and goes back by itself
  for_c,         // called by C, and keeps registers as C expects
  injected,      // a signal handler made it look as if it had been called
};
GoRole role_of(const GoFunction& function);

class GoStacks {
 public:
  // All must outlive the object; `module` has a file.
  GoStacks(GoProgram program, const Module& module, const ProcessImage& process);

  // By runtime address.
  [[nodiscard]] std::optional<GoFunction> function_at(Address runtime) const;
  // The rule at `runtime` in `function`. `detail` is, of a function of role from_c, how many of
  // them lie below it on the stack; of one that grows the stack, the place of the saved link
  // register. Null where the table does not tell, and code that is not followed has to.
  const UnwindRow* row_at(const GoFunction& function, Address runtime, std::uint64_t detail = 0);
  // By the depth of the frame alone, whatever the function does.
  const UnwindRow* depth_row_at(const GoFunction& function, Address runtime);
  // Of a stack that ends here.
  const UnwindRow& end_row() const { return end_row_; }

  // The goroutine of the thread with these registers: the runtime address of its struct g.
  std::optional<Address> goroutine(const Registers& registers);
  // Where that keeps the link register of a function that was to get more stack, in bytes from
  // where it keeps the stack pointer; 0 where it does not.
  std::uint64_t saved_link(const Registers& registers);

 private:
  std::optional<UnwindRow> make_row(const GoFunction& function, Address runtime,
                                    std::uint64_t detail);
  [[nodiscard]] std::optional<UnwindRow> frame_row(const GoFunction& function, Address link) const;
  [[nodiscard]] UnwindRow outermost_row() const;
  std::optional<UnwindRow> way_back(const GoFunction& function, Address runtime,
                                    std::uint64_t callbacks);
  std::optional<UnwindRow> growth_row(std::uint64_t link_place);
  [[nodiscard]] UnwindRow row_with(CfaRule cfa) const;
  [[nodiscard]] std::optional<ReturnPath> path_from(const GoFunction& function,
                                                    Address runtime) const;
  const std::optional<PathValue>& saved_sp();
  [[nodiscard]] ByteView expression(const PathValue& value);

  GoProgram program_;
  const Module& module_;
  const ProcessImage& process_;
  const Architecture& arch_;
  std::deque<std::vector<std::byte>> arena_;  // rows hold views into it
  // By the runtime address and `detail`.
  std::map<std::pair<Address, std::uint64_t>, std::optional<UnwindRow>> rows_;
  std::unordered_map<Address, std::optional<UnwindRow>> depth_rows_;
  UnwindRow end_row_;
  // Where the present goroutine's stack pointer is saved while the thread runs on g0.
  std::optional<std::optional<PathValue>> saved_sp_;
};

}  // namespace whocall
