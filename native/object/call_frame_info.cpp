#include "object/call_frame_info.h"

#include <elf.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/interrupt.h"
#include "base/sort_by_address.h"
#include "object/byte_span.h"
#include "object/frame_entries.h"
#include "object/range_index.h"
#include "object/stale_frames.h"
#include "rules/frame_header.h"

namespace whocall {
namespace {

// All FDEs by address, made when .eh_frame_hdr cannot answer.
struct FdeIndex {
  struct Item {
    AddressRange range;
    std::uint64_t offset = 0;  // of the FDE in the section
  };
  std::vector<Item> items;
  std::vector<RangePiece> pieces;
};

Address section_address(const ElfFile& file, std::string_view name) {
  const ElfSection* section = file.section(name);
  return section == nullptr ? 0 : section->address;
}

AddressRange code_range(const ElfFile& file) {
  AddressRange code{~Address{0}, 0};
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0) {
      code.begin = std::min(code.begin, segment.address);
      code.end = std::max(code.end, end_of(segment.address, segment.memory_size));
    }
  }
  return code.empty() ? AddressRange{} : code;
}

FrameContext context_of(const ElfFile& file) {
  FrameContext context;
  context.text = section_address(file, ".text");
  context.data = section_address(file, ".got");
  context.code = code_range(file);
  return context;
}

}  // namespace

struct CallFrameInfo::Data {
  Data(Format the_format, const LoadedPart& section, const std::optional<LoadedPart>& header_part,
       unsigned pointer_size, const FrameContext& context)
      : format(the_format),
        address(section.address),
        code(context.code),
        entries(the_format, section.bytes,
                PointerBases{section.address, context.text, context.data, pointer_size}) {
    if (header_part) {
      header = rules::FrameHeader(span_of(header_part->bytes, header_part->address), pointer_size);
    }
  }

  [[nodiscard]] bool is_code(const AddressRange& range) const {
    return code.empty() || code.contains(range.begin);
  }
  // Every entry up to a length that leads out of the section, as nothing behind it can be found;
  // on behind terminators: old linkers left some inside.
  template <typename Visit>
  void for_each_entry(Visit visit) const {
    std::size_t turn = 0;
    for (std::uint64_t offset = 0; offset < entries.size();) {
      check_interrupt_at(turn++, kManyEntries);
      const auto entry = entries.entry_at(offset);
      if (!entry) {
        return;
      }
      visit(*entry);
      offset = entry->next;
    }
  }
  // What the header knows of an address.
  struct Answer {
    std::optional<Fde> fde{};
    bool believed = false;  // where there is none: that there is none
  };
  [[nodiscard]] Answer ask_header(Address wanted) const;
  [[nodiscard]] bool header_is_whole() const;
  [[nodiscard]] std::optional<Fde> find_through_index(Address wanted) const;
  void build_index(const CallFrameInfo& info) const;

  Format format;
  Address address;
  AddressRange code;
  FrameEntries entries;
  rules::FrameHeader header;
  static constexpr std::uint64_t kUncounted = ~std::uint64_t{0};
  mutable std::atomic<std::uint64_t> fdes = kUncounted;
  mutable std::once_flag header_checked;
  mutable bool whole = false;
  mutable std::once_flag index_built;
  mutable FdeIndex index;
};

CallFrameInfo::Data::Answer CallFrameInfo::Data::ask_header(Address wanted) const {
  if (header.count() == 0) {
    return {};
  }
  Address place = 0;
  const bool found = header.find(wanted, place);
  const auto entry = found ? entries.entry_at(place - address) : std::nullopt;
  const auto fde = entry ? entries.decode_fde(*entry) : std::nullopt;
  const bool sane = fde && is_code(fde->range) && fde->range.begin <= wanted;
  if (sane && fde->range.contains(wanted)) {
    return {fde};
  }
  return {std::nullopt, (sane || !found) && header_is_whole()};
}

// Whether it knows as many FDEs as there are, in the order that the search takes for granted. Asked
// when it does not find an address, as of code without unwind tables: most of a linker's headers
// are whole, and then no index needs to be made.
bool CallFrameInfo::Data::header_is_whole() const {
  std::call_once(header_checked, [this] {
    const std::uint64_t counted = fdes.load(std::memory_order_relaxed);
    const std::uint64_t count = counted != kUncounted ? counted : entries.count_fdes();
    whole = header.count() == count && header.is_in_order();
  });
  return whole;
}

