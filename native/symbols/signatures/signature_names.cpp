#include "symbols/signatures/signature_names.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "object/elf_architecture.h"
#include "symbols/flirt/flirt_matcher.h"
#include "symbols/signatures/build_matcher.h"
#include "symbols/signatures/open_signatures.h"
#include "symbols/signatures/signature_matcher.h"

namespace whocall {
namespace {

struct Found {
  AddressRange range;
  std::string_view name;
  bool disputed = false;
  std::string proof{};
};

bool fits(const ElfFile& file, const Architecture& arch) { return arch.abi.is_of(file.identity()); }

std::string flirt_proof(const FlirtSet& set) {
  return "FLIRT signatures" + (set.library.empty() ? "" : " of \"" + set.library + "\"");
}

// What the files say of one program.
class Recogniser {
 public:
  Recogniser(const ElfFile& file, Companions& companions)
      : file_(file), companions_(companions), matcher_(file, companions) {}

  void ask(const std::string& path) {
    try {
      OpenedSignatures opened = open_signatures(path);
      const bool is_heard = opened.own != nullptr ? ask(*opened.own) : ask(*opened.flirt, path);
      if (is_heard) {
        owners_->push_back(std::move(opened));
      }
    } catch (const Error& error) {
      remark(error.what() + std::string("."));
    }
  }

  std::optional<NameList> names() {
    if (!others_.empty() && owners_->empty()) {
      remark("The signature files are for " + others_ + ", this file is not: they say nothing.");
    }
    NameList list;
    NameProofs proofs;
    for (const auto& [address, each] : found_) {
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
    list.owner = std::move(owners_);
    return list.symbols.empty() ? std::nullopt : std::optional(std::move(list));
  }

 private:
  void remark(const std::string& sentence) {
    companions_.remark += (companions_.remark.empty() ? "" : " ") + sentence;
  }

  void add(const AddressRange& range, std::string_view name, std::string proof = {}) {
    const auto [entry, is_new] = found_.emplace(range.begin, Found{range, name});
    entry->second.disputed = entry->second.disputed || entry->second.name != name;
    if (is_new) {
      entry->second.proof = std::move(proof);
    }
  }

  // False where they are for another instruction set.
  bool ask(const SignatureIndex& index) {
    const SignatureSet& set = index.set();
    if (!fits(file_, *set.arch)) {
      others_ = set.arch->name;
      return false;
    }
    for (const SignatureMatch& match : match_signatures(file_, index)) {
      add(match.range, set.text(match.name));
    }
    for (const SignatureBuild& build : set.builds) {
      for (BuildMatch& match : matcher_.match(set, build)) {
        add(match.range, set.text(match.name), std::move(match.proof));
      }
    }
    return true;
  }

  bool ask(const FlirtIndex& index, const std::string& path) {
    const Architecture* arch = find_architecture(file_.identity());
    if (arch != nullptr && arch->abi.flirt_processor == kNoFlirtProcessor) {
      if (!is_told_) {
        remark("FLIRT files are not used for " + std::string(arch->name) +
               ", whose code linkers shorten: take them out of the list.");
      }
      is_told_ = true;
      return true;
    }
    if (arch == nullptr || !is_for(index.set(), arch->abi)) {
      remark(path + " is a FLIRT file for another instruction set: it says nothing.");
      return true;
    }
    if (program_ == nullptr) {
      program_ = std::make_unique<FlirtProgram>(file_, *arch, companions_);
    }
    for (const FlirtMatch& match : match_flirt(*program_, index)) {
      add(match.range, match.name, flirt_proof(index.set()));
    }
    return true;
  }

  const ElfFile& file_;
  Companions& companions_;
  BuildMatcher matcher_;
  std::unique_ptr<FlirtProgram> program_;  // null until FLIRT's files ask
  std::map<Address, Found> found_;
  bool is_told_ = false;  // that FLIRT files are of no use
  std::string others_;    // an instruction set that files are for, and this one is not of
  std::shared_ptr<std::vector<OpenedSignatures>> owners_ =
      std::make_shared<std::vector<OpenedSignatures>>();
};

}  // namespace

std::optional<NameList> signature_names(const ElfFile& file, const FileSearch& search,
                                        Companions& others) {
  if (search.signature_files.empty()) {
    return std::nullopt;
  }
  Recogniser recogniser(file, others);
  for (const std::string& path : search.signature_files) {
    recogniser.ask(path);
  }
  return recogniser.names();
}

}  // namespace whocall
