#include "symbols/debug_lines.h"

#include <utility>

#include "arch/architecture.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/mapping_guard.h"
#include "files/supplementary_file.h"
#include "object/debug_image.h"

namespace whocall {
namespace {

DebugInfoFile as_libdw_reads_it(const ElfFile& file) {
  const Architecture* arch = find_architecture(file.identity());
  const bool relocates = arch != nullptr && arch->linkage.relocations != nullptr;
  auto image = debug_image(
      file, relocates ? arch->linkage.relocations() : std::span<const RelocationForm>());
  return {file.path(), image ? std::move(*image) : std::vector<std::byte>()};
}

// What says where files lie. A list of names, or a connection to a server, is not kept alive.
FileSearch directories_of(const FileSearch& search) {
  FileSearch directories;
  directories.sysroot = search.sysroot;
  directories.directories = search.directories;
  directories.debug_directories = search.debug_directories;
  return directories;
}

}  // namespace

DebugLines::DebugLines(const ElfFile& file, std::shared_ptr<const ElfFile> debug_info,
                       const FileSearch& search)
    : file_(std::move(debug_info)), search_(directories_of(search)) {
  if (file_ != nullptr) {
    kept_ = KeptLines(file, *file_);
  }
}

std::vector<SourceLine> DebugLines::at(Address link) {
  if (const std::vector<SourceLine>* known = kept_.find(link)) {
    return *known;
  }
  if (file_ != nullptr) {
    lines_ = open();  // the user's interruption comes through: then the next one asks again
    file_ = nullptr;
  }
  if (lines_ == nullptr) {
    return {};
  }
  std::vector<SourceLine> found = lines_->lines_at(link);
  kept_.add(link, found);
  return found;
}

std::unique_ptr<LineTable> DebugLines::open() const {
  DwarfLibrary* library = DwarfLibrary::get();
  if (library == nullptr) {
    return nullptr;
  }
  try {
    const auto shared = find_supplementary_file(*file_, search_);
    auto supplementary =
        shared != nullptr ? std::make_unique<DebugInfoFile>(as_libdw_reads_it(*shared)) : nullptr;
    return library->open(as_libdw_reads_it(*file_), std::move(supplementary), &check_interrupt,
                         &guard_mapping);
  } catch (const Error&) {
    return nullptr;  // lines are an extra: a file that libdw does not take still has its names
  }
}

}  // namespace whocall
