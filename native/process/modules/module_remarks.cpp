#include "process/modules/module_remarks.h"

namespace whocall {
namespace {

constexpr std::string_view kNameDirectory =
    "name its directory with --search DIR (in gdb: set whocall search-path DIR)";

std::string id_or_none(const std::string& build_id) {
  return build_id.empty() ? "no build id" : "build id " + build_id;
}

std::string deleted_clause(bool was_deleted) {
  return was_deleted ? " The file was deleted or replaced while the program ran." : "";
}

std::string wanted_file(const Module& module) {
  return module.build_id_in_memory.empty() ? "the file that was loaded"
                                           : "the file with build id " + module.build_id_in_memory;
}

// A path of another machine: all its files lie below one directory here (qemu-user's -L).
std::string remedy_by_root(const Module& module) {
  return module.path.starts_with('/')
             ? ", or give the directory that stands for the root directory there with --sysroot "
               "DIR (in gdb: set sysroot DIR)"
             : "";
}

}  // namespace

std::string remark_on_missing(const Module& module, bool was_deleted) {
  const std::string name = module.path.empty() ? "this module" : module.path;
  return "No file was found for " + name + "." + deleted_clause(was_deleted) + " Copy " +
         wanted_file(module) + " from where the program ran and " + std::string(kNameDirectory) +
         remedy_by_root(module) + ".";
}

std::string remark_on_other_format(const std::string& path) {
  return path + " is no ELF file: it lends no names and no unwind rows.";
}

std::string remark_on_mismatch(const Module& module, const RejectedFile& rejected,
                               bool was_deleted) {
  std::string text = rejected.path;
  if (!module.build_id_in_memory.empty() && !rejected.build_id.empty()) {
    text += " has " + id_or_none(rejected.build_id) + ", but the module in memory has " +
            id_or_none(module.build_id_in_memory);
  } else {
    text += " (" + id_or_none(rejected.build_id) +
            ") is laid out differently from the module in memory";
  }
  return text + ": it lends no names and no unwind rows." + deleted_clause(was_deleted) + " Get " +
         wanted_file(module) + " and " + std::string(kNameDirectory) + ".";
}

std::string remark_on_deleted(const Module& module) {
  return "The file was deleted or replaced while the program ran; " + module.file_path +
         " has the same contents and is used.";
}

std::string remark_on_unproven(const Module& module) {
  return "Memory holds no build id to compare with that of " + module.file_path +
         ": the file was taken for its name and layout, so make sure that it is the one that ran.";
}

std::string remark_on_debuginfod() {
  return " debuginfod may have it: --debuginfod (in gdb: set whocall debuginfod on).";
}

std::string remark_on_debug_only(const Module& module) {
  return "Only the debug file " + module.file_path +
         " was found: it has names, but neither code nor unwind tables. Copy " +
         wanted_file(module) + " from where the program ran and " + std::string(kNameDirectory) +
         ".";
}

std::string remark_on_rebuilt(const std::string& why) {
  return "The image in memory is used in place of a file, so names that only the file holds are "
         "missing. " +
         why;
}

std::string warning_on_program(const std::string& given, const Module& program,
                               const std::string& given_build_id) {
  return given + " (" + id_or_none(given_build_id) +
         ") is not the program that was running: that is " + program.path + " with " +
         id_or_none(program.build_id_in_memory) + ". " +
         (program.state == ModuleState::found ? program.file_path + " is used instead."
                                              : "Name the right program.");
}

std::string warning_on_lost_program(const std::string& path, const std::string& given) {
  return "No file was found for the program " + path +
         (given.empty() ? "" : " (" + given + " does not fit)") +
         ", and without it neither its place nor its libraries are known: the core holds none of "
         "their headers. Give the program after the core, and its libraries' root directory with "
         "--sysroot DIR (in gdb: file PROGRAM, set sysroot DIR).";
}

}  // namespace whocall
