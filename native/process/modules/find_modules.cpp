#include "process/modules/find_modules.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "files/file_finder.h"
#include "object/elf_dynamic.h"
#include "object/embedded_file.h"
#include "process/modules/module_mappings.h"
#include "process/modules/module_remarks.h"
#include "process/modules/pe_objects.h"
#include "process/program_entry.h"

namespace whocall {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

// Where neither headers nor a file tell the bias: libraries and position-independent programs are
// linked at 0; other programs run where they were linked, low in the address space (0x400000,
// 0x8048000, 0x120000000), where no loader puts anything else.
Address assumed_bias(const LoadedObject& object) {
  constexpr Address kLow = 0x10000000;
  const Address begin = object.range().begin;
  if (object.pieces.empty() || (object.is_program && (begin < kLow || begin == 0x120000000))) {
    return 0;
  }
  return is_archive_name(object.path) ? begin : begin - object.pieces.front().offset;
}

// With the slash at its end; empty without one.
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }
std::string file_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Turns one object into one module.
class ModuleMaker {
 public:
  ModuleMaker(const ProcessEvidence& evidence, const ModuleSearch& search, FileFinder& finder)
      : evidence_(evidence),
        search_(search),
        finder_(finder),
        program_folder_(folder_of(search.files.exe)) {}

  // The file for an object whose headers memory does not hold, and the bias that it tells.
  std::optional<FileAtPlace> file_of(const LoadedObject& object) {
    Module module = make(object);
    if (module.state != ModuleState::found) {
      return std::nullopt;
    }
    return FileAtPlace{module.file, module.bias};
  }

  Module make(const LoadedObject& object) {
    Module module;
    module.path = object.path;
    module.is_executable = object.is_program;
    module.range = object.range();
    if (object.bias) {
      module.bias = *object.bias;
    } else if (object.image) {
      module.bias = object.image->bias;
    } else {
      module.bias = assumed_bias(object);
    }
    if (object.image) {
      module.build_id_in_memory = build_id_in_memory(evidence_.memory, object.image->segments,
                                                     object.image->bias, evidence_.arch);
    }
    if (module.build_id_in_memory.empty()) {
      module.build_id_in_memory = object.build_id;
    }
    if (object.is_vdso) {
      module.file = rebuild_file(evidence_.memory, *object.image, evidence_.arch, module.path,
                                 *evidence_.budget);
      module.state = module.file == nullptr ? ModuleState::missing : ModuleState::in_memory;
    } else {
      take_file(object, module);
    }
    return module;
  }

 private:
  void take_file(const LoadedObject& object, Module& module) {
    FileQuery query;
    query.path = module.path;
    const bool was_deleted = query.path.ends_with(kDeleted);
    if (was_deleted) {
      query.path.resize(query.path.size() - kDeleted.size());
    }
    query.build_id = module.build_id_in_memory;
    query.offset = object.pieces.empty() ? 0 : object.pieces.front().offset;
    query.budget = evidence_.budget.get();
    query.fits = [&](const ElfFile& file) { return fits(object, file, module); };
    add_special_paths(object, was_deleted, query);
    FoundFile found = finder_.find(query);
    // A debug file has neither code nor unwind tables: an image in memory is more, and the debug
    // file lends it its names.
    if (found.file != nullptr && !(found.debug_only && use_memory(object, module))) {
      accept(object, std::move(found), was_deleted, module);
      return;
    }
    // Where memory tells nothing of an ELF file either, none is to be expected.
    const bool other = !found.other_format.empty() && !was_deleted && !object.image &&
                       module.build_id_in_memory.empty();
    std::string remark =
        other ? remark_on_other_format(found.other_format) : remark_on_missing(module, was_deleted);
    if (!found.rejected.empty()) {
      module.file_path = found.rejected.front().path;
      module.build_id_on_disk = found.rejected.front().build_id;
      remark = remark_on_mismatch(module, found.rejected.front(), was_deleted);
    }
    if (!found.remark.empty()) {
      remark += " " + found.remark;
    } else if (search_.files.debuginfod == nullptr && !module.build_id_in_memory.empty()) {
      remark += remark_on_debuginfod();
    }
    if (module.file != nullptr || use_memory(object, module)) {
      module.remark = remark_on_rebuilt(remark);
      return;
    }
    module.state = found.rejected.empty() ? ModuleState::missing : ModuleState::mismatch;
    module.remark = std::move(remark);
  }

