#include "unwind/rows/cfi_tables.h"

#include "files/debug_files.h"
#include "object/mini_debug_info.h"

namespace whocall {

// .eh_frame and .debug_frame of one module, the latter also out of .gnu_debugdata and of its
// separate debug file.
class CfiTables::ModuleTables {
 public:
  ModuleTables(const Module& module, const FileSearch& search)
      : file_(*module.file), search_(search), frames_(module.path, module.bias) {
    frames_.add(eh_frame_of(file_));
    frames_.add(debug_frame_of(file_));
  }

  CfiRow at(Address runtime) {
    CfiRow found = frames_.at(runtime);
    while (found.function.empty() && open_next()) {
      found = frames_.at(runtime);
    }
    return found;
  }

  bool covers(Address runtime) {
    bool found = frames_.covers(runtime);
    while (!found && open_next()) {
      found = frames_.covers(runtime);
    }
    return found;
  }

 private:
  // True when there is something new to look at.
  bool open_next() { return open_packed() || open_debug_file(); }

  // Folklore. Situation: a file without .eh_frame that was stripped. Example: Android's libraries
  // for ARM, and what its runtime compiles of applications (.oat, .odex): their .debug_frame is
  // packed into .gnu_debugdata, beside the names. Remedy: look there before other files are asked.
  bool open_packed() {
    if (packed_tried_) {
      return false;
    }
    const CallFrameInfo* packed = packed_debug_frame_of(file_);
    packed_tried_ = true;  // only now: Ctrl-C may have ended it
    return frames_.add(packed);
  }

  // Folklore. Situation: a library without .eh_frame. Example: musl's, whose distributions ship
  // .debug_frame in the debug file alone. Remedy: where no table of the file itself covers an
  // address, look there.
  bool open_debug_file() {
    if (debug_file_tried_) {
      return false;
    }
    debug_file_ = find_debug_file(file_, search_).file;
    debug_file_tried_ = true;  // only now: an interrupted download may be tried again
    return debug_file_ != nullptr && frames_.add(debug_frame_of(*debug_file_));
  }

  const ElfFile& file_;
  const FileSearch& search_;
  std::shared_ptr<const ElfFile> debug_file_;
  bool debug_file_tried_ = false;
  bool packed_tried_ = false;
  CompiledFrames frames_;
};

CfiTables::CfiTables(const ProcessImage& process)
    : process_(process), modules_(process.modules.size()) {}

CfiTables::~CfiTables() = default;

CfiTables::ModuleTables* CfiTables::tables_for(const Module& module) {
  if (module.file == nullptr) {
    return nullptr;
  }
  auto& tables = modules_[static_cast<std::size_t>(&module - process_.modules.data())];
  if (tables == nullptr) {
    tables = std::make_unique<ModuleTables>(module, process_.search);
  }
  return tables.get();
}

std::optional<CfiRow> CfiTables::row_at(Address runtime) {
  const CfiRow& found = cached(runtime);
  return found.row != nullptr ? std::optional(found) : std::nullopt;
}

std::optional<AddressRange> CfiTables::function_at(Address runtime) {
  const CfiRow& found = cached(runtime);
  return !found.function.empty() ? std::optional(found.function) : std::nullopt;
}

bool CfiTables::covers(Address runtime) {
  const Module* module = process_.module_at(runtime);
  if (ModuleTables* tables = module != nullptr ? tables_for(*module) : nullptr) {
    return tables->covers(runtime);
  }
  JitFrames* frames = jit_frames_at(runtime);
  return frames != nullptr && frames->covers(runtime);
}

JitFrames* CfiTables::jit_frames_at(Address runtime) {
  const JitObject* object =
      process_.may_be_jit_code(runtime) ? jit_objects_of(process_).at(runtime) : nullptr;
  if (object == nullptr) {
    return nullptr;
  }
  auto& frames = jit_[object];
  if (frames == nullptr) {
    frames = std::make_unique<JitFrames>(*object, process_);
  }
  return frames.get();
}

const CfiRow& CfiTables::cached(Address runtime) {
  Slot& slot = slots_[(runtime ^ (runtime >> 10U)) % kSlots];
  if (slot.runtime != runtime) {
    slot = {runtime, look_up(runtime)};
  }
  return slot.found;
}

CfiRow CfiTables::look_up(Address runtime) {
  const Module* module = process_.module_at(runtime);
  if (ModuleTables* tables = module != nullptr ? tables_for(*module) : nullptr) {
    return tables->at(runtime);
  }
  JitFrames* frames = jit_frames_at(runtime);
  return frames != nullptr ? frames->at(runtime) : CfiRow();
}

}  // namespace whocall
