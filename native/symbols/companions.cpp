#include "symbols/companions.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "object/xz.h"
#include "symbols/go_names.h"
#include "symbols/lists/symbol_files.h"
#include "symbols/signatures/signature_names.h"

namespace whocall {
namespace {

// Symbols of a hundred million bytes of code fit; a small hostile section costs no more than this.
constexpr std::uint64_t kLargestImage = std::uint64_t{256} << 20;

}  // namespace

std::shared_ptr<const ElfFile> read_gnu_debugdata(const ElfFile& file, std::string& remark) {
  const ElfSection* section = file.section(".gnu_debugdata");
  if (section == nullptr) {
    return nullptr;
  }
  const auto packed = file.contents(*section);
  const std::uint64_t room = file.budget().left(Cost::unpacked);
  auto image = packed ? unpack_xz(*packed, std::min(room, kLargestImage)) : std::nullopt;
  if (image && file.budget().draw(Cost::unpacked, image->size())) {
    try {
      auto found = ElfFile::from_memory(std::move(*image), file.path() + " (.gnu_debugdata)");
      if (found->machine() == file.machine() && found->pointer_size() == file.pointer_size() &&
          found->endian() == file.endian() &&
          (found->build_id().empty() || found->build_id() == file.build_id())) {
        return found;
      }
    } catch (const Error&) {
      // Said below.
    }
  }
  remark = "The section .gnu_debugdata of " + file.path() +
           " is damaged, too large or not for this file: it lends no names.";
  return nullptr;
}

Companions companions_of(const ElfFile& file, const FileSearch& search, DebugFile debug) {
  Companions companions;
  if (debug.file != nullptr) {
    companions.files.push_back({std::move(debug.file), NameSource::debug_file});
  }
  companions.remark = std::move(debug.remark);
  std::string trouble;
  if (auto image = read_gnu_debugdata(file, trouble)) {
    companions.files.push_back({std::move(image), NameSource::gnu_debugdata});
  }
  SymbolLists given = symbol_lists_of(file, search);
  companions.lists = std::move(given.lists);
  std::string damage;
  if (auto names = go_names(file, damage)) {
    companions.lists.push_back(std::move(*names));
  }
  for (const std::string& sentence : {trouble, given.remark, damage}) {
    if (!sentence.empty()) {
      companions.remark += (companions.remark.empty() ? "" : " ") + sentence;
    }
  }
  if (auto list = signature_names(file, search, companions.remark)) {
    companions.lists.push_back(std::move(*list));
  }
  return companions;
}

}  // namespace whocall