  // The user's program comes first. A live process gives us the very file that it has mapped,
  // whatever has become of its name.
  void add_special_paths(const LoadedObject& object, bool was_deleted, FileQuery& query) const {
    if (object.is_program && !search_.files.exe.empty()) {
      query.first.push_back(search_.files.exe);
    }
    // Who brings a core home from a board lays the libraries beside the program.
    if (!object.is_program && !program_folder_.empty() && !object.path.empty()) {
      query.last.push_back(program_folder_ + file_part(object.path));
    }
    if (search_.pid == 0) {
      return;
    }
    const std::string process = "/proc/" + std::to_string(search_.pid);
    auto& paths = was_deleted ? query.first : query.last;
    if (object.is_program) {
      paths.push_back(process + "/exe");
    }
    if (!object.pieces.empty()) {
      std::array<char, 64> range{};
      const AddressRange& piece = object.pieces.front().range;
      std::snprintf(range.data(), range.size(), "/map_files/%llx-%llx",
                    static_cast<unsigned long long>(piece.begin),
                    static_cast<unsigned long long>(piece.end));
      paths.push_back(process + range.data());
    }
  }

  // The page with the build id may be in memory though that of the headers is not: the file's own
  // headers tell where it lies.
  [[nodiscard]] bool fits(const LoadedObject& object, const ElfFile& file, Module& module) const {
    if (object.pe) {
      return is_pe_of(object, file, evidence_.mappings, evidence_.memory);
    }
    if (object.image) {
      return same_layout(file, *object.image);
    }
    const auto bias = object.bias ? object.bias : bias_by_file(object, file);
    if (!bias || !memory_agrees(object, file, *bias)) {
      return false;
    }
    const std::string id =
        build_id_in_memory(evidence_.memory, file.segments(), *bias, evidence_.arch);
    if (module.build_id_in_memory.empty()) {
      module.build_id_in_memory = id;
    }
    return id.empty() || file.build_id().empty() || id == file.build_id();
  }

  // What is known without headers: where the dynamic table lies, and which memory may be executed.
  // Situation: the program was built anew since, and begins where it did. Its code has grown over
  // what was mapped. Remedy: every page of code must be one that can be executed.
  [[nodiscard]] bool memory_agrees(const LoadedObject& object, const ElfFile& file,
                                   Address bias) const {
    const ElfSegment* dynamic = segment_of_type(file.segments(), PT_DYNAMIC);
    if (object.dynamic && (dynamic == nullptr || dynamic->address + bias != object.dynamic)) {
      return false;
    }
    return !object.pieces.empty() || code_is_executable(file.segments(), bias, evidence_.mappings);
  }

  // Where headers could not be read from memory, the file's own tell where it was loaded.
  [[nodiscard]] std::optional<Address> bias_by_file(const LoadedObject& object,
                                                    const ElfFile& file) const {
    if (object.begin) {
      return *object.begin - file.load_range().begin / 4096 * 4096;
    }
    if (!object.pieces.empty()) {
      return bias_of_pieces(file, object.pieces);
    }
    if (object.is_program && evidence_.auxiliary.entry) {
      const Address bias = *evidence_.auxiliary.entry - file.entry();
      const bool possible = file.type() == ET_EXEC ? bias == 0 : bias % 4096 == 0;
      return possible ? std::optional(bias) : std::nullopt;
    }
    return file.type() == ET_EXEC ? std::optional<Address>(0) : std::nullopt;
  }

  void accept(const LoadedObject& object, FoundFile found, bool was_deleted, Module& module) {
    module.file_path = found.path;
    module.build_id_on_disk = found.file->build_id();
    module.path = path_in_container(module.path, name_in_container(*found.file));
    if (object.is_program) {
      program_folder_ = folder_of(found.path);
    }
    if (!object.image && !object.bias) {
      module.bias = bias_by_file(object, *found.file).value_or(0);
    }
    if (!object.image) {
      normalize_bias(*found.file, module);
      module.range = loaded_range(found.file->segments(), module.bias);
      module.build_id_in_memory =
          build_id_in_memory(evidence_.memory, found.file->segments(), module.bias, evidence_.arch);
      if (module.build_id_in_memory.empty()) {
        module.build_id_in_memory = object.build_id;
      }
    }
    module.state = ModuleState::found;
    module.file = std::move(found.file);
    if (module.build_id_in_memory.empty() && !module.build_id_on_disk.empty()) {
      module.remark = remark_on_unproven(module);
    }
    if (was_deleted && module.remark.empty()) {
      module.remark = remark_on_deleted(module);
    }
    if (found.debug_only) {
      module.remark = remark_on_debug_only(module);
    }
  }

