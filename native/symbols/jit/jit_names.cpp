#include "symbols/jit/jit_names.h"

#include <algorithm>
#include <utility>

#include "base/interrupt.h"
#include "process/jit/jit_objects.h"
#include "symbols/jit/jit_files.h"
#include "symbols/jit/jit_object_names.h"
#include "symbols/jit/jitdump.h"
#include "symbols/jit/perf_map.h"

namespace whocall {
namespace {

constexpr std::size_t kCompared = 4096;  // bytes of a function's code

// Folklore. Situation: a log of a JIT compiler tells of code that was overwritten since without a
// word, or is of another process with the same id. Example: a core whose jit-PID.dump was written
// again. Remedy: of the code that the log has, most bytes have to be in memory; compilers patch
// calls and constants later, so not all.
bool holds_code(const Memory& memory, Address address, std::span<const std::byte> code) {
  code = code.first(std::min(code.size(), kCompared));
  std::size_t same = 0;
  std::size_t compared = 0;
  while (compared < code.size()) {
    const auto run = memory.run_at(address + compared);
    const std::size_t size = std::min(run.size(), code.size() - compared);
    if (size == 0) {
      break;
    }
    for (std::size_t i = 0; i < size; ++i) {
      same += run[i] == code[compared + i] ? 1 : 0;
    }
    compared += size;
  }
  return 2 * same >= compared;
}

}  // namespace

std::optional<AddressRange> JitNames::registered_function_at(Address runtime) {
  const JitFunction* function = at(runtime);
  return function != nullptr && function->source == NameSource::jit_object &&
                 !is_code_buffer(function->range)
             ? std::optional(function->range)
             : std::nullopt;
}

const JitFunction* JitNames::at(Address runtime) {
  return process_.may_be_jit_code(runtime) ? all().at(runtime) : nullptr;
}

const JitFunctions& JitNames::all() {
  if (!loaded_) {
    functions_ = {};  // somebody may have interrupted it
    load();
    loaded_ = true;
  }
  return functions_;
}

// Where several tell of an address the last is right: a log may be old, the process itself says
// what it has now.
void JitNames::load() {
  std::vector<JitFunction> registered;
  const auto objects = jit_objects_of(process_).all();
  for (auto object = objects.rbegin(); object != objects.rend(); ++object) {
    for (JitFunction& function : functions_of(*object, *process_.arch)) {
      if (is_code_buffer(function.range)) {
        functions_.add(std::move(function));
      } else {
        registered.push_back(std::move(function));
      }
    }
  }
  load_logs();
  for (JitFunction& function : registered) {
    functions_.add(std::move(function));
  }
  const auto& of_objects = jit_objects_of(process_).remarks();
  remarks_.insert(remarks_.end(), of_objects.begin(), of_objects.end());
}

// Perf maps first: where both tell of an address, the jitdump's own code proves it right.
void JitNames::load_logs() {
  Budget budget("A log of a JIT compiler", 0);
  JitFiles files = find_jit_files(process_);
  remarks_ = std::move(files.remarks);
  for (const PerfMapFile& map : files.perf_maps) {
    JitFunctions found;
    read_perf_map(map.text, found, budget);
    const auto covered = std::ranges::count_if(
        found.all(), [this](const auto& each) { return process_.may_be_jit_code(each.first); });
    if (map.unproven && 2 * covered < static_cast<std::ptrdiff_t>(found.all().size())) {
      remarks_.push_back(map.path + " does not fit the memory of the core: it lends no names.");
      continue;
    }
    std::size_t turn = 0;
    for (const auto& [start, function] : found.all()) {
      check_interrupt_at(turn++, kManyEntries);
      functions_.add(function);
    }
  }
  for (const auto& dump : files.jitdumps) {
    read_jitdump(
        dump->bytes(),
        [this](Address address, std::span<const std::byte> code) {
          return holds_code(*process_.memory, address, code);
        },
        functions_, budget);
  }
}

std::vector<SourceLine> JitNames::lines_at(const JitFunction& function, Address runtime) const {
  const auto next =
      std::upper_bound(function.lines.begin(), function.lines.end(), runtime,
                       [](Address address, const JitLine& line) { return address < line.address; });
  if (next == function.lines.begin()) {
    return {};
  }
  const JitLine& line = *std::prev(next);
  return {{function.name, functions_.files[line.file], line.line}};
}

}  // namespace whocall
