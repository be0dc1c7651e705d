#include "symbols/flirt/flirt_matcher.h"

#include <algorithm>
#include <unordered_map>

#include "base/interrupt.h"
#include "symbols/flirt/flirt_candidates.h"
#include "symbols/flirt/flirt_names.h"

namespace whocall {
namespace {

// Bytes that are proof by themselves.
constexpr std::uint32_t kAlone = 64;
// Bytes that tell a module from others, when something else confirms it.
constexpr std::uint32_t kEnough = 32;
// Bytes by which a reference confirms where its name is defined.
constexpr std::uint32_t kConfirms = 12;
// Bytes of one that is called by its name.
constexpr std::uint32_t kCalled = 8;
// What a reference is worth that leads where its name is known to lie, in bytes.
constexpr std::uint32_t kAgreement = 8;
// Another module that fits there and has this many times fewer bytes is a coincidence.
constexpr std::uint32_t kFarWeaker = 4;
// Functions so far away are neighbours, and the next ones.
constexpr std::ptrdiff_t kAround = 16;
constexpr std::ptrdiff_t kAmong = 48;
constexpr std::ptrdiff_t kNext = 4;
// Others that may be modules, among the neighbours of one that nothing else confirms; and how many
// are recognised in all before one is believed.
// Folklore. Situation: macros and templates make families of functions, of the same code as those
// that they make elsewhere. Example: khash's, which are netmap_get, netmap_put and two more in a
// library, and shop_get and its kin in a program without that library. Remedy: four that vouch for
// each other are none.
constexpr std::size_t kCompany = 10;
constexpr unsigned kMostRounds = 16;
// What fits in more places tells nothing.
constexpr std::size_t kMostPlaces = 64;

// Folklore. Situation: a program instantiates the templates that a library does, too. Example:
// std::vector<unsigned>::push_back, byte for byte that of std::vector<int>. Remedy: such a name
// holds only where a recognised function calls it so.
bool is_of_template(std::string_view name) {
  if (!name.starts_with("_Z")) {
    return name.starts_with("_RI") || name.find("?$") != std::string_view::npos;
  }
  for (std::size_t at = 2; at < name.size();) {
    std::size_t length = 0;
    for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && length < name.size(); ++at) {
      length = 10 * length + static_cast<std::size_t>(name[at] - '0');
    }
    if (length == 0 && at < name.size() && name[at] == 'I') {
      return true;
    }
    at += std::max<std::size_t>(length, 1);
  }
  return false;
}

using State = FlirtCandidate::State;
using Known = FlirtNames::Known;

class Matcher {
 public:
  Matcher(const FlirtProgram& program, const FlirtIndex& index)
      : program_(program),
        set_(index.set()),
        names_(program, set_),
        candidates_(find_flirt_candidates(program, index)) {}

  std::vector<FlirtMatch> run() {
    prepare();
    for (unsigned round = 0; round < kMostRounds; ++round) {
      const std::size_t before = names_.accepted().size();
      for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
        check_interrupt_at(i, kManyEntries);
        if (candidates_[i].state == State::open && is_proved(i)) {
          candidates_[i].state = State::accepted;
          names_.accept(candidates_[i]);
        }
      }
      if (names_.accepted().size() == before) {
        break;
      }
    }
    return matches();
  }

 private:
  [[nodiscard]] std::string_view name_of(const FlirtCandidate& candidate) const {
    const auto names = set_.names_of(set_.modules[candidate.module]);
    const auto told = std::ranges::find_if(names, &FlirtName::is_told);
    return told == names.end() ? std::string_view() : set_.text(told->text);
  }

