#include "process/live/inferior.h"

#include <utility>

#include "arch/signed_pointers.h"
#include "base/error.h"
#include "memory/callback_memory.h"
#include "process/disjoint_mappings.h"
#include "process/local_process.h"
#include "process/modules/find_modules.h"
#include "process/modules/module_memory.h"
#include "process/proc_files.h"

namespace whocall {
namespace {

// gdb marks files that it reads through the target.
std::string local_path(const std::string& path) {
  constexpr std::string_view kTarget = "target:";
  return path.starts_with(kTarget) ? path.substr(kTarget.size()) : path;
}

}  // namespace

std::unique_ptr<ProcessImage> open_inferior(InferiorSnapshot snapshot, const FileSearch& search) {
  auto image = std::make_unique<ProcessImage>();
  image->arch = find_architecture(std::string_view(snapshot.arch));
  if (image->arch == nullptr) {
    throw Error("inferior",
                "is of an instruction set that whocall does not know: " + snapshot.arch);
  }
  image->arch = &with_signatures_in(*image->arch, snapshot.signature_bits);
  image->pid = snapshot.pid;
  image->threads = std::move(snapshot.threads);
  image->mappings = std::move(snapshot.mappings);
  make_disjoint(image->mappings);
  for (auto& file : snapshot.files) {
    file.path = local_path(file.path);
  }
  auto memory = std::make_unique<CallbackMemory>(std::move(snapshot.read_memory));
  AuxiliaryVector auxiliary;
  auxiliary.vdso = snapshot.vdso;
  const ProcessEvidence evidence{*image->arch, *memory, image->mappings,
                                 auxiliary,    {},      std::move(snapshot.files)};
  const std::int64_t pid = snapshot.is_local ? snapshot.pid : 0;
  image->command_line = pid == 0 ? CommandLine() : command_line_of(pid);
  image->attachments().get<LocalProcess>([&] { return LocalProcess{pid}; });
  find_modules(*image, evidence, {search, pid, pid == 0 ? std::string() : process_root(pid)});
  put_memory(*image, std::move(memory));
  return image;
}

}  // namespace whocall
