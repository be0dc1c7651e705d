#include "unwind/walk/go_stacks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "unwind/rows/expression.h"
#include "unwind/rows/expression_writer.h"

namespace whocall {
namespace {

constexpr std::string_view kSwitchToG0 = "runtime.systemstack";

// Each callback inside another makes its rule one step longer: a stack of nothing but callbacks
// would cost the square of its frames.
constexpr std::uint64_t kMostCallbacks = 2000;

struct NamedRole {
  std::string_view name;
  GoRole role;
};

// The flags of the table tell some of this since Go 1.17 only.
constexpr std::array<NamedRole, 21> kRoles = {{
    {"runtime.goexit", GoRole::outermost},
    {"runtime.mstart", GoRole::outermost},
    {"runtime.rt0_go", GoRole::outermost},
    // Folklore. Situation: a goroutine waits, and its thread looks for another. Example: mcall has
    // changed to g0 and called park_m. Remedy: the goroutine may run on another thread by now; its
    // callers are not those of this stack.
    {"runtime.mcall", GoRole::outermost},
    {"runtime.morestack", GoRole::stack_growth},
    {"runtime.cgocallback", GoRole::from_c},
    {"runtime.cgocallback_gofunc", GoRole::from_c},
    {kSwitchToG0, GoRole::switches},
    {"runtime.asmcgocall", GoRole::switches},
    {"runtime.gogo", GoRole::switches},
    {"gogo", GoRole::switches},
    {"runtime.nanotime", GoRole::switches},
    {"runtime.nanotime1", GoRole::switches},
    {"runtime.walltime", GoRole::switches},
    {"runtime.walltime1", GoRole::switches},
    {"time.now", GoRole::switches},
    {"runtime.sigfwd", GoRole::switches},
    {"runtime.sigpanic", GoRole::injected},
    {"runtime.sigpanic0", GoRole::injected},
    {"runtime.asyncPreempt", GoRole::injected},
    {"runtime.debugCallV2", GoRole::injected},
}};

// The last load of a value: what stands there is where a stack pointer was saved.
std::size_t end_of_last_load(const PathValue& value) {
  const auto last =
      std::ranges::find(value.rbegin(), value.rend(), PathStep::Kind::deref, &PathStep::kind);
  return static_cast<std::size_t>(value.rend() - last);
}

}  // namespace

GoRole role_of(const GoFunction& function) {
  const auto* named = std::ranges::find(kRoles, function.name, &NamedRole::name);
  if (named != kRoles.end()) {
    return named->role;
  }
  // The kernel called the signal handler: beyond it the interrupted code goes on.
  const bool handler = function.name.starts_with("runtime.sigtramp");
  if (function.top_frame && !handler) {
    return GoRole::outermost;
  }
  return function.sp_write && !handler ? GoRole::switches : GoRole::plain;
}

GoStacks::GoStacks(GoProgram program, const Module& module, const ProcessImage& process)
    : program_(program), module_(module), process_(process), arch_(*process.arch) {
  end_row_ = outermost_row();
}

std::optional<GoFunction> GoStacks::function_at(Address runtime) const {
  return program_.table.find(module_.link_address(runtime));
}

const UnwindRow* GoStacks::row_at(const GoFunction& function, Address runtime,
                                  std::uint64_t from_c_below) {
  if (role_of(function) != GoRole::from_c) {
    from_c_below = 0;
  }
  if (from_c_below > kMostCallbacks) {
    return nullptr;
  }
  auto [known, fresh] = rows_.try_emplace({runtime, from_c_below});
  if (fresh) {
    known->second = make_row(function, runtime, from_c_below);
  }
  return known->second ? &*known->second : nullptr;
}

const UnwindRow* GoStacks::depth_row_at(const GoFunction& function, Address runtime) {
  auto [known, fresh] = depth_rows_.try_emplace(runtime);
  if (fresh) {
    known->second = frame_row(function, module_.link_address(runtime));
  }
  return known->second ? &*known->second : nullptr;
}

std::optional<UnwindRow> GoStacks::make_row(const GoFunction& function, Address runtime,
                                            std::uint64_t from_c_below) {
  switch (role_of(function)) {
    case GoRole::outermost:
      return outermost_row();
    case GoRole::stack_growth:
      return growth_row();
    case GoRole::from_c:
    case GoRole::switches:
      return way_back(function, runtime, from_c_below);
    case GoRole::plain:
    case GoRole::injected:
      break;
  }
  return frame_row(function, module_.link_address(runtime));
}

// The depth of the frame; the return address lies above it. Go code keeps no register for its
// caller but the frame pointer, right below the return address of each function that has a frame.
std::optional<UnwindRow> GoStacks::frame_row(const GoFunction& function, Address link) const {
  const auto step = program_.table.step_at(function.sp_table, function.range.begin, link);
  if (!step || step->value < 0) {
    return std::nullopt;
  }
  const std::int64_t pushed = arch_.frame.pushed_by_call;
  UnwindRow row;
  row.range = step->range;
  row.cfa = CfaRule::at(arch_.registers.sp, step->value + pushed);
  row.return_address = arch_.registers.return_address;
  row.rules.push_back({arch_.registers.return_address, RegisterRule::stored_at_cfa(-pushed)});
  for (const Register number : arch_.registers.callee_saved) {
    if (number != arch_.registers.fp) {
      row.rules.push_back({number, RegisterRule::undefined()});
    } else if (step->value > 0) {
      row.rules.push_back({number, RegisterRule::stored_at_cfa(-2 * pushed)});
    }
  }
  return row;
}

UnwindRow GoStacks::outermost_row() const {
  UnwindRow row;
  row.cfa = CfaRule::at(arch_.registers.sp, arch_.frame.pushed_by_call);
  row.return_address = arch_.registers.return_address;
  row.rules.push_back({arch_.registers.return_address, RegisterRule::undefined()});
  return row;
}

std::optional<ReturnPath> GoStacks::path_from(const GoFunction& function, Address runtime) const {
  if (arch_.code.return_path == nullptr) {
    return std::nullopt;
  }
  const Address begin = module_.runtime_address(function.range.begin);
  const ByteView code(process_.memory->run_at(begin), arch_.abi.endian);
  const auto own = code.slice(0, std::min<std::uint64_t>(function.range.size(), code.size()));
  return own ? arch_.code.return_path(*own, begin, runtime - begin) : std::nullopt;
}

// By what the code will do until it returns. `runtime` lies in the call; what follows is what goes
// back. Callbacks from C that lie inside each other make a list: where each has saved the stack
// pointer of g0 stands that of the one outside it.
std::optional<UnwindRow> GoStacks::way_back(const GoFunction& function, Address runtime,
                                            std::uint64_t list_hops) {
  auto path = path_from(function, runtime);
  if (!path) {
    return std::nullopt;
  }
  if (list_hops > 0) {
    const PathStep hop{PathStep::Kind::deref};
    const std::size_t where = end_of_last_load(path->sp);
    const auto insert = [&](PathValue& value) {
      value.insert(value.begin() + static_cast<std::ptrdiff_t>(where), list_hops, hop);
    };
    const bool same =
        path->fp && path->fp->size() > where &&
        std::equal(path->sp.begin(), path->sp.begin() + static_cast<std::ptrdiff_t>(where),
                   path->fp->begin());
    same ? insert(*path->fp) : path->fp.reset();
    insert(path->sp);
  }
  const std::int64_t pushed = arch_.frame.pushed_by_call;
  UnwindRow row;
  path->sp.push_back({PathStep::Kind::plus, 0, pushed});
  row.cfa = {CfaRule::Kind::expression, 0, 0, expression(path->sp)};
  row.new_stack = true;
  row.return_address = arch_.registers.return_address;
  row.rules.push_back({arch_.registers.return_address, RegisterRule::stored_at_cfa(-pushed)});
  for (const Register number : arch_.registers.callee_saved) {
    const bool known = number == arch_.registers.fp && path->fp;
    row.rules.push_back({number, known ? RegisterRule::computed(expression(*path->fp))
                                       : RegisterRule::undefined()});
  }
  return row;
}

// morestack saves its caller's place like systemstack does, but never goes back to it.
std::optional<UnwindRow> GoStacks::growth_row() {
  const auto& saved = saved_sp();
  if (!saved) {
    return std::nullopt;
  }
  UnwindRow row = outermost_row();
  row.cfa = {CfaRule::Kind::expression, 0, 0, expression(*saved)};
  row.new_stack = true;
  const std::int64_t pushed = arch_.frame.pushed_by_call;
  row.rules = {{arch_.registers.return_address, RegisterRule::stored_at_cfa(-pushed)}};
  for (const Register number : arch_.registers.callee_saved) {
    row.rules.push_back({number, RegisterRule::undefined()});
  }
  return row;
}

// Behind each place of systemstack is tried whether its code goes back to another stack: the way
// behind its call does, and tells where the goroutine's stack pointer is saved.
const std::optional<PathValue>& GoStacks::saved_sp() {
  if (saved_sp_) {
    return *saved_sp_;
  }
  saved_sp_.emplace();
  for (std::uint64_t i = 0; i < program_.table.count(); ++i) {
    const auto function = program_.table.function(i);
    if (!function || function->name != kSwitchToG0) {
      continue;
    }
    for (Address link = function->range.end; link > function->range.begin; --link) {
      const auto path = path_from(*function, module_.runtime_address(link));
      const std::size_t end = path ? end_of_last_load(path->sp) : 0;
      const bool by_thread = end > 2 && path->sp.front().source == arch_.registers.thread_pointer;
      if (by_thread) {
        saved_sp_->emplace(path->sp.begin(), path->sp.begin() + static_cast<std::ptrdiff_t>(end));
      }
    }
    break;
  }
  return *saved_sp_;
}

// The stack pointer is saved in the goroutine's struct: it begins two steps (an offset, a load)
// before.
std::optional<Address> GoStacks::goroutine(const Registers& registers) {
  const auto& saved = saved_sp();
  if (!saved || saved->size() < 3) {
    return std::nullopt;
  }
  const PathValue value(saved->begin(), saved->end() - 2);
  return evaluate(expression(value), {arch_, registers, *process_.memory, std::nullopt});
}

ByteView GoStacks::expression(const PathValue& value) {
  ExpressionWriter writer(arena_, arch_.abi.endian);
  for (const PathStep& step : value) {
    switch (step.kind) {
      case PathStep::Kind::base:
        writer.base(step.source, step.value);
        break;
      case PathStep::Kind::constant:
        writer.constant(step.value);
        break;
      case PathStep::Kind::deref:
        writer.deref();
        break;
      case PathStep::Kind::plus:
        writer.plus(step.value);
        break;
      case PathStep::Kind::minus:
        writer.minus();
        break;
    }
  }
  return writer.view();
}

}  // namespace whocall
