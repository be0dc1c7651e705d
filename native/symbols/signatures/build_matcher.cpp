#include "symbols/signatures/build_matcher.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/long_work.h"
#include "object/elf_dynamic.h"
#include "symbols/signatures/build_pairs.h"

namespace whocall {
namespace {

// What stays of a library's name from version to version: "libssl" of "libssl.so.3".
std::string_view stem(std::string_view soname) {
  return soname.substr(0, std::min(soname.find(".so"), soname.find_first_of("0123456789")));
}

// Folklore. Situation: a compiler makes a function of a part or a variant of another one, of one
// version of it only. Example: gcc's expand_string.part.0, which is in the next build
// expand_string itself. Remedy: such a name is that of the same code alone.
bool is_clone(std::string_view name) { return name.find('.', 1) != std::string_view::npos; }

std::string proof_text(PairProof proof, const std::string& build) {
  switch (proof) {
    case PairProof::references:
      return "what refers to it and code much like it in " + build;
    case PairProof::place:
      return "its place and code much like it in " + build;
    case PairProof::code:
    case PairProof::given:
      break;
  }
  return "the same code in " + build;
}

std::string described(const SignatureSet& set, const SignatureBuild& build) {
  const std::string_view id = set.text(build.build_id);
  return "another build, " + std::string(set.text(build.file)) +
         (id.empty() ? std::string() : ", build id " + std::string(id));
}

// Names that one function has on each side.
std::vector<std::pair<std::uint32_t, std::uint32_t>> same_names(
    const SignatureSet& set, std::span<const BuildFunction> known,
    const std::vector<std::string_view>& names) {
  constexpr std::uint32_t kSeveral = kNoPair;
  std::unordered_map<std::string_view, std::uint32_t> by_name;
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    const auto [entry, is_new] = by_name.emplace(set.text(known[i].name), i);
    entry->second = is_new ? i : kSeveral;
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    const auto entry = names[i].empty() ? by_name.end() : by_name.find(names[i]);
    if (entry != by_name.end() && entry->second != kSeveral) {
      found.emplace_back(entry->second, i);
    }
  }
  return found;
}

// Folklore. Situation: the unlikely part of a function is hardly more than a call. Example: gcc's
// f.cold, which calls abort. Remedy: it has its name only together with its function.
void drop_orphans(const SignatureSet& set, const std::vector<std::string_view>& own,
                  std::vector<BuildMatch>& matches) {
  std::unordered_set<std::string_view> names(own.begin(), own.end());
  for (const BuildMatch& each : matches) {
    names.insert(set.text(each.name));
  }
  std::erase_if(matches, [&](const BuildMatch& each) {
    const std::string_view name = set.text(each.name);
    const std::size_t cold = name.find(".cold");
    return cold != std::string_view::npos && !names.contains(name.substr(0, cold));
  });
}

}  // namespace

bool BuildMatcher::is_another(std::string_view soname) {
  if (!soname_) {
    soname_ = soname_of(file_);
  }
  return stem(*soname_) != stem(soname);
}

void BuildMatcher::read(const Architecture& arch) {
  // Lives as long as the table, which this object keeps: nobody has to own the file.
  const std::shared_ptr<const ElfFile> file(std::shared_ptr<const ElfFile>(), &file_);
  table_ = SymbolTable::from_elf(file, companions_);
  code_ = linked_code_of(file_, arch, *table_);
  names_.resize(code_.ranges.size());
  const SymbolRange symbols = table_->symbols();
  for (std::size_t i = 0, next = 0; i < names_.size(); ++i) {
    const Address start = code_.ranges[i].begin;
    for (; next < symbols.size() && symbols.start(next) <= start; ++next) {
      if (symbols.start(next) == start && names_[i].empty()) {
        names_[i] = symbols[next].name;
      }
    }
  }
}

std::vector<BuildMatch> BuildMatcher::match(const SignatureSet& set, const SignatureBuild& build) {
  std::vector<BuildMatch> matches;
  if (is_another(set.text(build.soname))) {
    return matches;
  }
  const LongWork work("Comparing with another build", file_.path());
  if (table_ == nullptr) {
    read(*set.arch);
  }
  const auto known = std::span(set.build_functions).subspan(build.first_function, build.functions);
  const std::vector<LinkedFunction> functions(known.begin(), known.end());
  const auto pairs =
      pair_builds({functions, set.build_references}, {code_.functions, code_.references},
                  same_names(set, known, names_));
  const std::string described_build = described(set, build);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const SignatureText name = pairs[i].known == kNoPair ? 0 : known[pairs[i].known].name;
    const bool is_whole = pairs[i].proof <= PairProof::code || !is_clone(set.text(name));
    if (name != 0 && names_[i].empty() && is_whole) {
      const bool same = functions[pairs[i].known].code == code_.functions[i].code;
      const Address start = code_.ranges[i].begin;
      matches.push_back({{start, start + (same ? code_.functions[i].size : 0)},
                         name,
                         proof_text(pairs[i].proof, described_build)});
    }
  }
  drop_orphans(set, names_, matches);
  return matches;
}

}  // namespace whocall
