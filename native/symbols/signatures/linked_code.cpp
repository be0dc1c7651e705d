#include "symbols/signatures/linked_code.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/interrupt.h"
#include "base/long_work.h"
#include "object/elf_decoder.h"
#include "object/elf_imports.h"
#include "symbols/discovery/function_starts.h"
#include "symbols/signatures/mixed_hash.h"
#include "symbols/table/code_areas.h"
#include "symbols/table/plt_symbols.h"

namespace whocall {
namespace {

constexpr std::size_t kShortestText = 4;  // characters
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kRun = 3;                                 // instructions
constexpr std::size_t kLargest = std::size_t{1} << 24U;         // bytes of a function
constexpr std::size_t kMostReferences = std::size_t{1} << 26U;  // of a file

bool tells_something(std::byte byte) {
  return byte != std::byte{0x00} && byte != std::byte{0x90} && byte != std::byte{0xcc};
}

bool is_text(std::string_view text) {
  return std::ranges::all_of(text, [](char each) {
    return static_cast<signed char>(each) < 0 || (each >= ' ' && each != 0x7f) ||
           (each >= '\t' && each <= '\r') || each == 0x1b;
  });
}

class CodeReaderOfFile {
 public:
  CodeReaderOfFile(const ElfFile& file, const Architecture& arch)
      : file_(file),
        arch_(arch),
        areas_(code_areas(file)),
        imports_(imported_functions(file)),
        decoder_(decoder_for(file, arch)),
        reader_(arch.code.make_placed_reader({file.load_range(), file.type() == ET_EXEC})) {}

  LinkedCode run(const SymbolTable& symbols) {
    const FunctionStarts starts(file_, arch_, symbols);
    for (std::size_t i = 0; i < starts.all().size(); ++i) {
      const FunctionStart& start = starts.all()[i];
      const auto range = starts.function_of(i);
      const bool counts = start.evidence.certain() || start.evidence.is_function();
      if (range && counts && range->size() <= kLargest && !is_in_plt(file_, start.address)) {
        known_.emplace(start.address, code_.ranges.size());
        code_.ranges.push_back(*range);
      }
    }
    LongWork work("Reading the functions of", file_.path());
    for (std::size_t i = 0; i < code_.ranges.size(); ++i) {
      check_interrupt_at(i, kManyEntries);
      work.reached(i, code_.ranges.size());
      read(code_.ranges[i]);
    }
    return std::move(code_);
  }

 private:
  void read(const AddressRange& range) {
    LinkedFunction function;
    function.sketch.fill(kEmptySketch);
    function.first_reference = static_cast<std::uint32_t>(code_.references.size());
    runs_ = {};
    reader_->begin();
    const ByteView rest = file_.at(range.begin);
    const ByteView code = *rest.slice(0, std::min<std::uint64_t>(range.size(), rest.size()));
    const std::size_t end = end_of_code(range, code);
    std::uint64_t hash = 0;
    for (std::size_t at = 0; at < end;) {
      const PlacedOperands instruction = next(range, code, at);
      const auto bytes = std::span(instruction.bytes).first(instruction.size);
      const std::uint64_t own = mixed_hash(bytes);
      hash = mixed(hash, own);
      function.weight += static_cast<std::uint32_t>(std::ranges::count_if(bytes, tells_something));
      sketch(own, function.sketch);
      for (const PlacedTarget& target : instruction.list()) {
        if (code_.references.size() < kMostReferences) {
          code_.references.push_back(reference_to(target));
        }
      }
      at += instruction.size;
    }
    function.code = hash;
    function.size = static_cast<std::uint32_t>(end);
    function.references =
        static_cast<std::uint32_t>(code_.references.size()) - function.first_reference;
    code_.functions.push_back(function);
  }

  std::size_t size_at(const AddressRange& range, ByteView code, std::size_t at, bool& padding) {
    const auto instruction = decoder_->decode(code.from(at), range.begin + at);
    padding = instruction && instruction->padding;
    const std::size_t size = instruction ? instruction->size : 0;
    return size == 0 || size > code.size() - at || size > PlacedOperands().bytes.size() ? 1 : size;
  }

