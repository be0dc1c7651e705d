#include "unwind/rows/jit_frames.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "object/relocated_section.h"

namespace whocall {

JitFrames::JitFrames(const JitObject& object, const ProcessImage& process)
    : object_(object), process_(process), frames_(object.file->path(), 0) {
  for (const ElfSection& section : object.file->sections()) {
    if (section.name == ".eh_frame") {
      add(Format::eh_frame, section);
    } else if (section.name == ".debug_frame") {
      add(Format::debug_frame, section);
    }
  }
}

void JitFrames::add(Format format, const ElfSection& section) {
  const Endian endian = process_.arch->abi.endian;
  const Address address = format == Format::eh_frame ? section.address : 0;
  const auto written = object_.file->contents(section);
  if (!written) {
    return;
  }
  consider(format, {*written, address});
  const auto keep = [&](std::vector<std::byte> bytes) {
    bytes_.push_back(std::move(bytes));
    consider(format, {ByteView(bytes_.back(), endian), address});
  };
  if (process_.arch->linkage.relocations != nullptr) {
    if (auto bytes =
            relocated_section(*object_.file, section, process_.arch->linkage.relocations());
        !bytes.empty()) {
      keep(std::move(bytes));
    }
  }
  if ((section.flags & SHF_ALLOC) != 0 && section.address != 0) {
    std::vector<std::byte> bytes(written->size());
    bytes.resize(process_.memory->read(section.address, bytes));
    keep(std::move(bytes));
  }
  best_count_ = 0;
  if (best_ != nullptr) {
    frames_.add(best_.get());
    tables_.push_back(std::move(best_));
  }
}

void JitFrames::consider(Format format, const LoadedPart& part) {
  auto info =
      std::make_unique<CallFrameInfo>(format, part, std::nullopt, object_.file->pointer_size());
  const auto ranges = info->ranges();
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(ranges, [&](const AddressRange& range) { return is_own(range); }));
  if (count > best_count_) {
    best_count_ = count;
    best_ = std::move(info);
  }
}

bool JitFrames::is_own(const AddressRange& function) const {
  const AddressRange* code = object_.code_at(function.begin);
  return code != nullptr && function.end <= code->end;
}

CfiRow JitFrames::at(Address runtime) {
  CfiRow found = frames_.at(runtime);
  if (!is_own(found.function)) {
    return {};
  }
  if (is_code_buffer(found.function)) {
    found.function = {};
  }
  return found;
}

bool JitFrames::covers(Address runtime) { return !at(runtime).function.empty(); }

}  // namespace whocall
