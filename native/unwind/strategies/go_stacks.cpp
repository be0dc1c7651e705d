#include "unwind/strategies/go_stacks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "unwind/rows/expression.h"
#include "unwind/rows/expression_writer.h"

namespace whocall {
namespace {

constexpr std::string_view kSwitchToG0 = "runtime.systemstack";
constexpr std::string_view kFromC = "crosscall2";

// Each callback inside another makes its rule one step longer: a stack of nothing but callbacks
// would cost the square of its frames.
constexpr std::uint64_t kMostCallbacks = 2000;

constexpr std::uint64_t kMostCode = 1U << 14U;  // bytes: what changes stacks is short

struct NamedRole {
  std::string_view name;
  GoRole role;
};

// The flags of the table tell some of this since Go 1.17 only.
constexpr std::array<NamedRole, 23> kRoles = {{
    {"runtime.goexit", GoRole::outermost},
    {"runtime.mstart", GoRole::outermost},
    {"runtime.rt0_go", GoRole::outermost},
    // Folklore. Situation: a goroutine waits, and its thread looks for another. Example: mcall has
    // changed to g0 and called park_m. Remedy: the goroutine may run on another thread by now; its
    // callers are not those of this stack.
    {"runtime.mcall", GoRole::outermost},
    {"runtime.clone", GoRole::makes_thread},
    {"runtime.morestack", GoRole::stack_growth},
    {"runtime.cgocallback", GoRole::from_c},
    {"runtime.cgocallback_gofunc", GoRole::from_c},
    {kFromC, GoRole::for_c},
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
                                  std::uint64_t detail) {
  const GoRole role = role_of(function);
  if (role == GoRole::from_c && detail > kMostCallbacks) {
    return nullptr;
  }
  auto [known, fresh] = rows_.try_emplace({runtime, detail});
  if (fresh) {
    known->second = make_row(function, runtime, detail);
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
                                            std::uint64_t detail) {
  switch (role_of(function)) {
    case GoRole::outermost:
      return outermost_row();
    case GoRole::stack_growth:
      return growth_row(detail);
    case GoRole::from_c:
      return way_back(function, runtime, detail);
    case GoRole::switches:
      return way_back(function, runtime, 0);
    case GoRole::makes_thread:
      if (arch_.code.return_path != nullptr) {
        return way_back(function, runtime, 0);
      }
      break;
    case GoRole::for_c:
      // Its registers lie where no table says, the link register among them: the analysis follows
      // its code.
      if (arch_.registers.link) {
        return std::nullopt;
      }
      break;
    case GoRole::plain:
    case GoRole::injected:
      break;
  }
  return frame_row(function, module_.link_address(runtime));
}

// A row that finds nothing in the caller but the stack pointer: Go code keeps no register for its
// caller, but the one that leads to the goroutine.
UnwindRow GoStacks::row_with(CfaRule cfa) const {
  UnwindRow row;
  row.cfa = cfa;
  row.return_address = arch_.registers.return_address;
  for (const Register number : arch_.registers.callee_saved) {
    if (number != arch_.frame.go->goroutine) {
      row.rules.push_back({number, RegisterRule::undefined()});
    }
  }
  return row;
}

// The depth of the frame. The return address lies above it where calls push it, and else at its
// bottom, or in the link register as long as there is no frame; the frame pointer, which functions
// that have a frame save, right below.
std::optional<UnwindRow> GoStacks::frame_row(const GoFunction& function, Address link) const {
  const auto step = program_.table.step_at(function.sp_table, function.range.begin, link);
  if (!step || step->value < 0) {
    return std::nullopt;
  }
  const std::int64_t pushed = arch_.frame.pushed_by_call;
  const std::int64_t return_at = pushed != 0 ? -pushed : -std::int64_t{step->value};
  const bool has_frame = step->value > 0;
  UnwindRow row = row_with(CfaRule::at(arch_.registers.sp, step->value + pushed));
  row.range = step->range;
  if (pushed != 0 || has_frame) {
    row.rules.push_back({arch_.registers.return_address, RegisterRule::stored_at_cfa(return_at)});
  }
  const auto fp = std::ranges::find(row.rules, arch_.registers.fp, &NamedRule::number);
  if (const auto saved = arch_.frame.go->saved_fp; saved && fp != row.rules.end()) {
    fp->rule = has_frame ? RegisterRule::stored_at_cfa(return_at + *saved) : RegisterRule::same();
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
  std::vector<std::byte> room;
  const std::uint64_t size = std::min(function.range.size(), kMostCode);
  const ByteView code(process_.memory->bytes_at(begin, size, room), arch_.abi.endian);
  return arch_.code.return_path(code, begin, runtime - begin);
}

// By what the code will do until it returns. `runtime` lies in the call; what follows is what goes
// back. Callbacks from C that lie inside each other make a list: where each has saved the stack
// pointer of g0 stands that of the one outside it.
std::optional<UnwindRow> GoStacks::way_back(const GoFunction& function, Address runtime,
                                            std::uint64_t callbacks) {
  auto path = path_from(function, runtime);
  if (!path || (callbacks > 0 && path->outer.empty())) {
    return std::nullopt;
  }
  const std::size_t where = end_of_last_load(path->sp);
  const PathValue found(path->sp.begin(), path->sp.begin() + static_cast<std::ptrdiff_t>(where));
  const auto out = [&](std::optional<PathValue> value) {
    const bool from_there =
        value && value->size() >= where && std::equal(found.begin(), found.end(), value->begin());
    if (callbacks == 0 || !from_there) {
      return callbacks == 0 ? value : std::nullopt;
    }
    PathValue rest(value->begin() + static_cast<std::ptrdiff_t>(where), value->end());
    value->resize(where);
    for (std::uint64_t i = 0; i < callbacks; ++i) {
      value->insert(value->end(), path->outer.begin(), path->outer.end());
    }
    value->insert(value->end(), rest.begin(), rest.end());
    return value;
  };
  const std::int64_t pushed = arch_.frame.pushed_by_call;
  PathValue sp = *out(path->sp);
  sp.push_back({PathStep::Kind::plus, 0, pushed});
  UnwindRow row = row_with({CfaRule::Kind::expression, 0, 0, expression(sp)});
  row.new_stack = true;
  if (pushed != 0) {
    row.rules.push_back({row.return_address, RegisterRule::stored_at_cfa(-pushed)});
  } else if (const auto link = out(path->link)) {
    row.rules.push_back({row.return_address, RegisterRule::computed(expression(*link))});
  } else {
    return std::nullopt;
  }
  const auto fp = std::ranges::find(row.rules, arch_.registers.fp, &NamedRule::number);
  if (const auto value = out(path->fp); value && fp != row.rules.end()) {
    fp->rule = RegisterRule::computed(expression(*value));
  }
  if (path->goroutine) {
    row.rules.push_back(
        {arch_.frame.go->goroutine, RegisterRule::computed(expression(*path->goroutine))});
  }
  return row;
}

// morestack saves its caller's place like systemstack does, but never goes back to it. Where calls
// push the return address, it lies there; else the goroutine's struct keeps it behind the stack
// pointer, and what its caller had in the link register further on.
std::optional<UnwindRow> GoStacks::growth_row(std::uint64_t link_place) {
  const auto& saved = saved_sp();
  if (!saved) {
    return std::nullopt;
  }
  UnwindRow row = row_with({CfaRule::Kind::expression, 0, 0, expression(*saved)});
  row.new_stack = true;
  const std::int64_t pushed = arch_.frame.pushed_by_call;
  if (pushed != 0) {
    row.rules.push_back({row.return_address, RegisterRule::stored_at_cfa(-pushed)});
    return row;
  }
  const auto word_behind = [&](std::uint64_t offset) {
    PathValue word(saved->begin(), saved->end() - 1);
    word.push_back({PathStep::Kind::plus, 0, static_cast<std::int64_t>(offset)});
    word.push_back({PathStep::Kind::deref});
    return RegisterRule::computed(expression(word));
  };
  row.return_address = arch_.registers.pc;
  row.rules.push_back({row.return_address, word_behind(arch_.abi.pointer_size)});
  if (link_place != 0) {
    row.rules.push_back({*arch_.registers.link, word_behind(link_place)});
  }
  row.injected = true;  // the link register is still its caller's
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
      const bool by_thread = end > 2 && path->sp.front().source == arch_.frame.go->goroutine;
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

// struct gobuf of the runtime, in words: sp, pc, g, ctxt, ret (gone since Go 1.25), lr, bp. What is
// read instead of lr is no address of code.
std::uint64_t GoStacks::saved_link(const Registers& registers) {
  const auto& saved = saved_sp();
  if (!saved || !arch_.registers.link) {
    return 0;
  }
  const PathValue place(saved->begin(), saved->end() - 1);
  const auto at = evaluate(expression(place), {arch_, registers, *process_.memory, std::nullopt});
  for (const std::uint64_t words : {5U, 4U}) {
    const std::uint64_t offset = words * arch_.abi.pointer_size;
    const auto link =
        at ? process_.memory->read_unsigned(*at + offset, arch_.abi.pointer_size, arch_.abi.endian)
           : std::nullopt;
    if (link && function_at(*link)) {
      return offset;
    }
  }
  return 0;
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
