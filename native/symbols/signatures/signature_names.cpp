#include "symbols/signatures/signature_names.h"

#include <sys/stat.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"
#include "symbols/signatures/build_matcher.h"
#include "symbols/signatures/signature_file.h"
#include "symbols/signatures/signature_matcher.h"

namespace whocall {
namespace {

struct LoadedSignatures {
  timespec changed{};
  off_t size = 0;
  std::weak_ptr<const SignatureIndex> index;
};

bool fits(const ElfFile& file, const Architecture& arch) { return arch.abi.is_of(file.identity()); }

struct Found {
  AddressRange range;
  std::string_view name;
  bool disputed = false;
  std::string proof{};
};

using FoundNames = std::map<Address, Found>;

void add(const SignatureIndex& index, const ElfFile& file, FoundNames& found) {
  for (const SignatureMatch& match : match_signatures(file, index)) {
    const std::string_view name = index.set().text(match.name);
    const auto [entry, is_new] = found.emplace(match.range.begin, Found{match.range, name});
    entry->second.disputed = entry->second.disputed || entry->second.name != name;
  }
}

void add_builds(const SignatureSet& set, BuildMatcher& matcher, FoundNames& found) {
  for (const SignatureBuild& build : set.builds) {
    for (BuildMatch& match : matcher.match(set, build)) {
      const std::string_view name = set.text(match.name);
      const auto [entry, is_new] = found.emplace(match.range.begin, Found{match.range, name});
      entry->second.disputed = entry->second.disputed || entry->second.name != name;
      if (is_new) {
        entry->second.proof = std::move(match.proof);
      }
    }
  }
}

}  // namespace

// A process has many modules: its signatures are read once for all of them.
std::shared_ptr<const SignatureIndex> open_signatures(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, LoadedSignatures> known;
  static std::shared_ptr<const SignatureIndex> latest;  // keeps one from module to module
  struct stat status = {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  const std::lock_guard lock(mutex);
  LoadedSignatures& entry = known[path];
  auto index = entry.index.lock();
  if (index == nullptr || !is_there || entry.size != status.st_size ||
      entry.changed.tv_sec != status.st_mtim.tv_sec ||
      entry.changed.tv_nsec != status.st_mtim.tv_nsec) {
    const auto file = MappedFile::open(path);
    index = std::make_shared<const SignatureIndex>(
        decode_signatures(ByteView(file->bytes(), Endian::little), path));
    entry = {status.st_mtim, status.st_size, index};
  }
  latest = index;
  return index;
}

std::optional<NameList> signature_names(const ElfFile& file, const FileSearch& search,
                                        Companions& others) {
  std::string& remark = others.remark;
  auto owners = std::make_shared<std::vector<std::shared_ptr<const SignatureIndex>>>();
  FoundNames found;
  BuildMatcher matcher(file, others);
  const Architecture* other = nullptr;
  for (const std::string& path : search.signature_files) {
    try {
      auto index = open_signatures(path);
      if (fits(file, *index->set().arch)) {
        add(*index, file, found);
        add_builds(index->set(), matcher, found);
        owners->push_back(std::move(index));
      } else {
        other = index->set().arch;
      }
    } catch (const Error& error) {
      remark += (remark.empty() ? "" : " ") + std::string(error.what()) + ".";
    }
  }
  if (other != nullptr && owners->empty()) {
    remark += (remark.empty() ? "" : " ") + std::string("The signature files are for ") +
              std::string(other->name) + ", this file is not: they say nothing.";
  }
  NameList list;
  NameProofs proofs;
  for (const auto& [address, each] : found) {
    if (!each.disputed) {
      Symbol symbol;
      symbol.range = each.range;
      symbol.name = each.name;
      symbol.source = NameSource::signature;
      symbol.global = true;
      symbol.exact_end = !each.range.empty();
      list.symbols.push_back(symbol);
      if (!each.proof.empty()) {
        proofs.emplace(address, each.proof);
      }
    }
  }
  list.proofs = proofs.empty() ? nullptr : std::make_shared<const NameProofs>(std::move(proofs));
  list.owner = std::move(owners);
  return list.symbols.empty() ? std::nullopt : std::optional(std::move(list));
}

}  // namespace whocall