  // A link map of 32-bit words tells "negative" biases modulo 2^32.
  void normalize_bias(const ElfFile& file, Module& module) const {
    const Address low = file.load_range().begin;
    module.bias = ((module.bias + low) & evidence_.arch.address_mask()) - low;
  }

  // Whether the image in memory is whole enough to stand in for the file.
  bool use_memory(const LoadedObject& object, Module& module) const {
    if (!object.image) {
      module.file = rebuild_pe(object, evidence_.memory, module.path, *evidence_.budget);
      module.bias =
          module.file == nullptr ? module.bias : *object.begin - module.file->load_range().begin;
      module.state = module.file == nullptr ? module.state : ModuleState::in_memory;
      return module.file != nullptr;
    }
    module.file = rebuild_file(evidence_.memory, *object.image, evidence_.arch, module.path,
                               *evidence_.budget);
    if (module.file == nullptr) {
      return false;
    }
    module.state = ModuleState::in_memory;
    const bool one_of_many = is_archive_name(module.path);
    module.path = path_in_container(module.path, one_of_many ? soname_of(*module.file) : "");
    return true;
  }

  const ProcessEvidence& evidence_;
  const ModuleSearch& search_;
  FileFinder& finder_;
  std::string program_folder_;  // with its slash; of the user's program until one is found
};

// Sorts, and cuts or drops what overlaps a module that begins lower.
void make_disjoint(std::vector<Module>& modules) {
  std::erase_if(modules, [](const Module& module) { return module.range.empty(); });
  std::ranges::stable_sort(modules, {}, [](const Module& module) { return module.range.begin; });
  std::vector<Module> result;
  for (Module& module : modules) {
    if (!result.empty() && module.range.begin < result.back().range.end) {
      if (module.range.begin == result.back().range.begin) {
        continue;
      }
      result.back().range.end = module.range.begin;
    }
    result.push_back(std::move(module));
  }
  modules = std::move(result);
}

// Whether `given` is the program's name in a process that sees other files than we do.
bool is_name_in_process(const Module& program, const std::string& given,
                        const ModuleSearch& search) {
  return !search.process_root.empty() && program.path == given &&
         program.file_path.starts_with("/proc/");
}

void judge_given_program(ProcessImage& image, const ModuleSearch& search, FileFinder& finder) {
  const std::string& given = search.files.exe;
  const auto program = std::ranges::find_if(image.modules, &Module::is_executable);
  if (given.empty() ||
      (program != image.modules.end() && is_name_in_process(*program, given, search))) {
    return;
  }
  const auto file = finder.open(given);
  if (file == nullptr) {
    image.warnings.push_back("No ELF file could be opened at " + given +
                             ". Give the path of the program.");
  } else if (program != image.modules.end() && program->file != file) {
    image.warnings.push_back(warning_on_program(given, *program, file->build_id()));
  }
}

}  // namespace

void find_modules(ProcessImage& image, const ProcessEvidence& evidence,
                  const ModuleSearch& search) {
  image.search = search.files;
  keep_program_entry(image, evidence.auxiliary.entry);
  FileFinder finder(search.files, evidence.arch, search.process_root);
  ModuleMaker maker(evidence, search, finder);
  const auto file_of = [&](const LoadedObject& object) { return maker.file_of(object); };
  std::string program_path;
  for (const LoadedObject& object : discover_objects(evidence, file_of)) {
    image.modules.push_back(maker.make(object));
    program_path = object.is_program ? object.path : program_path;
  }
  make_disjoint(image.modules);
  complete_mappings(image, evidence.told);
  name_vdso(image, evidence.auxiliary.vdso);
  const auto program = std::ranges::find_if(image.modules, &Module::is_executable);
  if (program != image.modules.end()) {
    // Not the kernel's own link to a deleted program: nobody could open it later.
    const bool lasting =
        program->state == ModuleState::found && !program->file_path.starts_with("/proc/");
    image.exe_path = lasting ? program->file_path : program->path;
  } else {
    image.exe_path = search.files.exe.empty() ? evidence.program_name : search.files.exe;
  }
  judge_given_program(image, search, finder);
  if (program == image.modules.end() && !program_path.empty()) {
    image.warnings.push_back(warning_on_lost_program(program_path, search.files.exe));
  }
}

}  // namespace whocall
