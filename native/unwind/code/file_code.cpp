#include "unwind/code/file_code.h"

#include <algorithm>
#include <memory>

#include "object/elf_imports.h"
#include "symbols/symbol_facts.h"
#include "symbols/table/code_areas.h"

namespace whocall {

FileCode::FileCode(const ElfFile& file, const Architecture& arch, const FunctionStarts& starts,
                   const SymbolSources& sources)
    : file_(file),
      arch_(arch),
      starts_(starts),
      sources_(sources),
      imports_(imported_functions(file)),
      confirmed_(file, arch, starts) {}

std::optional<AddressRange> FileCode::function_at(Address link) {
  const std::scoped_lock lock(mutex_);
  return confirmed_.function_at(link);
}

std::string_view FileCode::import_at(Address slot) const {
  const auto found = imports_.find(slot);
  return found == imports_.end() ? std::string_view() : found->second;
}

const std::vector<DirectJump>& FileCode::jumps_between_functions() {
  const std::scoped_lock lock(mutex_);
  if (!jumps_) {
    const auto known = sources_.kept("jumps");
    jumps_ = known ? decode_jumps(*known) : std::nullopt;
  }
  if (!jumps_) {
    jumps_ = find_jumps();
    sources_.keep("jumps", encode(*jumps_));
  }
  return *jumps_;
}

std::vector<DirectJump> FileCode::find_jumps() const {
  std::vector<DirectJump> jumps;
  for (const AddressRange& area : code_areas(file_)) {
    const ByteView bytes = file_.at(area.begin);
    if (const auto inside = bytes.slice(0, std::min<std::uint64_t>(area.size(), bytes.size()))) {
      arch_.code.append_direct_jumps(*inside, area.begin, file_.load_range(), jumps);
    }
  }
  std::erase_if(jumps, [&](const DirectJump& jump) {
    const auto function = starts_.function_at(jump.source);
    return !function || function->contains(jump.target);
  });
  std::ranges::sort(jumps, {}, &DirectJump::target);
  return jumps;
}

FileCode& file_code_of(const ElfFile& file, const Architecture& arch, const FunctionStarts& starts,
                       SymbolSources& sources) {
  return *sources.attachments().get<std::shared_ptr<FileCode>>(
      [&] { return std::make_shared<FileCode>(file, arch, starts, sources); });
}

}  // namespace whocall
