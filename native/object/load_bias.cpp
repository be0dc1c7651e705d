#include "object/load_bias.h"

#include <elf.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/interrupt.h"

namespace whocall {
namespace {

constexpr Address kPage = 4096;                               // bytes
constexpr std::uint64_t kMostCode = std::uint64_t{1} << 30U;  // bytes: a file may be one large hole
// Half a dozen addresses tell. A log that was written to keep whoever reads it busy has thousands.
constexpr std::size_t kMostAddresses = 64;
// Of the bytes before any address so many end in what looks like a call, at the most.
constexpr double kChance = 0.05;
constexpr double kLikelyEnough = 0.001;

// The one executable segment, of a file that has code and not its headers alone.
std::optional<AddressRange> code_of(const ElfFile& file) {
  const ElfSection* text = file.section(".text");
  std::optional<AddressRange> found;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0) {
      if (found || (text != nullptr && text->type == SHT_NOBITS)) {
        return std::nullopt;
      }
      found = AddressRange{segment.address, segment.address + file.at(segment.address).size()};
    }
  }
  return found && !found->empty() && found->size() <= kMostCode ? found : std::nullopt;
}

// How likely it is that behind all of so many places but `odd` a call seems to end.
double chance(std::size_t count, std::size_t odd) {
  return std::pow(static_cast<double>(count), static_cast<double>(odd)) *
         std::pow(kChance, static_cast<double>(count) - static_cast<double>(odd));
}

class BiasSearch {
 public:
  BiasSearch(const ElfFile& file, const Architecture& arch, AddressRange code,
             std::span<const Address> addresses)
      : file_(file), arch_(arch), code_(code) {
    for (const Address each : addresses) {
      const Address address = arch_.code_address(each);
      if (std::ranges::find(wanted_, address) == wanted_.end() && wanted_.size() < kMostAddresses) {
        wanted_.push_back(address);
      }
    }
    std::ranges::sort(wanted_);
    const Address first = file.load_range().begin / kPage * kPage;
    moved_ = first == 0;
    const auto places = moved_ ? code_.size() / kPage + 1 : 1;
    tries_ = static_cast<double>(places) * static_cast<double>(wanted_.size());
  }

  std::optional<Address> run() {
    for (const Address anchor : wanted_) {
      if (!moved_) {
        weigh(0);
      } else {
        weigh_all_of(anchor);
      }
      if (best_) {
        break;
      }
    }
    return several_ ? std::nullopt : best_;
  }

 private:
  // All places, whole pages apart, where `anchor` may lie in the code, behind a call.
  void weigh_all_of(Address anchor) {
    for (Address at = (anchor - code_.begin) % kPage; at < code_.size(); at += kPage) {
      check_interrupt_at(at / kPage, kManyEntries);
      const Address link = code_.begin + at;
      if (link <= anchor && ends_call(link)) {
        weigh(anchor - link);
      }
    }
  }

  void weigh(Address bias) {
    const auto first = std::ranges::upper_bound(wanted_, code_.begin + bias);
    const auto end = std::ranges::lower_bound(wanted_, code_.end + bias);
    const auto inside = first < end ? static_cast<std::size_t>(end - first) : 0;
    if (tries_ * chance(inside, 0) > kLikelyEnough) {
      return;
    }
    const auto odd = static_cast<std::size_t>(
        std::count_if(first, end, [&](Address each) { return !ends_call(each - bias); }));
    if (odd > 1 || tries_ * chance(inside, odd) > kLikelyEnough) {
      return;
    }
    several_ = several_ || (best_ && inside == best_inside_);
    if (!best_ || inside > best_inside_) {
      best_ = bias;
      best_inside_ = inside;
      several_ = false;
    }
  }

  // Whether a call instruction may end at a link address.
  [[nodiscard]] bool ends_call(Address link) const {
    if (!code_.contains(link)) {
      return false;
    }
    const Address size = std::min<Address>(link - code_.begin, arch_.code.longest_call);
    const auto before = file_.at(link - size).slice(0, size);
    const auto call = before && size != 0 ? arch_.code.call_before(*before, link) : std::nullopt;
    return call && (!call->target || code_.contains(*call->target));
  }

  const ElfFile& file_;
  const Architecture& arch_;
  AddressRange code_;  // link addresses
  bool moved_ = false;
  std::vector<Address> wanted_;  // in order
  double tries_ = 0;
  std::optional<Address> best_;
  std::size_t best_inside_ = 0;
  bool several_ = false;
};

}  // namespace

std::optional<Address> load_bias(const ElfFile& file, const Architecture& arch,
                                 std::span<const Address> return_addresses) {
  const auto code = code_of(file);
  if (!code || arch.code.call_before == nullptr) {
    return std::nullopt;
  }
  return BiasSearch(file, arch, *code, return_addresses).run();
}

}  // namespace whocall