std::optional<Fde> CallFrameInfo::Data::find_through_index(Address wanted) const {
  const std::uint32_t found = find_range(index.pieces, wanted);
  const auto entry = found == kNoRange ? std::nullopt : entries.entry_at(index.items[found].offset);
  return entry ? entries.decode_fde(*entry) : std::nullopt;
}

void CallFrameInfo::Data::build_index(const CallFrameInfo& info) const {
  index.items.clear();  // of an attempt that Ctrl-C ended
  info.for_each([this](const Fde& fde) {
    if (!fde.range.empty()) {
      index.items.push_back({fde.range, fde.offset});
    }
  });
  sort_by_address(index.items, [](const FdeIndex::Item& item) { return item.range.begin; });
  index.pieces = flatten_ranges(static_cast<std::uint32_t>(index.items.size()),
                                [this](std::uint32_t i) { return index.items[i].range; });
}

CallFrameInfo::CallFrameInfo(Format format, LoadedPart section, std::optional<LoadedPart> header,
                             unsigned pointer_size, FrameContext context)
    : data_(std::make_unique<Data>(format, section, header, pointer_size, context)) {}

CallFrameInfo::~CallFrameInfo() = default;

std::unique_ptr<const CallFrameInfo> CallFrameInfo::of_eh_frame(const ElfFile& file) {
  const auto section = file.eh_frame();
  return section ? std::make_unique<CallFrameInfo>(Format::eh_frame, *section, file.eh_frame_hdr(),
                                                   file.pointer_size(), context_of(file))
                 : nullptr;
}

std::unique_ptr<const CallFrameInfo> CallFrameInfo::of_debug_frame(const ElfFile& file) {
  const auto section = file.debug_frame();
  return section ? std::make_unique<CallFrameInfo>(Format::debug_frame, *section, std::nullopt,
                                                   file.pointer_size(), context_of(file))
                 : nullptr;
}

CallFrameInfo::Format CallFrameInfo::format() const { return data_->format; }

std::optional<Fde> CallFrameInfo::find(Address address) const {
  if (auto answer = data_->ask_header(address); answer.fde || answer.believed) {
    return answer.fde;
  }
  std::call_once(data_->index_built, [this] { data_->build_index(*this); });
  return data_->find_through_index(address);
}

void CallFrameInfo::for_each(const std::function<void(const Fde&)>& visit) const {
  data_->for_each_entry([&](const FrameEntries::Entry& entry) {
    const auto fde = data_->entries.decode_fde(entry);
    if (fde && data_->is_code(fde->range)) {
      visit(*fde);
    }
  });
}

std::vector<AddressRange> CallFrameInfo::ranges() const {
  constexpr std::size_t kUsualFde = 24;  // bytes, or more
  const FrameEntries& entries = data_->entries;
  std::vector<AddressRange> ranges;
  ranges.reserve(entries.size() / kUsualFde);
  std::uint64_t fdes = 0;
  std::size_t turn = 0;
  const auto add = [&](const AddressRange& range) {
    if (!range.empty() && data_->is_code(range)) {
      ranges.push_back(range);
    }
  };
  for (std::uint64_t offset = 0; offset < entries.size();) {
    check_interrupt_at(turn++, kManyEntries);
    const auto entry = entries.entry_at(offset);
    if (!entry) {
      break;
    }
    offset = entry->next;
    fdes += entry->is_fde() ? 1U : 0U;
    if (const auto range = entries.decode_range(*entry)) {
      add(*range);
      offset = entries.for_each_plain_range(offset, entry->cie, [&](const AddressRange& plain) {
        ++fdes;
        add(plain);
      });
    }
  }
  data_->fdes.store(fdes, std::memory_order_relaxed);
  return ranges;
}

namespace {

struct EhFrame {
  std::unique_ptr<const CallFrameInfo> info;
};
struct DebugFrame {
  std::unique_ptr<const CallFrameInfo> info;
};

}  // namespace

const CallFrameInfo* eh_frame_of(const ElfFile& file) {
  const auto make = [&] { return EhFrame{CallFrameInfo::of_eh_frame(file)}; };
  return file.attachments().get<EhFrame>(make).info.get();
}
const CallFrameInfo* debug_frame_of(const ElfFile& file) {
  const auto make = [&] {
    auto info = CallFrameInfo::of_debug_frame(file);
    return DebugFrame{info != nullptr && !is_stale(info->ranges(), file) ? std::move(info)
                                                                         : nullptr};
  };
  return file.attachments().get<DebugFrame>(make).info.get();
}

}  // namespace whocall
