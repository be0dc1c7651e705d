// What is said to the user of a module whose file is not to be had.
#pragma once

#include <string>

#include "files/file_finder.h"
#include "process/process_image.h"

namespace whocall {

// All are whole sentences that say what to do.
std::string remark_on_missing(const Module& module, bool was_deleted);
// Of a module that is known by the file at `path` alone, which is no ELF file.
std::string remark_on_other_format(const std::string& path);
// `rejected` is the first file that was there but is another one.
std::string remark_on_mismatch(const Module& module, const RejectedFile& rejected,
                               bool was_deleted);
// Of a file that was found although the process says that it is gone.
std::string remark_on_deleted(const Module& module);
// Of a file that no build id speaks for or against.
std::string remark_on_unproven(const Module& module);
// Stands behind another: that a server which nobody has asked may have the file.
std::string remark_on_debuginfod();
std::string remark_on_debug_only(const Module& module);
// Of a file that was put together again from memory; `why` is the remark on the file itself.
std::string remark_on_rebuilt(const std::string& why);
std::string warning_on_program(const std::string& given, const Module& program,
                               const std::string& given_build_id);
// Of a core that has no headers of its program (qemu-user's), whose file is not at hand.
std::string warning_on_lost_program(const std::string& path, const std::string& given);

}  // namespace whocall
