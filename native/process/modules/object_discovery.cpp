#include "process/modules/object_discovery.h"

#include <elf.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/interrupt.h"
#include "base/joined_ranges.h"
#include "memory/memory_text.h"
#include "object/elf_dynamic.h"
#include "process/modules/link_map.h"
#include "process/modules/loaded_program.h"
#include "process/modules/memory_and_file.h"
#include "process/modules/pe_objects.h"

namespace whocall {
namespace {

// A damaged core can have any number of mappings; each costs a read.
constexpr std::size_t kScanLimit = 65536;

// The vDSO by the name that it gives itself.
bool is_kernels(std::string_view soname) {
  return soname.starts_with("linux-vdso") || soname.starts_with("linux-gate");
}

std::string_view name_in_path(std::string_view path) { return path.substr(path.rfind('/') + 1); }

class Discovery {
 public:
  Discovery(const ProcessEvidence& evidence, const FileOfObject& file_of)
      : evidence_(evidence), file_of_(file_of), memory_(evidence.memory), arch_(evidence.arch) {}

  std::vector<LoadedObject> run() {
    objects_ = group_mappings(evidence_.mappings, memory_, arch_, *evidence_.budget);
    const auto has = [&](const LoadedObject& object) { return file_of_(object).has_value(); };
    take_pe_objects(evidence_.mappings, memory_, has, objects_);
    const auto room = evidence_.budget->left(Cost::modules);
    if (!evidence_.budget->draw(Cost::modules, objects_.size())) {
      objects_.resize(room);
    }
    const bool named = std::ranges::any_of(
        evidence_.mappings, [](const Mapping& mapping) { return !mapping.path.empty(); });
    for (const auto& file : evidence_.files) {
      add_debugger_file(file);
    }
    for (const ToldModule& module : evidence_.told) {
      check_interrupt();
      add_told_module(module);
    }
    find_program();
    find_program_file();
    add_link_map();
    add_interpreter();
    add_vdso();
    if (!named && evidence_.files.empty() && evidence_.told.empty()) {
      scan_mappings();
    }
    return std::move(objects_);
  }

 private:
  LoadedObject* covering(Address runtime) {
    const auto found = std::ranges::find_if(
        objects_, [&](const LoadedObject& object) { return object.range().contains(runtime); });
    return found == objects_.end() ? nullptr : &*found;
  }

  LoadedObject* program() {
    const auto found = std::ranges::find_if(objects_, &LoadedObject::is_program);
    return found == objects_.end() ? nullptr : &*found;
  }

  [[nodiscard]] std::string program_path() const {
    const auto& place = evidence_.auxiliary.program_path;
    const std::string path = place ? read_string(memory_, *place) : "";
    return path.empty() ? evidence_.program_name : path;
  }

  // gdb's path is where the file was found on this machine, so it replaces the mapping's.
  void add_debugger_file(const LoadedFile& file) {
    auto found = std::ranges::find_if(objects_, [&](const LoadedObject& object) {
      return object.image && !object.bias && object.image->bias == file.bias &&
             (file.bias != 0 || name_in_path(object.path) == name_in_path(file.path) ||
              (file.is_executable && object.image->type == ET_EXEC));
    });
    if (found == objects_.end()) {
      found = std::ranges::find_if(objects_, [&](const LoadedObject& object) {
        return !object.image && !object.bias &&
               name_in_path(object.path) == name_in_path(file.path);
      });
    }
    if (found == objects_.end()) {
      found = objects_.insert(objects_.end(), LoadedObject{});
      found->image = read_loaded_elf(memory_, file.bias, arch_);
    }
    found->path = file.path;
    found->bias = file.bias;
    found->is_program = file.is_executable && program() == nullptr;
  }

  // Headers in memory, where there are any, say more than the list.
  void add_told_module(const ToldModule& module) {
    LoadedObject* object = covering(module.range.begin);
    if (object == nullptr && !evidence_.budget->draw(Cost::modules, 1)) {
      return;
    }
    if (object == nullptr) {
      object = &objects_.emplace_back();
      object->path = module.path;
      object->by_file = module.range;
    }
    object->is_program |= module.is_executable && program() == nullptr;
    object->build_id = object->begin ? object->build_id : module.build_id;
    object->begin = object->begin.value_or(module.range.begin);  // Breakpad has rows for its pages
  }

  void find_program() {
    const AuxiliaryVector& auxiliary = evidence_.auxiliary;
    if (program() != nullptr) {
      return;
    }
    for (const auto& place : {auxiliary.program_headers, auxiliary.entry}) {
      if (LoadedObject* object = place ? covering(*place) : nullptr; object != nullptr) {
        object->is_program = true;
        return;
      }
    }
    if (auxiliary.program_headers || auxiliary.entry) {
      add_program();
      return;
    }
    guess_program();
  }

  // The main program where no mapping names it (cores that qemu-user writes).
  void add_program() {
    LoadedObject object;
    object.is_program = true;
    object.path = program_path();
    object.image = read_loaded_program(memory_, evidence_.auxiliary, arch_);
    objects_.push_back(std::move(object));
  }

  // Without an auxiliary vector: the object with the process's name, else the lowest.
  void guess_program() {
    const std::string_view name = name_in_path(evidence_.program_name);
    auto found = std::ranges::find_if(objects_, [&](const LoadedObject& object) {
      return !name.empty() && name_in_path(object.path).starts_with(name);
    });
    if (found == objects_.end()) {
      found = objects_.begin();
    }
    if (found != objects_.end()) {
      found->is_program = true;
    }
  }

  void find_program_file() {
    LoadedObject* main = program();
    if (main != nullptr && !main->image) {
      program_file_ = take_file(*main);
    }
  }