  // Of all that fits: who claims which name, and what another file has after all.
  void prepare() {
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      FlirtCandidate& candidate = candidates_[i];
      for (const FlirtName& each : set_.names_of(set_.modules[candidate.module])) {
        if (each.is_told()) {
          by_name_[set_.text(each.text)].push_back({i, candidate.address + each.offset});
        }
      }
      if (std::ranges::any_of(candidate.branches, [&](const FlirtBranch& each) {
            return names_.is_imported(each) || leads_inside(candidate, each);
          })) {
        candidate.state = State::refused;
      }
    }
  }

  // Folklore. Situation: the bytes that a file has of a function are those that saving registers
  // takes, and linking writes what follows. Example: 24 of the 132 of MIPS's
  // __libc_regcomp_freemem are those of libgcc's btree_destroy as well, in the midst of glibc's
  // functions; where the one calls free_dfa_content, the other has the end of a loop. Remedy: what
  // is called by name is no place inside of the caller.
  [[nodiscard]] bool leads_inside(const FlirtCandidate& candidate,
                                  const FlirtBranch& branch) const {
    const FlirtModule& module = set_.modules[candidate.module];
    const Address offset = branch.target - candidate.address;
    return offset < module.size &&
           std::ranges::none_of(set_.names_of(module),
                                [&](const FlirtName& name) { return name.offset == offset; });
  }

  struct Voices {
    std::uint32_t agreed = 0;  // references that lead to functions of their names
    bool contradicted = false;
  };
  [[nodiscard]] Voices voices_of(const FlirtCandidate& candidate) {
    Voices voices;
    for (const FlirtBranch& branch : candidate.branches) {
      const std::string_view name = set_.text(branch.name);
      const Known state = names_.known(name, branch.target);
      voices.agreed += state == Known::same ? 1 : 0;
      voices.contradicted = voices.contradicted || state == Known::other;
    }
    for (const FlirtName& each : set_.names_of(set_.modules[candidate.module])) {
      const Known state = names_.known(set_.text(each.text), candidate.address + each.offset);
      voices.contradicted = voices.contradicted || (state == Known::other && !each.is_local);
    }
    return voices;
  }

  [[nodiscard]] bool is_generic(const FlirtCandidate& candidate) const {
    return is_of_template(name_of(candidate));
  }

  // Whether another module could as well be what stands there.
  [[nodiscard]] bool has_rival(std::uint32_t at) const {
    const FlirtCandidate& ours = candidates_[at];
    const auto is_rival = [&](const FlirtCandidate& other) {
      return other.may_be() && other.weight * kFarWeaker >= ours.weight &&
             name_of(other) != name_of(ours);
    };
    const auto here = [&](std::uint32_t i) {
      return i < candidates_.size() && candidates_[i].address == ours.address;
    };
    for (std::uint32_t i = at; i > 0 && here(i - 1); --i) {
      if (is_rival(candidates_[i - 1])) {
        return true;
      }
    }
    for (std::uint32_t i = at + 1; here(i); ++i) {
      if (is_rival(candidates_[i])) {
        return true;
      }
    }
    return false;
  }

  // Whether the module would fit elsewhere, too: a program has a name that all see once.
  [[nodiscard]] bool is_elsewhere(const FlirtCandidate& ours) const {
    const auto names = set_.names_of(set_.modules[ours.module]);
    return std::ranges::any_of(names, [&](const FlirtName& name) {
      const auto claims = by_name_.find(set_.text(name.text));
      return !name.is_local && (claims->second.size() > kMostPlaces ||
                                std::ranges::any_of(claims->second, [&](const Claim& each) {
                                  const FlirtCandidate& other = candidates_[each.candidate];
                                  return each.address != ours.address + name.offset &&
                                         other.may_be() && other.weight * kFarWeaker >= ours.weight;
                                }));
    });
  }

  [[nodiscard]] bool is_proved(std::uint32_t at) {
    FlirtCandidate& candidate = candidates_[at];
    const Voices voices = voices_of(candidate);
    if (voices.contradicted) {
      candidate.state = State::refused;
      return false;
    }
    if (name_of(candidate).empty() || has_rival(at)) {
      return false;
    }
    if (is_called_by_name(candidate)) {
      return candidate.weight >= kCalled;
    }
    if (is_generic(candidate) || is_elsewhere(candidate)) {
      return false;
    }
    const std::uint32_t agreed = candidate.weight + voices.agreed * kAgreement;
    const bool is_agreed = voices.agreed != 0 && candidate.weight >= kConfirms;
    if (candidate.weight >= kAlone && has_company(at)) {
      return true;
    }
    const bool is_enough = (is_agreed && agreed >= kEnough) || candidate.weight >= kEnough;
    return (is_enough && is_among(candidate.address, kAmong)) ||
           (candidate.weight >= kConfirms && is_among(candidate.address, kNext));
  }

  // Folklore. Situation: a function is the same from version to version and has another name, or it
  // is the only one that is the same. Example: strncmp of glibc 2.13 is __strncmp_sse2 of 2.36,
  // whose other functions are not those of 2.13. Remedy: modules do not stand alone.
  [[nodiscard]] bool has_company(std::uint32_t at) const {
    const std::vector<Address>& starts = program_.starts();
    const auto place = std::ranges::lower_bound(starts, candidates_[at].address) - starts.begin();
    const auto around = [&](std::ptrdiff_t distance) {
      return starts[std::clamp<std::ptrdiff_t>(place + distance, 0, std::ssize(starts) - 1)];
    };
    const auto first =
        std::ranges::lower_bound(candidates_, around(-kAround), {}, &FlirtCandidate::address);
    const auto last =
        std::ranges::upper_bound(candidates_, around(kAround), {}, &FlirtCandidate::address);
    std::size_t company = 0;
    Address latest = candidates_[at].address;
    for (auto each = first; each != last && company < kCompany; ++each) {
      const bool counts = each->may_be() && each->weight >= kEnough && !is_generic(*each) &&
                          each->address != candidates_[at].address && each->address != latest;
      company += counts ? 1 : 0;
      latest = counts ? each->address : latest;
    }
    return company >= kCompany;
  }

  // Whether recognised functions stand among the `count` before it, and among those behind it.
  // Folklore. Situation: a program has a function of its own that does what one of a library does
  // and calls the same. Example: my_wcsnlen, byte for byte musl's wcsnlen, which is not linked in.
  // Remedy: linkers keep what they take of a library together.
  [[nodiscard]] bool is_among(Address address, std::ptrdiff_t count) const {
    const std::vector<Address>& starts = program_.starts();
    const auto at = std::ranges::lower_bound(starts, address) - starts.begin();
    const auto is_known = [&](std::ptrdiff_t each) {
      return each >= 0 && each < std::ssize(starts) && names_.accepted().contains(starts[each]);
    };
    bool before = false;
    bool behind = false;
    for (std::ptrdiff_t i = 1; i <= count; ++i) {
      before = before || is_known(at - i);
      behind = behind || is_known(at + i);
    }
    return before && behind;
  }

  // Whether a recognised module refers to it by its name.
  [[nodiscard]] bool is_called_by_name(const FlirtCandidate& candidate) const {
    return std::ranges::any_of(
        set_.names_of(set_.modules[candidate.module]), [&](const FlirtName& each) {
          return names_.is_called(set_.text(each.text), candidate.address + each.offset);
        });
  }

  [[nodiscard]] std::vector<FlirtMatch> matches() const {
    std::vector<FlirtMatch> found;
    if (names_.accepted().size() <= kCompany) {
      return found;
    }
    for (const auto& [address, each] : names_.accepted()) {
      if (std::ranges::binary_search(program_.starts(), address)) {
        found.push_back({each.range, each.names.front()});
      }
    }
    return found;
  }

  struct Claim {
    std::uint32_t candidate = 0;
    Address address = 0;
  };

  const FlirtProgram& program_;
  const FlirtSet& set_;
  FlirtNames names_;
  std::vector<FlirtCandidate> candidates_;  // ascending by address
  std::unordered_map<std::string_view, std::vector<Claim>> by_name_;
};

}  // namespace

bool is_for(const FlirtSet& set, const Abi& abi) {
  const bool fits_width = abi.pointer_size == 8 ? !set.only_32_bits : !set.only_64_bits;
  return fits_width && (set.processor == kNoFlirtProcessor || set.processor == abi.flirt_processor);
}

std::vector<FlirtMatch> match_flirt(const FlirtProgram& program, const FlirtIndex& index) {
  return Matcher(program, index).run();
}

}  // namespace whocall