  // Up to where its last instruction goes that is no padding, int3 and zeros being such.
  std::size_t end_of_code(const AddressRange& range, ByteView code) {
    std::size_t end = 0;
    sizes_.clear();
    for (std::size_t at = 0; at < code.size();) {
      bool padding = false;
      const std::size_t size = size_at(range, code, at, padding);
      const auto bytes = code.bytes().subspan(at, size);
      at += size;
      sizes_.push_back(static_cast<std::uint8_t>(size));
      end = padding || std::ranges::none_of(bytes, tells_something) ? end : at;
    }
    index_ = 0;
    return end;
  }

  PlacedOperands next(const AddressRange& range, ByteView code, std::size_t at) {
    const std::size_t size = sizes_[index_++];
    const auto instruction = code.slice(at, size);
    return reader_->read(*instruction, range.begin + at, range);
  }

  void sketch(std::uint64_t own, CodeSketch& into) {
    std::rotate(runs_.begin(), runs_.begin() + 1, runs_.end());
    runs_.back() = own;
    const std::uint64_t run = mixed(mixed(runs_[0], runs_[1]), runs_[2]);
    std::uint32_t& place = into[run % into.size()];
    place = std::min(place, static_cast<std::uint32_t>(run >> 32U));
  }

  LinkedReference reference_to(const PlacedTarget& target) {
    const auto function = known_.find(target.address & arch_.code.pointer_mask);
    if (function != known_.end()) {
      return {LinkedKind::function, function->second};
    }
    if (const auto import = imports_.find(target.address); import != imports_.end()) {
      return {LinkedKind::import, hash_of(import->second)};
    }
    if (is_code(target.address)) {
      return reference_to_code(target.address);
    }
    if (target.is_branch) {
      return {};
    }
    if (const auto text = text_at(target.address)) {
      return {LinkedKind::text, hash_of(*text)};
    }
    return {LinkedKind::data, data_.emplace(target.address, data_.size()).first->second};
  }

  LinkedReference reference_to_code(Address address) const {
    const auto stub = arch_.linkage.stub_at(file_.at(address), address);
    const auto import = stub && stub->slot ? imports_.find(*stub->slot) : imports_.end();
    return import == imports_.end() ? LinkedReference{}
                                    : LinkedReference{LinkedKind::import, hash_of(import->second)};
  }

  [[nodiscard]] bool is_code(Address address) const {
    const auto next = std::ranges::upper_bound(areas_, address, {}, &AddressRange::begin);
    return next != areas_.begin() && std::prev(next)->contains(address);
  }

  [[nodiscard]] std::optional<std::string_view> text_at(Address address) const {
    const ElfSection* section = file_.section_at(address);
    if (section == nullptr || section->type != SHT_PROGBITS || (section->flags & SHF_WRITE) != 0) {
      return std::nullopt;
    }
    const ByteView rest = file_.at(address);
    const auto text =
        ByteView(rest.bytes().first(std::min(rest.size(), kLongestText)), rest.endian())
            .c_string(0);
    return text && text->size() >= kShortestText && is_text(*text) ? text : std::nullopt;
  }

  static std::uint64_t hash_of(std::string_view text) {
    return mixed_hash(std::as_bytes(std::span(text)));
  }

  const ElfFile& file_;
  const Architecture& arch_;
  std::vector<AddressRange> areas_;
  std::unordered_map<Address, std::string_view> imports_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::unique_ptr<PlacedReader> reader_;
  LinkedCode code_;
  std::unordered_map<Address, std::uint64_t> known_;  // functions by their starts
  std::unordered_map<Address, std::uint64_t> data_;
  std::array<std::uint64_t, kRun> runs_{};  // the last instructions
  std::vector<std::uint8_t> sizes_;         // of the function's instructions
  std::size_t index_ = 0;
};

}  // namespace

LinkedCode linked_code_of(const ElfFile& file, const Architecture& arch,
                          const SymbolTable& symbols) {
  if (arch.code.make_placed_reader == nullptr || arch.code.make_decoder == nullptr) {
    return {};
  }
  return CodeReaderOfFile(file, arch).run(symbols);
}

}  // namespace whocall