  // Small files have their first page mapped twice, as code and as data: the second header there
  // is of no other object.
  std::optional<FileAtPlace> take_file(LoadedObject& object) const {
    auto found = file_of_(object);
    if (found) {
      object.by_file = loaded_range(found->file->segments(), found->bias);
    }
    return found;
  }

  // The program's headers, in memory or in its file; a miss when both are not to be had.
  std::optional<LoadedElf> program_headers() {
    const LoadedObject* main = program();
    if (main == nullptr || main->image || !program_file_) {
      return main == nullptr ? std::nullopt : main->image;
    }
    LoadedElf image;
    image.bias = program_file_->bias;
    image.type = program_file_->file->type();
    image.entry = program_file_->file->entry();
    const auto segments = program_file_->file->segments();
    image.segments.assign(segments.begin(), segments.end());
    return image;
  }

  // The dynamic linker as the program asks for it; empty when the program is static.
  std::string interpreter_path() {
    const LoadedObject* main = program();
    if (main == nullptr || !main->image) {
      return program_file_ ? program_file_->file->interpreter() : std::string();
    }
    const ElfSegment* name = segment_of_type(main->image->segments, PT_INTERP);
    return name == nullptr ? "" : read_string(memory_, name->address + main->image->bias);
  }

  void add_link_map() {
    const auto main = program_headers();
    if (!main) {
      return;
    }
    const MemoryAndFile memory(memory_, program_file_ ? program_file_->file.get() : nullptr,
                               program_file_ ? program_file_->bias : 0);
    for (const LinkMapEntry& entry : read_link_map(memory, *main, arch_)) {
      const bool is_vdso = evidence_.auxiliary.vdso && entry.bias == *evidence_.auxiliary.vdso;
      if (entry.path.empty() || is_vdso || covering(entry.dynamic) != nullptr) {
        continue;
      }
      LoadedObject object;
      object.path = entry.path;
      object.dynamic = entry.dynamic;
      object.image = read_listed_elf(memory_, entry, evidence_.mappings, arch_);
      if (object.image) {
        object.bias = object.image->bias;
      } else {
        object.bias = entry.bias;
        if (!take_file(object)) {
          object.by_file = range_to_dynamic_table(entry, evidence_.mappings);
        }
      }
      objects_.push_back(std::move(object));
    }
  }

  // A crash before the linker has set up its list still has the linker itself.
  void add_interpreter() {
    const auto place = evidence_.auxiliary.interpreter;
    const bool listed = std::ranges::any_of(
        objects_, [&](const LoadedObject& object) { return object.bias && object.bias == place; });
    if (!place || listed || covering(*place) != nullptr) {
      return;
    }
    LoadedObject object;
    object.image = read_loaded_elf(memory_, *place, arch_);
    object.path = interpreter_path();
    if (!object.image) {
      object.bias = place;  // linkers are linked at 0
      take_file(object);
    }
    if (object.image || !object.path.empty()) {
      objects_.push_back(std::move(object));
    }
  }

  void add_vdso() {
    const auto place = evidence_.auxiliary.vdso;
    LoadedObject object;
    object.image = place ? read_loaded_elf(memory_, *place, arch_) : std::nullopt;
    if (!object.image) {
      return;
    }
    std::erase_if(objects_, [&](const LoadedObject& other) {
      return other.image && other.image->header == *place;
    });
    object.path = "[vdso]";
    object.is_vdso = true;
    objects_.push_back(std::move(object));
  }

  void scan_mappings() {
    const std::size_t count = std::min(evidence_.mappings.size(), kScanLimit);
    std::vector<AddressRange> known;
    std::ranges::transform(objects_, std::back_inserter(known), &LoadedObject::range);
    JoinedRanges covered(std::move(known));
    for (const Mapping& mapping : evidence_.mappings.first(count)) {
      check_interrupt();
      if (covered.contains(mapping.range.begin)) {
        continue;
      }
      LoadedObject object;
      object.image = read_loaded_elf(memory_, mapping.range.begin, arch_);
      if (object.image && evidence_.budget->draw(Cost::modules, 1)) {
        const auto file =
            rebuild_file(memory_, *object.image, arch_, "image in memory", *evidence_.budget);
        object.path = file == nullptr ? "" : soname_of(*file);
        object.is_vdso = is_kernels(object.path);
        if (object.is_vdso) {
          object.path = "[vdso]";
        }
        covered.add(object.range());
        objects_.push_back(std::move(object));
      }
    }
    if (program() == nullptr) {
      guess_program();
      name_by_link_map();
    }
  }

  // Of a core that has lost all notes on its files: the program's name is that of the process, the
  // dynamic linker knows those of the libraries.
  void name_by_link_map() {
    LoadedObject* main = program();
    if (main == nullptr || !main->image) {
      return;
    }
    if (main->path.empty()) {
      main->path = evidence_.program_name;
    }
    for (const LinkMapEntry& entry : read_link_map(memory_, *main->image, arch_)) {
      LoadedObject* object = covering(entry.dynamic);
      if (object != nullptr && !object->is_vdso && !entry.path.empty()) {
        object->path = entry.path;
      }
    }
  }

  const ProcessEvidence& evidence_;
  const FileOfObject& file_of_;
  std::optional<FileAtPlace> program_file_;  // where memory tells no headers
  const Memory& memory_;
  const Architecture& arch_;
  std::vector<LoadedObject> objects_;
};

}  // namespace

std::vector<LoadedObject> discover_objects(const ProcessEvidence& evidence,
                                           const FileOfObject& file_of) {
  return Discovery(evidence, file_of).run();
}

}  // namespace whocall
